"""Watching that fails, and goes on."""

from collections.abc import AsyncIterator

import pytest

from ias.daemon.watching import follow


@pytest.mark.parametrize("kind", [PermissionError, RuntimeError])
async def test_what_cannot_be_watched_is_told_once_and_tried_again(kind: type[Exception]) -> None:
    heard: list[str] = []
    attempts = 0

    async def changes() -> AsyncIterator[object]:
        nonlocal attempts
        attempts += 1
        if attempts in (2, 3):
            raise kind("no watches left")
        yield attempts
        if attempts == 1:
            raise kind("no watches left")

    async def load() -> None:
        heard.append("load")

    await follow(changes, load, heard.append, pause=0)
    assert heard == ["load", "no watches left", "load", "load", "load", "load"]
