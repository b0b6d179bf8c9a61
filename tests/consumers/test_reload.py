"""Tools that change while calls of them wait: a call keeps the version it began with, a removed tool ends it."""

import shutil
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from ias.registry import ToolRegistry
from ias.runtime.toolbox import Toolbox
from tests.consumers.logbook import logs_in
from tests.consumers.workshop import HOST, Workshop, workshop_in
from tests.loopback import Loopback, Reply
from tests.store.world import World

ASK = f'{{"type": "http", "method": "POST", "url": "https://{HOST}/orders", "body": "item=7"}}'
PROGRAM = """#!/bin/sh
read -r line
case "$line" in
  *'"step":0'*|*'"step": 0'*) echo '%s' ;;
  *) echo '{"type": "result", "content": "version %d"}' ;;
esac
"""
SPEC = f"name: order\ndesc: orders\ntype: http\npath: order.sh\nrisk_level: low\nhosts: [{HOST}]\n"


@pytest.fixture
async def shop(world: World, tmp_path: Path) -> AsyncGenerator[Workshop]:
    with logs_in(tmp_path / "logs") as logs:
        async with workshop_in(world, tmp_path, logs) as found:
            yield found


def write(folder: Path, version: int) -> None:
    (folder / "specs").mkdir(parents=True, exist_ok=True)
    program = folder / "order.sh"
    program.write_text(PROGRAM % (ASK, version), encoding="utf-8")
    program.chmod(0o755)
    (folder / "specs" / "order.tool.yaml").write_text(SPEC, encoding="utf-8")


async def toolbox_of(shop: Workshop, tmp_path: Path) -> Toolbox:
    """Make a new process's toolbox over the tool's folder."""
    toolbox = Toolbox(
        ToolRegistry(), dirs=(tmp_path / "tools",), project=tmp_path, snapshots=tmp_path / "snapshots", room=shop.room
    )
    await reload(shop, toolbox)
    shop.toolbox = toolbox
    return toolbox


async def reload(shop: Workshop, toolbox: Toolbox) -> None:
    loaded = await toolbox.load()
    assert loaded.rejected == ()
    shop.shelf.tools = {tool.name: tool for tool in toolbox.registry}


async def test_a_call_keeps_its_version_and_the_next_one_has_the_new(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "order"
    write(folder, 1)
    toolbox = await toolbox_of(shop, tmp_path)
    with Loopback({(HOST, "/orders"): Reply(body=b"{}")}) as service:
        shop.reroute(service)
        old = await shop.call_with({}, tool="order")
        await shop.work(old)
        write(folder, 2)
        await reload(shop, toolbox)
        await shop.decide(approve=True)
        await shop.finish(old)
        new = await shop.call_with({}, tool="order")
        await shop.finish(new)
        assert len(service.seen) == 2
    assert [shop.told(run)[1]["content"] for run in (old, new)] == ["version 1", "version 2"]


async def test_a_call_of_a_version_that_a_restart_forgot_sends_nothing(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "order"
    write(folder, 1)
    await toolbox_of(shop, tmp_path)
    with Loopback({(HOST, "/orders"): Reply(body=b"{}")}) as service:
        shop.reroute(service)
        run = await shop.call_with({}, tool="order")
        await shop.work(run)
        write(folder, 2)
        await toolbox_of(shop, tmp_path)
        await shop.decide(approve=True)
        await shop.work(run)
        assert service.seen == []
    code, result = shop.told(run)
    assert (code, result["content"]) == (
        "not_found",
        "the tool 'order' was changed since this call began; call it again",
    )


async def test_a_call_whose_tool_was_removed_ends_and_sends_nothing(shop: Workshop, tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "order"
    write(folder, 1)
    toolbox = await toolbox_of(shop, tmp_path)
    with Loopback({(HOST, "/orders"): Reply(body=b"{}")}) as service:
        shop.reroute(service)
        run = await shop.call_with({}, tool="order")
        await shop.work(run)
        shutil.rmtree(folder)
        await reload(shop, toolbox)
        await shop.decide(approve=True)
        await shop.work(run)
        assert service.seen == []
    assert shop.told(run) == ("not_found", {"content": "the tool 'order' was removed", "data": None})
