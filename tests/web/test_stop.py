"""A daemon that stops while somebody listens."""

from pathlib import Path

from tests.consumers.logbook import read_log
from tests.e2e.daemon import Daemon, make_home


def test_an_open_stream_does_not_hold_the_daemon_up_and_leaves_no_error(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    with Daemon(home) as daemon:
        posted = daemon.post("hi")
        listening = daemon.events(posted["conversation"])
        next(listening)
        assert daemon.stop() == 0
        rest = [name for name, _ in listening]
    assert "TurnComplete" in rest
    assert read_log(home / "logs", "error") == ""
