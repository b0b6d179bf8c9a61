"""What a model may do to the daemon: good answers, bad ones, none."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.e2e.daemon import ROOT, Daemon, make_home
from tests.e2e.models import Script, call, capability, llm_config, refuses, says, serve, stream
from tests.loopback import Reply

TOOLS = (ROOT / "tools" / "memories",)


@contextmanager
def talking(tmp_path: Path, *replies: Reply) -> Generator[tuple[Daemon, Script]]:
    script = Script(replies)
    with serve(script) as server, Daemon(make_home(tmp_path, llm_config(server.origin), tools=TOOLS)) as daemon:
        yield daemon, script


def error_log(daemon: Daemon) -> str:
    file = daemon.home / "logs" / "error.log"
    return file.read_text("utf-8") if file.exists() else ""


def test_all_model_calls_of_a_turn_use_one_connection(tmp_path: Path) -> None:
    calls = stream({"tool_calls": [capability("memory_list", {"lang": "en"})]}, finish="tool_calls")
    with serve(Script([calls, says("done")])) as server:
        with Daemon(make_home(tmp_path, llm_config(server.origin), tools=TOOLS)) as daemon:
            assert daemon.ask("list") == "done"
        assert (len(server.seen), server.connections) == (2, 1)


def test_two_parallel_calls_run_and_their_results_go_back_in_order(tmp_path: Path) -> None:
    calls = [capability("memory_save", {"body": "tea"}), capability("memory_list", {"lang": "en"}, at=1)]
    first = stream(
        {"role": "assistant", "content": None, "reasoning_content": "I need "},
        {"reasoning_content": "two tools."},
        {"tool_calls": calls},
        finish="tool_calls",
    )
    with talking(tmp_path, first, says("both done")) as (daemon, script):
        assert daemon.ask("remember tea and list") == "both done"
        _, second = script.bodies
        roles = [message["role"] for message in second["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "tool"]
        answered = [message["tool_call_id"] for message in second["messages"] if message["role"] == "tool"]
        assert answered == [made["id"] for made in calls]
        assert [tool["function"]["name"] for tool in second["tools"]] == ["call_capability", "query_capabilities"]
        assert error_log(daemon) == ""


@pytest.mark.parametrize(
    ("reply", "part"),
    [
        (refuses(401, "invalid key"), "llm.api_key"),
        (refuses(402, "Insufficient Balance"), "no balance"),
        (refuses(400, "maximum context length is 10 tokens"), "/new"),
    ],
)
def test_a_refusal_ends_the_turn_with_advice_and_the_next_message_is_answered(
    tmp_path: Path, reply: Reply, part: str
) -> None:
    with talking(tmp_path, reply, says("hello again")) as (daemon, _):
        assert part in daemon.ask("hi")
        assert "[llm-chat]" in error_log(daemon)
        assert daemon.ask("hi") == "hello again"


@pytest.mark.parametrize(
    "reply",
    [
        refuses(429, "slow down", **{"Retry-After": "0"}),
        refuses(500, "oops"),
        stream({"content": "half an ans"}, is_cut=True),
        stream({"content": ""}),
    ],
)
def test_a_passing_failure_is_tried_again_and_leaves_nothing_in_the_answer(tmp_path: Path, reply: Reply) -> None:
    with talking(tmp_path, reply, says("whole")) as (daemon, script):
        assert daemon.ask("hi") == "whole"
        assert [len(body["messages"]) for body in script.bodies] == [2, 2]


@pytest.mark.parametrize(
    ("wrong", "part"),
    [
        (call("call_capability", '{"name": "memory_save", "prompt":'), "write one JSON object"),
        (call("call_capability", {"name": "memory_save", "prompt": "not json"}), "prompt must be a JSON object"),
        (capability("memory_save", {"text": "x"}), "body"),
        (capability("memory_sav", {"body": "x"}), "memory_save"),
        (call("shell", {"cmd": "ls"}), "there is no tool 'shell'"),
    ],
)
def test_a_wrong_call_goes_back_to_the_model_as_text(tmp_path: Path, wrong: dict[str, object], part: str) -> None:
    first = stream({"tool_calls": [wrong]}, finish="tool_calls")
    with talking(tmp_path, first, says("sorry")) as (daemon, script):
        assert daemon.ask("do it") == "sorry"
        told = script.bodies[1]["messages"][-1]
        assert told["role"] == "tool"
        assert part in told["content"]


def test_the_third_identical_call_is_refused_and_the_fifth_ends_the_turn(tmp_path: Path) -> None:
    again = stream({"tool_calls": [capability("memory_list", {"lang": "en"})]}, finish="tool_calls")
    with talking(tmp_path, *[again] * 9) as (daemon, script):
        answer = daemon.ask("list for ever")
        assert len(script.bodies) == 5
        told = [message["content"] for message in script.bodies[-1]["messages"] if message["role"] == "tool"]
        assert ["repeated_call" in text for text in told] == [False, False, True, True]
        assert "same thing" in answer
        posted = daemon.post("and now")
        ended = daemon.wait_event(posted["conversation"], "TurnComplete", turn_id=posted["turn"], step=1)
        assert ended["reason"] == "tool_calls"
