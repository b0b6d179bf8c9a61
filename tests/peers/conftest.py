"""Programs of other authors that the peer tests speak to, started once a session."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
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
    with scripted("deepseek_run.json") as url:
        yield f"{url}/v1"


@pytest.fixture
def scripted_claude() -> Iterator[str]:
    """Give the base address of a server that thinks, hides some of it, and checks what goes back."""
    with scripted("claude_run.json") as url:
        yield url


@pytest.fixture
def scripted_llama() -> Iterator[str]:
    """Give the base address of a server that speaks Ollama's own API."""
    with scripted("llama_run.json") as url:
        yield url


@contextmanager
def scripted(script: str) -> Generator[str, None, None]:
    """Serve a script on all the wires that the server knows."""
    installed("aimock", ".installed")
    program, port = installed("aimock", "node_modules", ".bin", "llmock"), free_port()
    argv = [program, "--port", str(port), "--fixtures", str(LLM / script), "--strict", "--chunk-size", "4"]
    with running(argv, ready="listening"):
        yield f"http://127.0.0.1:{port}"
