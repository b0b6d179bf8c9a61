"""How soon one stream more begins while 64 others run, over one connection pool, and alone."""

import sys
from pathlib import Path

from bench.daemon import environment
from bench.measure import Effort, Row
from bench.workers import Worker, answers

OTHERS = 64
LIMIT = 2.0
PROBES = 10  # streams whose first piece is timed, one after the other
PACE = 20  # ms between two pieces: 50 tokens a second
MODEL = f"paced:100000:{PACE}"  # longer than any measure; each is left when it is no longer needed


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Time first pieces alone, beside the others, and alone again."""
    del folder
    env = environment()
    before, beside, after = list[float](), list[float](), list[float]()
    begun = OTHERS
    with answers(env) as port, Worker(sys.executable, "bench.own_client", "many", str(port), env=env) as own:
        _firsts(own, 0)
        for _ in effort.times():
            before += _firsts(own, 0)[0]
            firsts, count = _firsts(own, OTHERS)
            beside += firsts
            begun = min(begun, count)
            after += _firsts(own, 0)[0]
    note = f"the others get {1000 // PACE} pieces a second each"
    return [
        Row(
            name=f"first piece beside {OTHERS} streams / alone",
            unit="ms",
            samples=tuple(beside),
            base=tuple(before),
            again=tuple(after),
            limit=LIMIT,
            note=note if begun == OTHERS else f"only {begun} of the others began, and it never did",
        )
    ]


def _firsts(own: Worker, others: int) -> tuple[list[float], int]:
    """Give the times of first pieces in ms, and how many of the others gave theirs."""
    done = own.do(model=MODEL, others=others, probes=PROBES)
    return [seconds * 1000 for seconds in done["firsts"]], done["begun"]
