"""What no client should send: text that is no text, numbers beyond all bounds."""

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from ias.logs import Logs
from ias.web.problems import problem
from tests.consumers.logbook import logs_in
from tests.store.world import World
from tests.web.api import Api, make_api

HALF = r"\ud800"  # a lone surrogate, as JSON can write it


@pytest.fixture
def logs(tmp_path: Path) -> Generator[Logs]:
    with logs_in(tmp_path / "logs") as found:
        yield found


@pytest.fixture
def api(world: World, logs: Logs) -> Api:
    return make_api(world, logs)


@pytest.mark.parametrize("name", ["user_id", "conversation", "address", "source_id"])
async def test_a_name_that_is_no_text_is_not_usable(api: Api, name: str) -> None:
    fields = {"user_id": "ann", "text": "hi"} | {name: HALF}
    body = "{" + ", ".join(f'"{key}": "{value}"' for key, value in fields.items()) + "}"
    async with api.client() as client:
        response = await client.post("/api/messages", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422
    assert f"{name}: " in response.json()["detail"]


def test_a_problem_may_repeat_what_is_no_text() -> None:
    assert json.loads(bytes(problem(422, "\ud800 is no argument").body))["detail"] == "\ufffd is no argument"


@pytest.mark.parametrize("header", [{}, {"Last-Event-ID": str(2**63)}, {"Last-Event-ID": "-1"}])
async def test_an_event_number_beyond_all_bounds_is_not_usable(api: Api, header: dict[str, str]) -> None:
    async with api.client() as client:
        posted = (await client.post("/api/messages", json={"user_id": "ann", "text": "hi"})).json()
        query = {} if header else {"after": 2**63}
        path = f"/api/conversations/{posted['conversation']}/events"
        response = await client.get(path, params=query, headers=header)
    assert response.status_code == 422
    assert response.json()["title"] == "Not usable"
