"""One line in, one line out: what a program may do, and what happens to one that does something else."""

import asyncio
from collections.abc import Awaitable
from pathlib import Path

import pytest

from ias.errors import Code, ToolError, ToolTimeoutError
from ias.runtime.process import Launch
from tests.runtime.programs import alive, ends, has_children, launch, no_files_left, open_files, processes

SILENT = "the tool exited with status 0 and printed nothing; print one JSON object on one line"
FAILED = "the tool exited with status {} and printed nothing; its stderr is in the error log"
CRASHED = "the tool was ended by SIGSEGV before it printed its line"
EXTRA = "the tool printed more than one line; print one JSON object and nothing else on stdout"
FLOOD = "the tool printed more than 1,048,576 bytes"
NO_START = "the tool's program cannot be started: "
LOST = NO_START + "it or its interpreter is not there; check `path` and the first line of the program"

BAD = [
    ("silent.sh", Code.NO_OUTPUT, SILENT),
    ("only_blank_lines.sh", Code.NO_OUTPUT, SILENT),
    ("grandchild_without_a_line.sh", Code.NO_OUTPUT, SILENT),
    ("fails.sh", Code.NO_OUTPUT, FAILED.format(3)),
    ("closes_stdout_then_fails.sh", Code.NO_OUTPUT, FAILED.format(4)),
    ("closes_stdout.sh", Code.NO_OUTPUT, "the tool closed its output without a line"),
    ("crashes.sh", Code.KILLED, CRASHED),
    ("half_a_line_and_crashes.sh", Code.KILLED, CRASHED),
    ("two_lines.sh", Code.EXTRA_OUTPUT, EXTRA),
    ("two_writes.py", Code.EXTRA_OUTPUT, EXTRA),
    ("more_without_end.sh", Code.EXTRA_OUTPUT, EXTRA),
    ("flood.py", Code.OUTPUT_TOO_LARGE, FLOOD),
    ("flood_of_blank_lines.py", Code.OUTPUT_TOO_LARGE, FLOOD),
    ("no_shebang", Code.SPAWN_FAILED, NO_START + "it has no `#!` line and is no binary; add one"),
    ("not_executable.sh", Code.SPAWN_FAILED, NO_START + "it is not executable; chmod +x it"),
    ("missing_interpreter", Code.SPAWN_FAILED, LOST),
]
SLOW = ["hangs.sh", "ignores_sigterm.py", "drips.py"]
GOOD = [
    ("echo.sh", b'{"x":1}'),
    ("deaf.sh", b'{"deaf":true}'),
    ("no_line_end.sh", b'{"a":1}'),
    ("blank_lines.sh", b'{"a":1}'),
    ("lingers.sh", b'{"line":1}'),
    ("grandchild_holds_stdout.sh", b'{"line":1}'),
    ("daemon_holds_stdout.py", b'{"line":1}'),
    ("daemon_lets_go.py", b'{"line":1}'),
]


@pytest.mark.parametrize(("name", "line"), GOOD)
async def test_a_program_that_prints_one_line_is_understood_and_nothing_of_it_stays(
    name: str, line: bytes, tmp_path: Path
) -> None:
    async with processes() as running:
        answer = await running.run_line(launch(name, tmp_path), b'{"x":1}')

    assert (answer, alive(tmp_path), running.count) == (line, [], 0)


@pytest.mark.parametrize(("name", "code", "message"), BAD)
async def test_a_program_that_breaks_the_protocol_gets_the_error_that_says_how(
    name: str, code: Code, message: str, tmp_path: Path
) -> None:
    async with processes() as running:
        with pytest.raises(ToolError) as caught:
            await running.run_line(launch(name, tmp_path), b"{}")

    assert (caught.value.code, str(caught.value), alive(tmp_path)) == (code, message, [])


@pytest.mark.parametrize("name", SLOW)
async def test_a_program_that_takes_too_long_is_killed_whatever_it_ignores(name: str, tmp_path: Path) -> None:
    async with processes() as running:
        with pytest.raises(ToolTimeoutError, match=r"^the tool printed no line within 0\.3 s$"):
            await running.run_line(launch(name, tmp_path, timeout=0.3), b"{}")

    assert alive(tmp_path) == []


async def test_an_input_larger_than_a_pipe_arrives_whole(tmp_path: Path) -> None:
    async with processes() as running:
        answer = await running.run_line(launch("counts.py", tmp_path), b"x" * 3_000_000)

    assert answer == b"3000001"


async def test_a_program_may_leave_a_large_input_unread(tmp_path: Path) -> None:
    async with processes() as running:
        answer = await running.run_line(launch("deaf.sh", tmp_path), b"x" * 3_000_000)

    assert answer == b'{"deaf":true}'


async def test_a_line_of_exactly_the_allowed_size_is_taken_and_one_byte_more_is_not(tmp_path: Path) -> None:
    async with processes() as running:
        answer = await running.run_line(launch("echo.sh", tmp_path, output_bytes=100), b"x" * 100)
        with pytest.raises(ToolError) as caught:
            await running.run_line(launch("echo.sh", tmp_path, output_bytes=100), b"x" * 101)

    assert (answer, caught.value.code) == (b"x" * 100, Code.OUTPUT_TOO_LARGE)


async def test_the_newest_of_stderr_is_handed_over_when_the_program_is_gone(tmp_path: Path) -> None:
    ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    async with processes() as running, asyncio.timeout(10):
        await running.run_line(launch("stderr_flood.py", tmp_path), b"{}", on_end=ended.set_result)
        stderr = await ended

    assert (len(stderr), stderr[-7:]) == (65536, b"the end")


async def test_stderr_is_handed_over_after_an_error_and_after_a_start_that_failed(tmp_path: Path) -> None:
    heard: list[bytes] = []
    async with processes() as running:
        for name in ("fails.sh", "no_shebang"):
            with pytest.raises(ToolError):
                await running.run_line(launch(name, tmp_path), b"{}", on_end=heard.append)

    assert heard == [b"the reason\n", b""]


async def test_cancelling_a_call_kills_its_program(tmp_path: Path) -> None:
    ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    async with processes() as running, asyncio.timeout(10):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await running.run_line(launch("hangs.sh", tmp_path), b"{}", on_end=ended.set_result)
        await ended

        assert running.count == 0


async def test_what_is_left_in_the_programs_group_is_killed_when_the_program_ends(tmp_path: Path) -> None:
    async with processes() as running:  # without a TMPDIR there is nothing else to find it by
        given = Launch(argv=("/bin/sh", "-c", "/bin/sleep 30 & echo $!"), env={}, cwd=tmp_path, timeout=5)
        pid = int(await running.run_line(given, b""))

    assert ends(pid)


async def test_what_let_go_of_everything_is_found_at_the_latest_when_closing(tmp_path: Path) -> None:
    ended: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    async with processes() as running, asyncio.timeout(10):
        await running.run_line(launch("daemon_lets_go.py", tmp_path), b"{}", on_end=ended.set_result)
        await ended
        left = alive(tmp_path)

    assert (len(left), alive(tmp_path)) == (1, [])


async def test_closing_ends_the_calls_that_still_run(tmp_path: Path) -> None:
    caught: list[ToolError] = []

    async def call() -> None:
        is_running.set()
        try:
            await running.run_line(launch("hangs.sh", tmp_path), b"{}")
        except ToolError as error:
            caught.append(error)

    is_running = asyncio.Event()
    async with asyncio.TaskGroup() as group, processes() as running:
        group.create_task(call())
        await is_running.wait()

    assert ([error.code for error in caught], alive(tmp_path)) == ([Code.KILLED], [])


async def test_the_program_sees_the_environment_that_it_was_given_and_no_open_file_but_the_three(
    tmp_path: Path,
) -> None:
    script = "echo $(/usr/bin/env | /usr/bin/sort) $(/bin/ls /proc/self/fd)"
    async with processes() as running:
        given = Launch(argv=("/bin/sh", "-c", script), env={"A": "b"}, cwd=tmp_path, timeout=5)
        answer = await running.run_line(given, b"")

    assert answer == f"A=b PWD={tmp_path} 0 1 2 3".encode()  # the shell sets PWD; 3 is the folder that ls lists


async def test_a_program_that_cannot_be_started_for_another_reason_says_which(tmp_path: Path) -> None:
    async with processes() as running:
        with pytest.raises(ToolError) as caught:
            await running.run_line(Launch(argv=("/bin/echo", "a\0b"), env={}, cwd=tmp_path, timeout=5), b"")
        with pytest.raises(ToolError) as crowded, no_files_left():
            await running.run_line(launch("echo.sh", tmp_path), b"")

    assert [(error.value.code, str(error.value)) for error in (caught, crowded)] == [
        (Code.SPAWN_FAILED, NO_START + "embedded null byte"),
        (Code.SPAWN_FAILED, NO_START + "too many open files"),
    ]


async def test_a_hundred_evil_calls_leave_no_process_and_no_open_file(tmp_path: Path) -> None:
    async with processes() as running:
        await _outcome(running.run_line(launch("echo.sh", tmp_path), b"{}"))
        before = open_files()
        names = [name for name, *_ in BAD] + SLOW + [name for name, _ in GOOD]
        for start in range(0, 100, 10):
            async with asyncio.TaskGroup() as group:
                for number in range(start, start + 10):
                    given = launch(names[number % len(names)], tmp_path, timeout=0.4)
                    group.create_task(_outcome(running.run_line(given, b"{}")))

    assert (open_files() - before, alive(tmp_path), has_children()) == (set(), [], False)


async def _outcome(call: Awaitable[bytes]) -> bytes | ToolError:
    try:
        return await call
    except ToolError as error:
        return error
