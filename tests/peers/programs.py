"""Starting and ending the programs of other authors that the peer tests speak to."""

import json
import os
import selectors
import signal
import socket
import subprocess
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

PEERS = Path(__file__).parents[2] / ".peers"
START_TIMEOUT = 45.0
"""Seconds for a program to say that it listens; loading a small model from a slow disk takes longest."""


def installed(*parts: str) -> str:
    """Give the path of a program that `make peers` installs; skip the test where it is not there."""
    path = PEERS.joinpath(*parts)
    if not path.exists():
        pytest.skip(
            f"{path.relative_to(PEERS.parent)} is not there: `make peers` installs it (needs pip and npm indexes)"
        )
    return str(path)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextmanager
def running(argv: list[str], *, ready: str, cwd: Path | None = None) -> Generator[None, None, None]:
    """Run a program in a process group of its own from its `ready` line on; end the whole group afterwards."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
        cwd=cwd,
    ) as process:
        try:
            _wait_for(process, ready)
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


def _wait_for(process: subprocess.Popen[bytes], ready: str) -> None:
    assert process.stdout is not None
    deadline = time.monotonic() + START_TIMEOUT
    seen = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while ready.encode() not in seen:
            if not selector.select(max(0.0, deadline - time.monotonic())):
                pytest.fail(f"{process.args!r} was not ready in {START_TIMEOUT:g} s: {seen[-2000:]!r}")
            piece = os.read(process.stdout.fileno(), 65536)
            if not piece:
                pytest.fail(f"{process.args!r} ended: {seen[-2000:]!r}")
            seen += piece


def faults_of(*bodies: str, client: str = "openai") -> list[str]:
    """Validate request bodies with the own types of a vendor's official client, in that client's environment."""
    python = installed("llm", "bin", "python")
    checker = Path(__file__).parent / "llm" / "check_bodies.py"
    ended = subprocess.run(
        [python, str(checker), client], input=json.dumps(bodies), capture_output=True, text=True, timeout=50, check=True
    )
    return json.loads(ended.stdout)
