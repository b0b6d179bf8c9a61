"""`make demo`: three questions to a real daemon, one of which waits for approval; no network, nothing left running."""

import sys
import tempfile
from pathlib import Path

from tests.demo.services import routes
from tests.e2e.daemon import ROOT, Daemon, make_home, run_ias
from tests.loopback import Loopback

NOTICE = ROOT / "tests" / "fixtures" / "tools" / "notice"
QUESTIONS = {"北京现在天气怎么样": "18.8", "现在几点": "UTC+8"}  # and what the answers must say
RISKY = "发一条通知"
NOTHING_YET = {
    "raw": "(nothing: it begins with the first request to a real model)",
    "error": "(nothing went wrong)",
}


class DemoError(Exception):
    """Something in the demo did not go as it must."""


def main() -> int:
    """Run the demo; 0 if all of it went as it must."""
    with tempfile.TemporaryDirectory(prefix="ias-demo-") as folder, Loopback(routes()) as service:
        tools = (*sorted((ROOT / "tools").iterdir()), NOTICE)
        home = make_home(Path(folder), {"http": {"reroute": service.reroute()}}, tools=tools)
        heading("a daemon starts, outside services are answered by a loopback server")
        with Daemon(home) as daemon:
            print(*daemon.lines, sep="\n")
            try:
                conversation = talk(daemon, home, service)
                report(daemon, home, conversation)
            except DemoError as error:
                print(f"demo failed: {error}", file=sys.stderr)
                return 1
        heading("the daemon stopped")
        print(daemon.lines[-1])
    return 0


def talk(daemon: Daemon, home: Path, service: Loopback) -> str:
    """Ask the questions; give the conversation's id."""
    for question, part in QUESTIONS.items():
        heading(f"ias chat {question!r}")
        answer = daemon.ask(question)
        print(answer)
        expect(part in answer, f"the answer to {question!r} does not say {part!r}")
    heading(f"ias chat {RISKY!r}: a POST, so it waits for a person")
    posted = daemon.post(RISKY)
    asked = daemon.wait_event(posted["conversation"], "ApprovalRequested")
    print(run_ias(home, "approvals", "show", f"A{asked['num']}").stdout)
    expect(not [seen for seen in service.seen if seen.method == "POST"], "a request left before it was approved")
    heading(f"ias approve A{asked['num']}")
    decided = run_ias(home, "approve", f"A{asked['num']}", "--yes")
    print(decided.stdout)
    expect(decided.returncode == 0, decided.stderr)
    daemon.wait_event(posted["conversation"], "TurnComplete", turn_id=posted["turn"], reason="reply")
    expect(len([seen for seen in service.seen if seen.method == "POST"]) == 1, "the request was not sent exactly once")
    return posted["conversation"]


def report(daemon: Daemon, home: Path, conversation: str) -> None:
    """Print what is left of it all: the conversation, the last call's steps, the logs."""
    heading("the conversation, as stored")
    _, messages = daemon.call("GET", f"/api/conversations/{conversation}/messages")
    for message in messages:
        text = str(message["content"].get("text", ""))
        if text:
            print(f"{message['role']:>9}: {text if len(text) < 160 else text[:160] + '…'}")
    _, runs = daemon.call("GET", "/api/runs?limit=10")
    notice = next(run for run in runs if run["tool"] == "notice_send")
    heading(f"ias runs show {notice['id'][:10]}")
    shown = run_ias(home, "runs", "show", notice["id"])
    print(shown.stdout)
    expect(shown.returncode == 0, shown.stderr)
    for name in ("msg", "raw", "error"):
        file = home / "logs" / f"{name}.log"
        heading(f"logs/{name}.log")
        print(file.read_text(encoding="utf-8") if file.exists() else NOTHING_YET.get(name, "(nothing)"))
    expect((home / "logs" / "msg.log").exists(), "there is no msg.log")


def heading(text: str) -> None:
    """Print a line that says what comes."""
    print(f"\n── {text} " + "─" * max(0, 90 - len(text)), flush=True)


def expect(is_so: bool, otherwise: str) -> None:
    """Go on only if something is so."""
    if not is_so:
        raise DemoError(otherwise)


if __name__ == "__main__":
    sys.exit(main())
