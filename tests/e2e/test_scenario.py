"""The whole way of a message, with the daemon killed while a person is asked."""

from pathlib import Path

from tests.e2e.daemon import Daemon, make_home, run_ias
from tests.loopback import Loopback, Reply

NOTICE = Path(__file__).parents[1] / "fixtures" / "tools" / "notice"


def test_an_approval_survives_a_kill_and_its_request_is_sent_once(tmp_path: Path) -> None:
    with Loopback({("notice.example.com", "/send"): Reply(body=b'{"ok": true}')}) as service:
        home = make_home(tmp_path, {"http": {"reroute": service.reroute()}}, tools=(NOTICE,))
        daemon = Daemon(home)
        with daemon:
            posted = daemon.post("发一条通知", source_id="m1")
            asked = daemon.wait_event(posted["conversation"], "ApprovalRequested")
            assert asked["num"] == 1
            assert service.seen == []

            daemon.kill()
            daemon.restart()
            assert any("approvals waiting for you (ias approvals list): 1" in line for line in daemon.lines)
            again = daemon.post("发一条通知", source_id="m1")
            assert (again["turn"], again["duplicate"]) == (posted["turn"], True)

            decided = run_ias(home, "approve", "A1", "--yes")
            assert decided.returncode == 0, decided.stderr
            events: list[tuple[str, dict[str, object]]] = []
            for name, event in daemon.events(posted["conversation"]):
                events.append((name, event))
                if name == "TurnComplete" and event["reason"] != "tool_calls":
                    break

            assert [(seen.method, seen.path, seen.body) for seen in service.seen] == [
                ("POST", "/send", b'{"text":"hello"}')
            ]
            replies = [event["text"] for name, event in events if name == "AssistantTextDelta"]
            assert len(replies) == 1
            assert "notice sent" in str(replies[0])
            calls = [event["tool_name"] for name, event in events if name == "ToolExecutionCompleted"]
            assert calls == ["query_capabilities", "notice_send"]
            resolved = [event["state"] for name, event in events if name == "ApprovalResolved"]
            assert resolved == ["approved"]
