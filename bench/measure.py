"""Samples, their medians and ratios, targets, and how noisy the machine was meanwhile."""

import contextlib
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FEWEST = 3  # rounds that are made even where time is short
P95_FROM = 10  # samples; of fewer the 95th percentile is the greatest, and says nothing
QUIET = (0.85, 1.18)  # what medians of the same program, measured twice side by side, may differ on a quiet machine
BLOCK = 4096  # bytes written before each fdatasync: a page, as a database does
SYNCS = 50
STARTS = 15
BOUND = 20.0  # seconds that an interpreter may take to do nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    """How much is measured: at most `rounds` of a subject, for at most `seconds`."""

    rounds: int
    seconds: float

    def times(self) -> Iterator[int]:
        """Count rounds until there were enough, or the time is over and there were at least three."""
        until = time.monotonic() + self.seconds
        for number in range(self.rounds):
            if number >= FEWEST and time.monotonic() > until:
                return
            yield number


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the table.

    Attributes:
        name: What was measured.
        unit: Of the samples: `ms`, `s`, `MB`, `msg/s`.
        samples: The product.
        base: What it is compared with, measured in turns with it; empty where the value itself has the target.
        again: The base once more; its ratio to `base` shows the noise.
        limit: The target: the highest ratio, or the highest value where there is no base; None where there is none.
        note: What else a reader should know.
    """

    name: str
    unit: str
    samples: tuple[float, ...]
    base: tuple[float, ...] = ()
    again: tuple[float, ...] = ()
    limit: float | None = None
    note: str = ""

    @property
    def median(self) -> float:
        """The product's median."""
        return statistics.median(self.samples)

    @property
    def least(self) -> float:
        """The product's minimum."""
        return min(self.samples)

    @property
    def p95(self) -> float | None:
        """The product's 95th percentile, None of few samples."""
        return percentile(self.samples, 0.95)

    @property
    def base_median(self) -> float | None:
        """The base's median over all that was measured of it."""
        both = self.base + self.again
        return statistics.median(both) if both else None

    @property
    def ratio(self) -> float | None:
        """The product's median by the base's."""
        return self.median / self.base_median if self.base_median else None

    @property
    def least_ratio(self) -> float | None:
        """The product's minimum by the base's: what other work on the machine disturbs least."""
        both = self.base + self.again
        return self.least / min(both) if both else None

    @property
    def noise(self) -> float | None:
        """The base by itself: 1.0 where nothing disturbed."""
        return statistics.median(self.again) / statistics.median(self.base) if self.again else None

    @property
    def is_rate(self) -> bool:
        """Whether more is better, so that a minimum says nothing."""
        return self.unit.endswith("/s")

    @property
    def is_met(self) -> bool | None:
        """Whether the target is met, by the medians' ratio or the minima's; None where there is no target."""
        if self.limit is None:
            return None
        if self.ratio is None or self.least_ratio is None:
            return self.median <= self.limit
        return min(self.ratio, self.least_ratio) <= self.limit

    def as_json(self) -> dict[str, object]:
        """Give the row for programs."""
        return {
            "name": self.name,
            "unit": self.unit,
            "count": len(self.samples),
            "base": self.base_median,
            "least": self.least,
            "median": self.median,
            "p95": self.p95,
            "ratio": self.ratio,
            "least_ratio": self.least_ratio,
            "limit": self.limit,
            "met": self.is_met,
            "base_by_itself": self.noise,
            "note": self.note,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Noise:
    """What the machine did besides.

    Attributes:
        ratios: Of bases to themselves.
        load_before: Load average of a minute.
        load_after: The same at the end.
        sync: Of one fdatasync, in ms.
        start: Of an interpreter that does nothing, start to end, in ms: how fast this machine is now.
        processors: How many there are.
    """

    ratios: tuple[float, ...]
    load_before: float
    load_after: float
    sync: float
    start: float
    processors: int

    @property
    def is_quiet(self) -> bool:
        """Whether verdicts can be trusted: bases are like themselves, and no more work waited than can run."""
        if max(self.load_before, self.load_after) > self.processors:
            return False
        return all(QUIET[0] <= ratio <= QUIET[1] for ratio in self.ratios)

    def as_json(self) -> dict[str, object]:
        """Give it for programs."""
        return {
            "base_by_itself": list(self.ratios),
            "load_before": self.load_before,
            "load_after": self.load_after,
            "fdatasync_ms": self.sync,
            "interpreter_ms": self.start,
            "processors": self.processors,
            "quiet": self.is_quiet,
        }


def percentile(samples: tuple[float, ...], share: float) -> float | None:
    """Give the smallest sample that `share` of all do not exceed, None of fewer than ten."""
    if len(samples) < P95_FROM:
        return None
    return sorted(samples)[math.ceil(share * len(samples)) - 1]


def sync_time(folder: Path) -> float:
    """Give the median time of a 4 KiB write with fdatasync in a folder, in ms."""
    times: list[float] = []
    with tempfile.TemporaryFile(dir=folder) as file:
        for _ in range(SYNCS):
            began = time.perf_counter()
            os.write(file.fileno(), bytes(BLOCK))
            os.fdatasync(file.fileno())
            times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def start_time() -> float:
    """Give the median time of an interpreter that does nothing, in ms."""
    times: list[float] = []
    for _ in range(STARTS):
        began = time.perf_counter()
        subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True, timeout=BOUND)
        times.append((time.perf_counter() - began) * 1000)
    return statistics.median(times)


def cpu_seconds(pid: int) -> float:
    """Give the CPU time of all threads of a process so far (proc(5): the first number of schedstat, nanoseconds).

    Time of threads that ended is not in it; a daemon's threads stay.
    """
    total = 0
    for thread in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            total += int((thread / "schedstat").read_text(encoding="ascii").split()[0])
    return total / 1e9
