"""Homes with a store, requests that wait in it, and `ias` as a process of its own."""

import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from ias.domain.approvals import CanonicalRequest, Judgement, Safety, StepKind, Verdict, canonical, digest_of
from ias.domain.jobs import Dead, Job, Queue, TurnReason
from ias.domain.messages import JsonObject
from ias.store.base import Row, Terms
from ias.store.connection import connect, make_file
from ias.store.migrate import migrate
from ias.store.once import read_once, run_once
from ias.store.progress import Parked
from ias.store.transactions.calls import submit_call
from ias.store.transactions.queue import bury, claim
from ias.store.transactions.runs import start_step

BOUND = 20.0  # seconds after which a command is taken for stuck
TOOL_HASH = "ab" * 32


@dataclass(frozen=True, kw_only=True)
class Ended:
    code: int
    out: str
    err: str


def environment(home: Path, **more: str) -> dict[str, str]:
    kept = {name: value for name, value in os.environ.items() if name in ("PATH", "TMPDIR", "HOME")}
    return kept | {"IAS_HOME": str(home), "LC_ALL": "C.UTF-8", **more}


def ias(home: Path, *args: str, stdin: str = "", cwd: Path | None = None, **more: str) -> Ended:
    done = subprocess.run(
        [sys.executable, "-m", "ias", *args],
        input=stdin.encode(),
        capture_output=True,
        timeout=BOUND,
        check=False,
        cwd=cwd or home,
        env=environment(home, **more),
    )
    return Ended(code=done.returncode, out=done.stdout.decode(), err=done.stderr.decode())


def make_store(home: Path) -> Path:
    file = home / "data" / "ias.db"
    make_file(file)
    connection = connect(file)
    try:
        migrate(connection)
    finally:
        connection.close()
    return file


def http_request(**fields: object) -> CanonicalRequest:
    body: JsonObject = {
        "v": 1,
        "kind": "http",
        "tool": "notes",
        "tool_sha256": TOOL_HASH,
        "user": "bob",
        "conversation": "c_1",
        "call": "r_1",
        "method": "POST",
        "scheme": "https",
        "host": "api.example.com",
        "port": 443,
        "path": "/v1/notes",
        "query": [],
        "headers": [],
        "body": None,
        "reroute": None,
    }
    body |= fields  # pyright: ignore[reportAssignmentType] - tests give JSON
    return _request(StepKind.HTTP, body)


def db_request(operation: str, params: str) -> CanonicalRequest:
    body: JsonObject = {"v": 1, "kind": "db", "tool": "notes", "operation": operation, "params": params}
    return _request(StepKind.DB, body)


def _request(kind: StepKind, body: JsonObject) -> CanonicalRequest:
    text = canonical(body)
    return CanonicalRequest(
        kind=kind,
        text=text,
        digest=digest_of((text,)),
        safety=Safety.ONCE,
        method=str(body.get("method") or body.get("operation")),
        host=str(body.get("host", "")),
        path=str(body.get("path", "")),
    )


def call(file: Path, terms: Terms) -> Job:
    """Let bob call `notes`; gives the claimed job."""
    called = run_once(
        file,
        submit_call(
            terms,
            channel="cli",
            address="calls:bob",
            user_id="bob",
            tool="notes",
            tool_hash=TOOL_HASH,
            args='{"text":"hi"}',
            digest="0" * 64,
            wire_id="",
        ),
    )
    job = run_once(file, claim(Queue.TOOL, "test", f"token-{called.run_id}", 60_000))
    assert isinstance(job, Job)
    return job


def bury_call(file: Path) -> Job:
    """Let a call fail for good."""
    job = call(file, Terms())
    run_once(file, bury(Terms(), job, Dead(reason=TurnReason.DEAD, error="no\nluck", closing="")))
    return job


def park(file: Path, *requests: CanonicalRequest, terms: Terms | None = None) -> Row:
    """Let a call of `notes` ask for something; gives the approval's row."""
    held = terms or Terms()
    job = call(file, held)
    digest = digest_of(tuple(request.text for request in requests))
    judgement = Judgement(verdict=Verdict.ASK, requests=requests, digest=digest, rule="test")
    parked = run_once(
        file,
        start_step(
            held, job, run_id=job.owner_id, no=1, judgement=judgement, tool_state="", is_attended=True, used_ms=5
        ),
    )
    assert isinstance(parked, Parked)
    return read_once(file, "approval", ref=f"A{parked.num}")[0]
