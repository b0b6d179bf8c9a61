"""A database file that goes away under the store: what is stored into it nobody would find again."""

from pathlib import Path

import pytest

from ias.errors import StateError
from ias.store.base import Terms
from ias.store.sqlite import SqliteStore
from ias.store.transactions.turns import submit_message


@pytest.mark.parametrize("is_replaced", [False, True])
async def test_nothing_is_taken_into_a_file_that_was_moved_away(tmp_path: Path, *, is_replaced: bool) -> None:
    path, elsewhere = tmp_path / "ias.db", tmp_path / "elsewhere.db"
    store = await SqliteStore.open(path)
    try:
        path.rename(elsewhere)
        if is_replaced:
            path.touch()
        with pytest.raises(StateError, match="moved, deleted or replaced"):
            await store.run(submit_message(Terms(), channel="chat", address="a", user_id="ann", text="hi"))
        elsewhere.replace(path)
        await store.run(submit_message(Terms(), channel="chat", address="a", user_id="ann", text="hi"))
        assert (await store.read("pending_counts"))[0]["turns"] == 1
    finally:
        await store.close()
