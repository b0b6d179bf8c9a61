"""What a model used and cost, from its own numbers to `ias usage`, and a budget that holds over restarts."""

import json
from pathlib import Path
from typing import Any

from tests.e2e.daemon import Daemon, make_home, run_ias
from tests.e2e.models import Script, llm_config, says, serve, stream
from tests.loopback import Reply

USAGE = {
    "prompt_tokens": 1000,
    "completion_tokens": 200,
    "total_tokens": 1200,
    "prompt_tokens_details": {"cached_tokens": 750},
    "completion_tokens_details": {"reasoning_tokens": 150},
}
PRICES = {"scripted": {"input": 2, "cached": 0.2, "output": 8, "currency": "CNY"}}
NUMBERS = {
    "calls": 1,
    "input_tokens": 1000,
    "cached_tokens": 750,
    "cache_hit_share": 0.75,
    "output_tokens": 200,
    "reasoning_tokens": 150,
    "cost": [{"amount": "0.00225", "currency": "CNY", "micros": 2250}],
    "calls_of_unknown_cost": 0,
}


def answer(text: str) -> Reply:
    return stream({"role": "assistant", "content": text}, usage=USAGE)


def config(origin: str, **more: Any) -> dict[str, Any]:
    return {"llm": llm_config(origin)["llm"] | more}


def test_a_days_budget_holds_over_a_restart_and_usage_shows_what_was_spent(tmp_path: Path) -> None:
    script = Script([answer("noon"), answer("not asked for")])
    with serve(script) as server:
        home = make_home(tmp_path, config(server.origin, prices=PRICES, budget={"money_per_day": 0.002}))
        with Daemon(home) as daemon:
            assert daemon.ask("what time is it") == "noon"
            assert daemon.ask("and now").startswith("Today's budget for the model is used up (0.002 CNY).")
            daemon.kill()
            daemon.restart()
            assert daemon.ask("现在呢").startswith("今天的模型用量已到上限（0.002 CNY）。")

            status, shown = daemon.call("GET", "/api/usage?by=model")
            assert (status, shown["usage"], shown["total"]) == (200, [{"model": "scripted", **NUMBERS}], NUMBERS)
            assert daemon.call("GET", "/api/queue")[1]["dead"] == []
        assert len(script.bodies) == 1
        assert json.loads(run_ias(home, "usage", "--by", "model", "--json").stdout) == shown
        assert not (home / "logs" / "error.log").exists() or (home / "logs" / "error.log").read_text("utf-8") == ""


def test_a_model_without_a_price_is_shown_as_unknown(tmp_path: Path) -> None:
    with serve(Script([says("noon")])) as server:
        home = make_home(tmp_path, config(server.origin))
        with Daemon(home) as daemon:
            daemon.ask("what time is it")
        total = json.loads(run_ias(home, "usage", "--json").stdout)["total"]

    assert (total["cost"], total["calls_of_unknown_cost"], total["input_tokens"]) == (None, 1, 7)


def test_a_budget_of_money_without_a_price_stops_the_start(tmp_path: Path) -> None:
    done = run_ias(make_home(tmp_path, config("http://127.0.0.1:9", budget={"money_per_day": 5})), "serve")

    assert done.returncode == 78
    assert "llm.budget.money_per_day cannot be kept: what 'scripted' costs in CNY is not known" in done.stderr
