"""`python -m bench`: measures the product against what it is built on, and prints one table of ratios and targets."""

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench import approve, durable_queue, loop, many_streams, message, startup, streaming, tool_call
from bench.measure import FEWEST, Effort, Noise, Row, start_time, sync_time

HEADS = ("", "unit", "n", "base", "least", "median", "p95", "ratio", "of least", "target", "")
QUICK = 6  # times fewer rounds, and less time, with --quick


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """Something that is measured; its folder is its own, and goes."""

    name: str
    measure: Callable[[Path, Effort], list[Row]]
    effort: Effort


SUBJECTS = (
    Subject(name="tool_call", measure=tool_call.measure, effort=Effort(rounds=200, seconds=12)),
    Subject(name="message", measure=message.measure, effort=Effort(rounds=300, seconds=10)),
    Subject(name="startup", measure=startup.measure, effort=Effort(rounds=10, seconds=14)),
    Subject(name="approve", measure=approve.measure, effort=Effort(rounds=30, seconds=12)),
    Subject(name="durable_queue", measure=durable_queue.measure, effort=Effort(rounds=12, seconds=12)),
    Subject(name="streaming", measure=streaming.measure, effort=Effort(rounds=12, seconds=10)),
    Subject(name="loop", measure=loop.measure, effort=Effort(rounds=60, seconds=5)),
    Subject(name="many_streams", measure=many_streams.measure, effort=Effort(rounds=6, seconds=3)),
)


def main() -> int:
    """Measure and print; gives 0 whether targets are met or not, 1 where it could not measure."""
    options = _options()
    signal.signal(signal.SIGTERM, lambda _number, _frame: sys.exit(1))  # so that what was started is ended
    began, load = time.monotonic(), os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="ias-bench-") as name:
        folder = Path(name)
        sync, start = sync_time(folder), start_time()
        try:
            rows = _measure(folder, options)
        except (RuntimeError, OSError, subprocess.SubprocessError) as error:
            print(f"\nit cannot be measured: {error}", file=sys.stderr)
            return 1
    noise = Noise(
        ratios=tuple(row.noise for row in rows if row.noise is not None),
        load_before=load,
        load_after=os.getloadavg()[0],
        sync=sync,
        start=start,
        processors=os.cpu_count() or 1,
    )
    if options.json:
        print(json.dumps({"rows": [row.as_json() for row in rows], "noise": noise.as_json()}, indent=2))
    else:
        _print(rows, noise, time.monotonic() - began)
    return 0


def _measure(folder: Path, options: "_Options") -> list[Row]:
    say = sys.stderr if options.json else sys.stdout
    rows: list[Row] = []
    for subject in SUBJECTS:
        if options.only and subject.name not in options.only:
            continue
        print(f"measuring {subject.name} …", file=say, end="", flush=True)
        start = time.monotonic()
        own = folder / subject.name
        own.mkdir()
        effort = subject.effort
        if options.quick:
            effort = Effort(rounds=max(FEWEST, effort.rounds // QUICK), seconds=effort.seconds / QUICK)
        gc.collect()
        rows += subject.measure(own, effort)
        print(f" {time.monotonic() - start:.1f} s", file=say)
    return rows


class _Options(argparse.Namespace):
    quick: bool
    json: bool
    only: list[str]


def _options() -> _Options:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Measure ias; prints ratios and targets.")
    parser.add_argument("--quick", action="store_true", help="a sixth of the samples")
    parser.add_argument("--json", action="store_true", help="print JSON")
    names = [subject.name for subject in SUBJECTS]
    parser.add_argument("--only", action="append", default=[], choices=names, help="one subject; may be repeated")
    return parser.parse_args(namespace=_Options())


def _print(rows: list[Row], noise: Noise, seconds: float) -> None:
    lines = [HEADS, *(_cells(row) for row in rows)]
    widths = [max(len(line[at]) for line in lines) for at in range(len(HEADS))]
    print()
    for line in lines:
        cells = [
            line[0].ljust(widths[0]),
            *(cell.rjust(width) for cell, width in zip(line[1:-1], widths[1:-1], strict=True)),
        ]
        print("  ".join([*cells, line[-1]]).rstrip())
    ratios = " ".join(f"{ratio:.2f}" for ratio in noise.ratios)
    quiet = "quiet enough" if noise.is_quiet else "NOISY: do not trust the verdicts, measure again"
    print(
        f"\nnoise: the bases by themselves {ratios or '-'}; load {noise.load_before:.2f} to {noise.load_after:.2f} on "
        f"{noise.processors} processors; fdatasync {noise.sync:.2f} ms; python -S {noise.start:.1f} ms; {quiet}"
    )
    targets = [row.is_met for row in rows if row.is_met is not None]
    print(f"targets: {sum(targets)} met, {len(targets) - sum(targets)} missed; {seconds:.0f} s")


def _cells(row: Row) -> tuple[str, ...]:
    verdict = {None: "", True: "met", False: "MISSED"}[row.is_met]
    if row.is_met is False and row.limit is not None and row.ratio is None and row.least <= row.limit:
        verdict += ", but for the least"
    return (
        row.name,
        row.unit,
        str(len(row.samples)),
        _number(row.base_median),
        "-" if row.is_rate else _number(row.least),
        _number(row.median),
        _number(row.p95),
        "-" if row.ratio is None else f"{row.ratio:.2f}",
        "-" if row.is_rate or row.least_ratio is None else f"{row.least_ratio:.2f}",
        "-" if row.limit is None else f"≤ {row.limit:g}",
        "; ".join(part for part in (verdict, row.note) if part),
    )


def _number(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:.0f}" if value >= 1000 else f"{value:.1f}" if value >= 100 else f"{value:.2f}"


if __name__ == "__main__":
    sys.exit(main())
