"""Work that is stopped: by a person, by a signal, by a second signal."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.daemon import BOUND, Daemon, make_home
from tests.e2e.models import Script, llm_config, says, serve
from tests.loopback import Reply, Seen


class Holding(Script):
    """A model that answers the first request only when it is let go."""

    def __init__(self, *replies: Reply) -> None:
        super().__init__(replies)
        self.asked = threading.Event()
        self.let_go = threading.Event()

    def __call__(self, seen: Seen) -> Reply:
        """Answer one request; the first one waits."""
        is_first = not self.bodies
        reply = super().__call__(seen)
        if is_first:
            self.asked.set()
            self.let_go.wait(BOUND)
        return reply


@contextmanager
def holding(tmp_path: Path) -> Generator[tuple[Daemon, Holding]]:
    script = Holding(says("late"), says("next"))
    with serve(script) as server:
        try:
            with Daemon(make_home(tmp_path, llm_config(server.origin))) as daemon:
                yield daemon, script
        finally:
            script.let_go.set()


def test_a_cancelled_turn_ends_at_once_and_the_next_message_is_answered(tmp_path: Path) -> None:
    with holding(tmp_path) as (daemon, script):
        posted = daemon.post("think long")
        assert script.asked.wait(BOUND)
        status, answer = daemon.call("POST", f"/api/conversations/{posted['conversation']}/cancel")
        assert (status, answer["cancelled"]) == (200, True)
        ended = daemon.wait_event(posted["conversation"], "TurnComplete", turn_id=posted["turn"])
        assert ended["reason"] == "cancelled"
        assert daemon.ask("and now") == "next"
        _, queue = daemon.call("GET", "/api/queue")
        assert queue["dead"] == []


def test_a_signal_waits_for_work_in_flight_and_takes_nothing_new(tmp_path: Path) -> None:
    with holding(tmp_path) as (daemon, script):
        posted = daemon.post("think")
        assert script.asked.wait(BOUND)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_line("waiting for work in flight")
        assert daemon.call("GET", "/readyz")[0] == 503
        script.let_go.set()
        assert daemon.process.wait(BOUND) == 0
        daemon.restart()
        texts = [event["text"] for name, event in until_done(daemon, posted) if name == "AssistantTextDelta"]
        assert texts == ["late"]
        assert len(script.bodies) == 1


def test_a_second_signal_gives_the_work_back_and_it_is_done_after_a_restart(tmp_path: Path) -> None:
    with holding(tmp_path) as (daemon, script):
        posted = daemon.post("think")
        assert script.asked.wait(BOUND)
        daemon.process.send_signal(signal.SIGTERM)
        daemon.wait_line("waiting for work in flight")
        daemon.process.send_signal(signal.SIGTERM)
        assert daemon.process.wait(BOUND) == 1
        daemon.restart()
        texts = [event["text"] for name, event in until_done(daemon, posted) if name == "AssistantTextDelta"]
        assert texts == ["next"]


def until_done(daemon: Daemon, posted: dict[str, str]) -> list[tuple[str, dict[str, str]]]:
    events: list[tuple[str, dict[str, str]]] = []
    for name, event in daemon.events(posted["conversation"]):
        events.append((name, event))
        if name == "TurnComplete" and event["reason"] != "tool_calls":
            return events
    raise AssertionError(f"the turn did not end: {events}")
