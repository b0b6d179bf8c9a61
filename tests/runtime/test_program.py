"""A dropped-in program as a tool, from its folder to its result."""

import os
import subprocess
import sys
from collections.abc import AsyncGenerator
from pathlib import Path
from typing import Any

import pytest

from ias.domain.approvals import StepKind
from ias.domain.tools import (
    Answer,
    Asks,
    CallContext,
    Example,
    HttpAsk,
    Limits,
    Permission,
    Result,
    Risk,
    StepInput,
    ToolFacts,
    ToolSpec,
    ToolType,
)
from ias.errors import Code, ToolError, ToolTimeoutError
from ias.runtime.descendants import sweep
from ias.runtime.environment import environment
from ias.runtime.process import Processes
from ias.runtime.program import ProgramTool, Room
from ias.runtime.secrets import Secrets
from ias.runtime.snapshot import SnapshotError, take
from tests.runtime.programs import alive

CONTEXT = CallContext(user_id="wxid", conversation_id="k_1", call_id="c_1")
WEATHER = """\
import json
import sys

from weather_words import LOOK

given = json.loads(sys.stdin.readline())
if given["step"] == 0:
    ask = {"type": "http", "method": "GET", "url": "https://a.example/", "query": given["params"]}
    print(json.dumps({**ask, "state": sys.argv[1:]}))
else:
    print(json.dumps({"type": "result", "content": LOOK + given["response"]["body"], "data": given}))
"""
ECHO = """\
import json
import os

print(json.dumps({"type": "result", "content": "", "data": {
    "env": dict(os.environ), "cwd": os.getcwd(), "mode": oct(os.stat(".").st_mode & 0o777), "files": os.listdir(".")}}))
"""


class Bench:
    """Makes tools out of a few lines, and hears their stderr."""

    def __init__(self, root: Path, processes: Processes) -> None:
        self.root = root
        self.heard: list[tuple[str, str, str]] = []
        self.room = Room(
            processes=processes,
            calls=root / "calls",
            variables={
                "PATH": os.environ["PATH"],
                "HOME": "/home/x",
                "LANG": "zh_CN.GBK",
                "CITY": "北京",
                "KEY": "v",
                "API": "s",
            },
            secrets=Secrets({"KEY": ("a.example",), "UNSET": ("a.example",)}, {"KEY": "v"}),
            withheld=frozenset({"API"}),
            on_stderr=lambda *facts: self.heard.append(facts),
        )

    def tool(self, program: str, name: str = "weather.py", **fields: Any) -> ProgramTool:
        folder = self.root / "weather"
        folder.mkdir(exist_ok=True)
        (folder / name).write_text(program)
        (folder / name).chmod(0o755)
        (folder / "weather_words.py").write_text("LOOK = 'look: '\n")
        spec = ToolSpec(
            name="weather_now",
            desc="Weather",
            type=ToolType.HTTP,
            group="weather",
            program=folder / name,
            folder=folder,
            file=folder / "specs" / "now.tool.yaml",
            **fields,
        )
        return ProgramTool(spec, b"name: weather_now", take(folder, self.root / "snapshots"), self.room)


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncGenerator[Bench]:
    processes = Processes()
    yield Bench(tmp_path, processes)
    await processes.close()


async def test_a_call_goes_step_by_step_to_its_result(bench: Bench) -> None:
    run = bench.tool(WEATHER, command="now", secrets=("UNSET", "KEY")).begin({"location": "北京"}, CONTEXT)

    assert await run.step(StepInput()) == Asks(
        asks=(HttpAsk(method="GET", url="https://a.example/", query=(("location", "北京"),)),), state=["now"]
    )

    answer = Answer(kind=StepKind.HTTP, body={"status": 200, "headers": {}, "body": "晴"})
    second = await run.step(StepInput(step=1, answers=(answer,), state=["now"]))
    assert second == Result(
        content="look: 晴",
        data={
            "params": {"location": "北京"},
            "approved": True,
            "user_id": "wxid",
            "call_id": "c_1",
            "step": 1,
            "secrets": ["KEY"],
            "response": {"status": 200, "headers": {}, "body": "晴"},
            "state": ["now"],
        },
    )


async def test_a_program_gets_the_base_and_what_its_spec_names_and_a_folder_of_its_own(bench: Bench) -> None:
    result = await bench.tool(ECHO, env=("CITY", "KEY", "UNSET", "NOT_SET")).begin({}, CONTEXT).step(StepInput())

    assert isinstance(result, Result)
    seen: Any = result.data
    folder = Path(seen["cwd"])
    assert seen == {
        "env": {
            "PATH": os.environ["PATH"],
            "LANG": "C.UTF-8",
            "TMPDIR": str(folder),
            "CITY": "北京",
            "KEY": "${KEY}",
            "UNSET": "${UNSET}",
        },
        "cwd": str(folder),
        "mode": "0o700",
        "files": [],
    }
    assert (folder.parent, oct(folder.parent.stat().st_mode & 0o777)) == (bench.room.calls, "0o700")


async def test_the_folder_goes_with_the_call_even_if_the_program_left_files_in_it(bench: Bench) -> None:
    left = "import pathlib\npathlib.Path('a/b').mkdir(parents=True)\npathlib.Path('a/b/c').write_text('x')\n"
    await bench.tool(left + ECHO).begin({}, CONTEXT).step(StepInput())
    await bench.room.processes.close()

    assert list(bench.room.calls.iterdir()) == []


async def test_what_a_program_writes_to_stderr_is_heard_with_the_calls_id(bench: Bench) -> None:
    tool = bench.tool("import sys\nsys.stderr.write('天\\udcff')\nsys.exit(2)\n")
    with pytest.raises(ToolError) as caught:
        await tool.begin({}, CONTEXT).step(StepInput())

    assert (caught.value.code, bench.heard) == (Code.NO_OUTPUT, [("weather_now", "c_1", "天\\udcff")])


async def test_what_is_left_of_the_calls_time_bounds_a_step(bench: Bench) -> None:
    run = bench.tool("#!/bin/sh\nexec sleep 30\n", "weather.sh").begin({}, CONTEXT)
    with pytest.raises(ToolTimeoutError, match=r"within 0\.2 s$"):
        await run.step(StepInput(seconds=0.2))


async def test_the_output_limit_of_the_spec_holds(bench: Bench) -> None:
    tool = bench.tool("print('x' * 3000)\n", limits=Limits(output_kb=2))
    with pytest.raises(ToolError) as caught:
        await tool.begin({}, CONTEXT).step(StepInput())

    assert (caught.value.code, str(caught.value)) == (Code.OUTPUT_TOO_LARGE, "the tool printed more than 2,048 bytes")


async def test_a_running_tool_keeps_the_snapshot_that_it_began_with(bench: Bench) -> None:
    old = bench.tool('print(\'{"type":"result","content":"old"}\')\n')
    new = bench.tool('print(\'{"type":"result","content":"new"}\')\n')

    assert [await tool.execute({}) for tool in (old, new)] == ["old", "new"]
    assert old.facts.sha256 != new.facts.sha256


async def test_a_program_in_another_language_runs_as_it_is(bench: Bench) -> None:
    shell = '#!/usr/bin/env sh\nread -r line\necho \'{"type":"result","content":"from sh"}\'\n'

    assert await bench.tool(shell, "weather").execute({}) == "from sh"


async def test_a_tool_that_needs_the_host_says_so_to_who_has_none(bench: Bench) -> None:
    with pytest.raises(ToolError) as caught:
        await bench.tool(WEATHER).execute({})

    assert (caught.value.code, str(caught.value)) == (
        Code.PERMISSION_DENIED,
        "weather_now asks the host for something; call it through an LlmCycle or the daemon",
    )


async def test_a_result_that_is_an_error_is_one_for_who_calls_execute(bench: Bench) -> None:
    with pytest.raises(ToolError, match=r"^no such city$") as caught:
        await bench.tool('print(\'{"type":"result","content":"no such city","is_error":true}\')\n').execute({})

    assert caught.value.code is Code.TOOL_FAILED


async def test_the_facts_say_what_the_spec_says(bench: Bench) -> None:
    tool = bench.tool(
        WEATHER,
        risk=Risk.MEDIUM,
        hosts=("a.example",),
        secrets=("KEY",),
        permissions=(Permission.NETWORK,),
        timeout=7.0,
        limits=Limits(max_steps=3),
        keywords=("天气",),
        examples=(Example(ask="天气?"),),
    )

    assert tool.facts == ToolFacts(
        name="weather_now",
        sha256=tool.snapshot.tool_sha256(b"name: weather_now"),
        type=ToolType.HTTP,
        risk=Risk.MEDIUM,
        group="weather",
        hosts=("a.example",),
        secrets=("KEY",),
        permissions=(Permission.NETWORK,),
        timeout=7.0,
        max_steps=3,
    )
    assert (tool.name, tool.description, tool.parameters, tool.keywords, tool.examples) == (
        "weather_now",
        "Weather",
        {"type": "object", "properties": {}},
        ("天气",),
        (Example(ask="天气?"),),
    )
    assert tool.required_permissions() == (Permission.NETWORK,)


async def test_a_call_without_room_for_its_folder_is_not_started(bench: Bench) -> None:
    bench.room.calls.write_text("in the way")
    with pytest.raises(ToolError) as caught:
        await bench.tool(WEATHER).begin({}, CONTEXT).step(StepInput())

    assert (caught.value.code, str(caught.value)) == (
        Code.SPAWN_FAILED,
        "no private folder can be made for the tool: File exists",
    )


def test_the_daemons_time_zone_passes() -> None:
    given = environment((), variables={"TZ": "Asia/Shanghai", "LANG": "zh_CN.utf8"}, secrets=frozenset())

    assert given == {"PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "zh_CN.utf8", "TZ": "Asia/Shanghai"}


REFUSED = [
    ("API", "the variable API holds a credential of ias itself"),
    ("LD_PRELOAD", "the variable LD_PRELOAD changes what a program loads or where it connects"),
    ("https_proxy", "the variable https_proxy changes what a program loads or where it connects"),
    ("PYTHONPATH", "the variable PYTHONPATH changes what a program loads or where it connects"),
]


@pytest.mark.parametrize(("name", "words"), REFUSED)
async def test_a_variable_that_no_tool_may_get_is_refused(name: str, words: str, bench: Bench) -> None:
    with pytest.raises(ToolError) as caught:
        bench.tool(WEATHER, env=(name,))

    assert str(caught.value) == words


async def test_a_program_outside_its_folder_is_refused(bench: Bench) -> None:
    with pytest.raises(SnapshotError, match=r"is not in the tool's folder"):
        bench.tool(WEATHER, "../weather.py")


async def test_a_hidden_program_is_refused(bench: Bench) -> None:
    with pytest.raises(
        SnapshotError, match=r"was not copied: it is missing, or hidden by a name that begins with a dot$"
    ):
        bench.tool(WEATHER, ".weather.py")


def test_what_an_earlier_daemon_left_running_is_found_by_the_calls_folder(tmp_path: Path) -> None:
    folder = tmp_path / "calls" / "call-old"
    folder.mkdir(parents=True)
    waits = [sys.executable, "-c", "input()"]
    with subprocess.Popen(waits, env={"TMPDIR": str(folder)}, stdin=subprocess.PIPE) as left:
        try:
            found = alive(folder)
            killed = sweep({str(tmp_path / "calls")})
            status = left.wait(5)
        finally:
            left.kill()

    assert (found, killed, status) == ([left.pid], 1, -9)


@pytest.mark.parametrize("name", ["FOO_KEY", "FOO_API_KEY", "MY_TOKEN", "DB_PASSWORD", "KEY"])
def test_what_is_named_like_a_credential_passes_by_name_alone(name: str) -> None:
    given = environment((name, "PLACE"), variables={name: "hunter2", "PLACE": "here"}, secrets=frozenset())

    assert (given[name], given["PLACE"]) == (f"${{{name}}}", "here")
