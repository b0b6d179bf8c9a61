"""Approvals over real processes: scopes, denial, and rules that outlive a conversation."""

from pathlib import Path

from tests.e2e.daemon import Daemon, copy_tool, make_home, run_ias
from tests.loopback import Loopback, Reply

NOTICE = Path(__file__).parents[1] / "fixtures" / "tools" / "notice"
SENT = {("notice.example.com", "/send"): Reply(body=b'{"ok": true}')}


def wait_for_question(daemon: Daemon, posted: dict[str, str]) -> int:
    return daemon.wait_event(posted["conversation"], "ApprovalRequested", turn_id=posted["turn"])["num"]


def end_of(daemon: Daemon, posted: dict[str, str]) -> dict[str, object]:
    last: dict[str, object] = {}
    for name, event in daemon.events(posted["conversation"], after=int(posted["cursor"])):
        if name == "AssistantTextDelta":
            last = event
        if name == "TurnComplete" and event["turn_id"] == posted["turn"] and event["reason"] != "tool_calls":
            return last
    raise AssertionError("the turn did not end")


def test_always_leaves_a_rule_that_lets_the_next_one_pass_until_it_is_revoked(tmp_path: Path) -> None:
    with Loopback(SENT) as service:
        home = make_home(tmp_path, {"http": {"reroute": service.reroute()}}, tools=(NOTICE,))
        with Daemon(home) as daemon:
            first = daemon.post("发一条通知")
            num = wait_for_question(daemon, first)
            assert run_ias(home, "approve", f"A{num}", "--yes", "--scope", "always").returncode == 0
            end_of(daemon, first)

            elsewhere = daemon.post("发一条通知", address="another place")
            assert "notice sent" in str(end_of(daemon, elsewhere)["text"])
            assert len(service.seen) == 2
            stranger = daemon.post("发一条通知", user="u2")
            assert wait_for_question(daemon, stranger) == 2

            grants = run_ias(home, "approvals", "grants")
            assert "R1" in grants.stdout
            assert run_ias(home, "approvals", "revoke", "R1").returncode == 0
            again = daemon.post("发一条通知")
            assert wait_for_question(daemon, again) == 3
            assert len(service.seen) == 2


def test_a_denial_reaches_the_model_with_its_reason_and_sends_nothing(tmp_path: Path) -> None:
    with Loopback(SENT) as service:
        home = make_home(tmp_path, {"http": {"reroute": service.reroute()}}, tools=(NOTICE,))
        with Daemon(home) as daemon:
            posted = daemon.post("发一条通知")
            num = wait_for_question(daemon, posted)
            assert run_ias(home, "deny", f"A{num}", "--reason", "not today").returncode == 0
            end_of(daemon, posted)
            _, messages = daemon.call("GET", f"/api/conversations/{posted['conversation']}/messages")
            told = [message["content"]["text"] for message in messages if message["role"] == "tool"]
            assert "approval_denied" in told[-1]
            assert "not today" in told[-1]
            assert service.seen == []
            late = run_ias(home, "approve", f"A{num}", "--yes")
            assert late.returncode == 3
            assert "denied" in late.stderr + late.stdout


def test_an_approval_that_nobody_answers_expires_and_the_turn_ends(tmp_path: Path) -> None:
    with Loopback(SENT) as service:
        config = {"http": {"reroute": service.reroute()}, "approvals": {"timeout": "1s"}}
        with Daemon(make_home(tmp_path, config, tools=(NOTICE,))) as daemon:
            posted = daemon.post("发一条通知")
            wait_for_question(daemon, posted)
            resolved = daemon.wait_event(posted["conversation"], "ApprovalResolved")
            assert resolved["state"] == "expired"
            end_of(daemon, posted)
            assert service.seen == []


def test_a_decision_while_the_daemon_is_down_counts_after_its_start(tmp_path: Path) -> None:
    with Loopback(SENT) as service:
        home = make_home(tmp_path, {"http": {"reroute": service.reroute()}}, tools=(NOTICE,))
        daemon = Daemon(home)
        with daemon:
            posted = daemon.post("发一条通知")
            num = wait_for_question(daemon, posted)
            daemon.kill()
            assert run_ias(home, "approve", f"A{num}", "--yes").returncode == 0
            assert service.seen == []
            daemon.restart()
            assert "notice sent" in str(end_of(daemon, posted)["text"])
            assert len(service.seen) == 1


def test_a_forbidden_host_is_never_asked_about(tmp_path: Path) -> None:
    with Loopback(SENT) as service:
        home = make_home(tmp_path, {"http": {"reroute": service.reroute()}}, tools=(NOTICE,))
        spec = home / "tools" / "notice" / "specs" / "send.tool.yaml"
        spec.write_text(spec.read_text("utf-8").replace("hosts: [notice.example.com]", "hosts: [other.example.com]"))
        with Daemon(home) as daemon:
            _, answer = daemon.call("POST", "/api/tools/notice_send/call", {"args": {}})
            assert answer["code"] == "host_not_allowed"
            assert daemon.call("GET", "/api/approvals?state=all")[1] == []
            assert service.seen == []


def test_a_tool_dropped_in_is_found_without_a_restart_and_goes_when_it_is_removed(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    with Daemon(home) as daemon:
        copy_tool(NOTICE, home)
        assert "notice_send" in daemon.wait_line("tools added")
        assert [tool["name"] for tool in daemon.call("GET", "/api/tools")[1]] == ["notice_send"]
        (home / "tools" / "notice" / "specs" / "send.tool.yaml").unlink()
        assert "notice_send" in daemon.wait_line("tools removed")
        assert daemon.call("GET", "/api/tools")[1] == []
