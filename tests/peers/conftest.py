"""Programs of other authors that the peer tests speak to, started once a session."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.peers.programs import free_port, installed, running

LLM = Path(__file__).parent / "llm"


@pytest.fixture(scope="session")
def small_model() -> Iterator[str]:
    """Give the base address of a real small model on llama.cpp's server."""
    installed("llm", ".installed")
    python, port = installed("llm", "bin", "python"), free_port()
    with running([python, str(LLM / "serve_model.py"), str(port)], ready="serving"):
        yield f"http://127.0.0.1:{port}/v1"


@pytest.fixture
def scripted_model() -> Iterator[str]:
    """Give the base address of a server that follows a DeepSeek-shaped script."""
    installed("aimock", ".installed")
    program, port = installed("aimock", "node_modules", ".bin", "llmock"), free_port()
    argv = [program, "--port", str(port), "--fixtures", str(LLM / "deepseek_run.json"), "--strict", "--chunk-size", "4"]
    with running(argv, ready="listening"):
        yield f"http://127.0.0.1:{port}/v1"
