"""How soon a daemon with the product's tools is ready, and how much memory it holds while it waits."""

import time
from pathlib import Path

from bench.daemon import Daemon, make_home
from bench.measure import Effort, Row

READY_LIMIT = 1.0  # seconds
MEMORY_LIMIT = 80.0  # MB
SETTLED = 0.5  # seconds after which a daemon that nobody speaks to has nothing left to do
TOOLS = 17


def measure(folder: Path, effort: Effort) -> list[Row]:
    """Start a daemon again and again in one home, and every second time also in a new one."""
    first, again, cpu = list[float](), list[float](), list[float]()
    resident, shares = list[float](), list[float]()
    home = make_home(folder / "home")
    with Daemon(home):  # the first start may have to compile modules
        pass
    for number in effort.times():
        if number % 2 == 0:
            with Daemon(make_home(folder / f"new{number}")) as daemon:
                first.append(daemon.ready_after)
        with Daemon(home) as daemon:
            again.append(daemon.ready_after)
            cpu.append(daemon.cpu_until_ready)
            count = len(daemon.call("GET", "/api/tools"))
            if count != TOOLS:
                raise RuntimeError(f"the daemon has {count} tools, not {TOOLS}")
            time.sleep(SETTLED)
            rss, pss = daemon.memory()
            resident.append(rss)
            shares.append(pss)
    tools = f"with the {TOOLS} tools"
    return [
        Row(name=f"idle memory {tools}, resident (RSS)", unit="MB", samples=tuple(resident), limit=MEMORY_LIMIT),
        Row(name=f"idle memory {tools}, its share (PSS)", unit="MB", samples=tuple(shares), limit=MEMORY_LIMIT),
        Row(name=f"start to /readyz {tools}", unit="s", samples=tuple(again), limit=READY_LIMIT),
        Row(name="  its CPU time by then", unit="s", samples=tuple(cpu)),
        Row(name="  the same in a new home", unit="s", samples=tuple(first), limit=READY_LIMIT),
    ]
