"""Starts a program, gives it one line and takes one line back; kills and reaps whatever it leaves behind.

Life of a child, driven by callbacks of the event loop alone (no thread, no task):

```
spawn ─► line ─► settle (at most SETTLE) ─► answered ─► grace (at most GRACE) ─► group killed ─► reaped
   └─ deadline, flood, cancellation: failed at once, group killed ─► reaped
```

The line is acted on, not the exit. One thing is waited for, in `settle`: that the program ends, closes its output or
writes more, because two lines are an error (`extra_output`) and the second may come in a write of its own. A program
that ends with its line does not feel it: its output is closed by then. One that lingers costs SETTLE, once, and is
reaped in the background. Bytes that come later than that are thrown away.
"""

import asyncio
import os
import signal
import subprocess
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol, cast

from ias.errors import Code, ToolError, ToolTimeoutError
from ias.runtime.descendants import sweep
from ias.runtime.output import CHUNK_BYTES, Output

STDERR_BYTES = 64 * 1024  # the newest are kept
SETTLE = 0.05  # seconds; a second line follows the first within microseconds, scheduling apart
GRACE = 0.25  # seconds from the line to the kill; an interpreter with large libraries needs 20 ms to end
CLOSE_LIMIT = 2.0  # seconds that `close` waits for what it killed

SWEEP_DELAY = 1.0  # seconds that ended calls wait for the next look at what they left behind
DRAIN_READS = 3  # reads until a full pipe is empty and says so

OnEnd = Callable[[bytes], None]


class Forget(Protocol):
    """Called when a program is reaped; `is_suspect` where it was killed or left something that holds its output."""

    def __call__(self, child: "Child", folder: str | None, *, is_suspect: bool) -> None:
        """Take note of it."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """What to start: real paths, the whole environment, and the bounds.

    `timeout` is in seconds from the start to the line; `output_bytes` bounds the line. `env["TMPDIR"]`, if it is there,
    must be this call's alone: processes that carry it are killed with the call.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path
    timeout: float
    output_bytes: int = 1024 * 1024


class Processes:
    """The running programs of one event loop; closing it leaves none."""

    def __init__(self) -> None:
        self._running: set[Child] = set()
        self._work: set[asyncio.Future[object]] = set()
        self._ended: set[str] = set()
        self._is_quiet = asyncio.Event()
        self._is_quiet.set()
        self._timer: asyncio.TimerHandle | None = None

    @property
    def count(self) -> int:
        """Say how many programs were started and are not reaped yet."""
        return len(self._running)

    async def run_line(self, launch: Launch, line: bytes, *, on_end: OnEnd | None = None) -> bytes:
        """Start a program, write `line` to it and return its one line, without the line's end.

        Args:
            launch: What to start.
            line: Its input; a line end is added. It may be larger than a pipe.
            on_end: Called once with the newest 64 KiB of stderr when the program is gone, after an error too, and if it
                could not be started. Usually that is later than this returns.

        Raises:
            ToolTimeoutError: If no line came in time.
            ToolError: With code spawn_failed, no_output, extra_output, output_too_large or killed.
        """
        answer: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        try:
            child = Child(launch, line, answer, self._forget, on_end)
        except ToolError:
            if on_end is not None:
                on_end(b"")
            raise
        self._running.add(child)
        self._is_quiet.clear()
        try:
            return await answer
        finally:
            child.release()

    def offload(self, work: Callable[[], object]) -> None:
        """Do some cleaning up off the event loop; `close` waits for it.

        Args:
            work: Must not raise.
        """
        future = asyncio.get_running_loop().run_in_executor(None, work)
        self._work.add(future)
        self._is_quiet.clear()
        future.add_done_callback(self._on_work_done)

    async def close(self) -> None:
        """Kill every program that still runs, and wait until all are gone, at most 2 s."""
        for child in tuple(self._running):
            child.fail(ToolError("the tool was stopped because ias stops", code=Code.KILLED))
        if self._timer is not None:
            self._timer.cancel()
            self._sweep_ended()
        try:
            async with asyncio.timeout(CLOSE_LIMIT):
                await self._is_quiet.wait()
        except TimeoutError:  # uninterruptible in the kernel: nothing more can be done
            return

    def _forget(self, child: "Child", folder: str | None, *, is_suspect: bool) -> None:
        """Look for what the program left behind: at once after foul play, else once for all calls of a second."""
        self._running.discard(child)
        if folder is not None:
            self._ended.add(folder)
            if is_suspect:
                self._sweep_ended()
            elif self._timer is None:
                self._timer = asyncio.get_running_loop().call_later(SWEEP_DELAY, self._sweep_ended)
        self._settle()

    def _sweep_ended(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        folders, self._ended = frozenset(self._ended), set()
        if folders:
            self.offload(lambda: sweep(folders))

    def _on_work_done(self, future: "asyncio.Future[object]") -> None:
        self._work.discard(future)
        self._settle()

    def _settle(self) -> None:
        if not self._running and not self._work:
            self._is_quiet.set()


class Child:
    """One running program and its pipes. All methods are callbacks of the loop: none blocks, none awaits."""

    def __init__(
        self,
        launch: Launch,
        line: bytes,
        answer: "asyncio.Future[bytes]",
        forget: Forget,
        on_end: OnEnd | None,
    ) -> None:
        self._launch = launch
        self._answer = answer
        self._forget = forget
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._process, self._pidfd = _spawn(launch)
        self._stdin, self._stdout, self._stderr = _pipes(self._process)
        self._input = memoryview(line + b"\n")
        self._output = Output(launch.output_bytes)
        self._errors = bytearray()
        self._is_suspect = False
        self._timer = self._loop.call_later(launch.timeout, self._on_deadline)
        self._loop.add_reader(self._pidfd, self._on_exit)
        self._loop.add_reader(self._stdout, self._on_stdout)
        self._loop.add_reader(self._stderr, self._on_stderr)
        self._loop.add_writer(self._stdin, self._on_stdin)
        self._on_stdin()

    def fail(self, error: ToolError) -> None:
        """End the call with `error`, if it has no answer yet, and kill the program's group."""
        if not self._answer.done():
            self._answer.set_exception(error)
        self._kill()

    def release(self) -> None:
        """Let the program go: the caller has what it wanted, or was cancelled and wants nothing more."""
        if self._answer.cancelled():
            self.fail(ToolError("the call was cancelled", code=Code.CANCELLED))

    def _on_stdin(self) -> None:
        try:
            written = os.write(self._stdin, self._input[:CHUNK_BYTES])
        except BlockingIOError:
            return
        except OSError:  # it does not read: its business
            written = len(self._input)
        self._input = self._input[written:]
        if not self._input:
            self._close_stdin()

    def _on_stdout(self) -> None:
        chunk = _read(self._stdout)
        if chunk is None:
            return
        if chunk:
            self._take(chunk)
        else:
            self._close_stdout()
            self._on_silence()

    def _on_stderr(self) -> None:
        chunk = _read(self._stderr)
        if chunk is None:
            return
        if chunk:
            self._errors += chunk
            del self._errors[:-STDERR_BYTES]
        else:
            self._close_stderr()

    def _take(self, chunk: bytes) -> None:
        had_line = self._output.has_line
        try:
            self._output.add(chunk)
        except ToolError as error:
            self.fail(error)
            return
        if self._output.has_line and not had_line:
            self._restart_timer(SETTLE, self._on_settled)

    def _on_silence(self) -> None:
        """What it said so far is all that it will say; a line without an end counts if the program ends well."""
        if self._answer.done():
            return
        if self._output.has_line:
            self._on_settled()
        elif self._output.text:
            self._restart_timer(SETTLE, self._on_settled)
        else:
            self._restart_timer(GRACE, self._on_mute)

    def _on_settled(self) -> None:
        if not self._answer.done():
            self._answer.set_result(self._output.text)
        if self._stdout >= 0:
            self._is_suspect = True  # a child of its own may hold it
            self._close_stdout()
        self._restart_timer(GRACE, self._kill)

    def _on_mute(self) -> None:
        self.fail(ToolError("the tool closed its output without a line", code=Code.NO_OUTPUT))

    def _on_deadline(self) -> None:
        self.fail(ToolTimeoutError(f"the tool printed no line within {self._launch.timeout:g} s"))

    def _on_exit(self) -> None:
        """Take what is left in the pipes, answer, and let nothing of it survive."""
        _kill_group(self._process.pid)  # before reaping: until then the number cannot be another group's
        status = self._process.wait()
        self._drain()
        if not self._answer.done():
            self._answer_at_exit(status)
        self._end()

    def _answer_at_exit(self, status: int) -> None:
        if self._output.has_line or (self._output.text and status >= 0):
            self._answer.set_result(self._output.text)
        elif status < 0:
            name = signal.Signals(-status).name
            self.fail(ToolError(f"the tool was ended by {name} before it printed its line", code=Code.KILLED))
        else:
            hint = "print one JSON object on one line" if status == 0 else "its stderr is in the error log"
            message = f"the tool exited with status {status} and printed nothing; {hint}"
            self.fail(ToolError(message, code=Code.NO_OUTPUT))

    def _drain(self) -> None:
        """Read what the dead program left in its pipes, which is at most a pipe's size each."""
        while self._stdout >= 0 and not self._answer.done():
            chunk = _read(self._stdout)
            if chunk:
                self._take(chunk)
                continue
            if chunk is None:
                self._is_suspect = True  # somebody else can still write
            self._close_stdout()
        for _ in range(DRAIN_READS):
            if self._stderr >= 0:
                self._on_stderr()
        self._is_suspect = self._is_suspect or self._stderr >= 0

    def _end(self) -> None:
        self._timer.cancel()
        self._close_stdin()
        self._close_stdout()
        self._close_stderr()
        self._loop.remove_reader(self._pidfd)
        os.close(self._pidfd)
        self._forget(self, self._launch.env.get("TMPDIR"), is_suspect=self._is_suspect)
        if self._on_end is not None:
            self._on_end(bytes(self._errors))

    def _kill(self) -> None:
        self._is_suspect = True
        self._timer.cancel()
        if self._process.returncode is None:
            _kill_group(self._process.pid)

    def _restart_timer(self, seconds: float, then: Callable[[], None]) -> None:
        self._timer.cancel()
        if self._process.returncode is None:
            self._timer = self._loop.call_later(seconds, then)

    def _close_stdin(self) -> None:
        if self._stdin >= 0:
            self._loop.remove_writer(self._stdin)
            cast("IO[bytes]", self._process.stdin).close()
            self._stdin = -1

    def _close_stdout(self) -> None:
        if self._stdout >= 0:
            self._loop.remove_reader(self._stdout)
            cast("IO[bytes]", self._process.stdout).close()
            self._stdout = -1

    def _close_stderr(self) -> None:
        if self._stderr >= 0:
            self._loop.remove_reader(self._stderr)
            cast("IO[bytes]", self._process.stderr).close()
            self._stderr = -1


def _spawn(launch: Launch) -> tuple[subprocess.Popen[bytes], int]:
    # No preexec_fn (it forces fork, which costs 0.05 ms a MB of the daemon), and a group instead of a session (under
    # load setsid makes the call three times slower).
    try:
        process = subprocess.Popen(
            launch.argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=launch.cwd,
            env=dict(launch.env),
            bufsize=0,
            process_group=0,
        )
    except (OSError, ValueError) as error:
        raise ToolError(f"the tool's program cannot be started: {_why(error)}", code=Code.SPAWN_FAILED) from error
    try:
        return process, os.pidfd_open(process.pid)
    except OSError as error:
        _kill_group(process.pid)
        process.wait()
        for pipe in (process.stdin, process.stdout, process.stderr):
            cast("IO[bytes]", pipe).close()
        raise ToolError(f"the tool's program cannot be watched: {error.strerror}", code=Code.SPAWN_FAILED) from error


def _why(error: OSError | ValueError) -> str:
    match error:
        case PermissionError():
            return "it is not executable; chmod +x it"
        case FileNotFoundError():
            return "it or its interpreter is not there; check `path` and the first line of the program"
        case OSError(strerror=str(text)) if "format" in text.lower():
            return "it has no `#!` line and is no binary; add one"
        case OSError(strerror=str(text)):
            return text.lower()
        case _:
            return str(error)


def _pipes(process: subprocess.Popen[bytes]) -> tuple[int, int, int]:
    pipes = [cast("IO[bytes]", pipe).fileno() for pipe in (process.stdin, process.stdout, process.stderr)]
    for pipe in pipes:
        os.set_blocking(pipe, False)
    return pipes[0], pipes[1], pipes[2]


def _read(pipe: int) -> bytes | None:
    try:
        return os.read(pipe, CHUNK_BYTES)
    except BlockingIOError:
        return None


def _kill_group(group: int) -> None:
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        return
