"""One call of one tool without a daemon: takes the state folder's lock, works on that run alone, and ends."""

import asyncio
import json
from collections.abc import Callable

from ias.config.load import Config
from ias.cycle.plan import call_digest, canonical_args
from ias.daemon.parts import Parts, opened
from ias.domain.approvals import Scope
from ias.domain.jobs import Queue
from ias.domain.messages import JsonObject
from ias.errors import ToolNotFoundError
from ias.store.base import Row
from ias.store.lock import StateLock
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.calls import submit_call
from ias.store.transactions.queue import claim_owned, recover_at_start

CHANNEL = "cli"
LOOK_AGAIN = 0.2  # seconds between two looks at a run that is to be tried again later

Ask = Callable[[Row], Scope | None]


def call_once(config: Config, *, tool: str, args: JsonObject, user_id: str, ask: Ask) -> JsonObject:
    """Call a tool behind the gate while no daemon runs.

    Args:
        config: The configuration.
        tool: Its name.
        args: Its arguments, checked.
        user_id: Whose call it is.
        ask: Decides on a request that waits: the scope of a yes, None for a no.

    Returns:
        `{run, state: "done", code, content, data?}`.

    Raises:
        StateLockedError: A daemon holds the folder.
        ToolNotFoundError: There is no such tool.
    """
    with StateLock(config.database.parent):
        return asyncio.run(_call(config, tool, args, user_id, ask))


async def _call(config: Config, tool: str, args: JsonObject, user_id: str, ask: Ask) -> JsonObject:
    async with opened(config) as parts:
        await parts.store.run(recover_at_start())
        await parts.toolbox.load()
        await asyncio.to_thread(parts.toolbox.clear)
        run_id = await _submit(parts, tool, args, user_id)
        while True:
            run = (await parts.store.read("run", id=run_id))[0]
            match run["state"]:
                case "done":
                    return {"run": run_id, "state": "done", "code": run["code"], **json.loads(run["result"])}
                case "parked":
                    await _decide(parts, run_id, user_id, ask)
                case _:
                    await _work(parts, run_id)


async def _submit(parts: Parts, tool: str, args: JsonObject, user_id: str) -> str:
    found = parts.toolbox.registry.get(tool)
    if found is None:
        raise ToolNotFoundError(f"there is no tool {tool!r}; `ias tools list` names them")
    parts.toolbox.registry.check(found)
    stored = await parts.store.run(
        submit_call(
            parts.terms,
            channel=CHANNEL,
            address=f"calls:{user_id}",
            user_id=user_id,
            tool=tool,
            tool_hash=found.facts.sha256,
            args=canonical_args(args),
            digest=call_digest(tool, args),
            wire_id="",
        )
    )
    return stored.run_id


async def _decide(parts: Parts, run_id: str, user_id: str, ask: Ask) -> None:
    row = (await parts.store.read("approval_of_run", run_id=run_id))[0]
    scope = await asyncio.to_thread(ask, row)
    decision = decide_approval(
        parts.terms,
        ref=row["id"],
        approve=scope is not None,
        scope=scope or Scope.ONCE,
        by=user_id,
        via=CHANNEL,
        reason=None,
        digest=row["digest"],
    )
    await parts.store.run(decision)


async def _work(parts: Parts, run_id: str) -> None:
    consumer = parts.consumers[Queue.TOOL]
    job = await parts.store.run(claim_owned(run_id, "once", consumer.new_token(), parts.terms.lease_ms))
    if job is None:
        await asyncio.sleep(LOOK_AGAIN)
    else:
        await consumer.work(job)
