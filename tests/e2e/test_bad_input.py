"""Bad configuration, bad tools, bad messages, no room: each is told in its place, and the daemon stays up."""

import resource
import stat
from pathlib import Path

import pytest

from tests.e2e.daemon import ROOT, Daemon, make_home, run_ias

MEMORIES = ROOT / "tools" / "memories"
SPEC = "name: {name}\ndesc: a test\ntype: local\npath: {path}\nrisk_level: low\ntimeout_secs: 5\n{more}"
MISBEHAVIOUR = {
    "no_output": "exit 0",
    "extra_output": 'read -r line; printf \'%s\\n%s\\n\' \'{"type":"result","content":"a"}\' \'{"type":"result"}\'',
    "bad_utf8": "read -r line; printf '\\377\\n'",
    "bad_json": "read -r line; echo '{\"type\": NaN}'",
    "bad_message": 'read -r line; echo \'{"type": "dance"}\'',
    "output_too_large": "read -r line; head -c 3000000 /dev/zero | tr '\\0' x; echo",
    "timeout": "trap '' TERM; read -r line; read -r never; while :; do read -r never < /dev/tty0 || sleep 9; done",
}


def add_tool(home: Path, name: str, script: str, more: str = "", *, spec: str | None = None) -> None:
    folder = home / "tools" / name
    (folder / "specs").mkdir(parents=True)
    program = folder / "program.sh"
    program.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    text = SPEC.format(name=name, path="program.sh", more=more) if spec is None else spec
    (folder / "specs" / f"{name}.tool.yaml").write_text(text, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "line", "part"),
    [
        ("llm: {provider: auto\n", 2, ""),
        ("lmm: {provider: auto}\n", 1, "llm"),
        ("api: {port: 0}\nqueue:\n  tool: many\n", 3, "queue.tool"),
        ("approvals:\n  rules:\n    - {verdict: allow, host: 'a.com', match: ['x GET https://b.com/']}\n", 3, "match"),
    ],
)
def test_a_wrong_configuration_exits_78_and_names_the_line(tmp_path: Path, text: str, line: int, part: str) -> None:
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    done = run_ias(tmp_path, "serve")
    assert done.returncode == 78
    assert f"config.yaml:{line}:" in done.stderr
    assert part in done.stderr
    assert "Traceback" not in done.stderr


def test_a_second_daemon_in_the_same_home_says_which_process_holds_it(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    with Daemon(home) as daemon:
        second = run_ias(home, "serve")
        assert second.returncode == 1
        assert str(daemon.process.pid) in second.stderr
        assert daemon.call("GET", "/readyz")[0] == 200


def test_a_port_in_use_is_named(tmp_path: Path) -> None:
    with Daemon(make_home(tmp_path / "a")) as daemon:
        port = daemon.wait_port()
        other = make_home(tmp_path / "b", {"api": {"port": port}})
        done = run_ias(other, "serve")
        assert done.returncode == 1
        assert f"port {port}" in done.stderr
        assert "--port" in done.stderr


def test_bad_specs_are_listed_and_the_other_tools_work(tmp_path: Path) -> None:
    home = make_home(tmp_path, tools=(MEMORIES,))
    add_tool(home, "unknown_key", "", more="colour: red\n")
    add_tool(home, "broken_yaml", "", spec="name: [\n")
    add_tool(home, "missing", "", spec=SPEC.format(name="missing", path="nothing.sh", more=""))
    add_tool(home, "twice", "", spec=SPEC.format(name="memory_save", path="program.sh", more=""))
    add_tool(home, "not_executable", "")
    (home / "tools" / "not_executable" / "program.sh").chmod(0o644)
    with Daemon(home) as daemon:
        status, loaded = daemon.call("POST", "/api/tools/reload")
        assert status == 200
        rejected = {Path(problem["file"]).name.split(".")[0]: problem for problem in loaded["rejected"]}
        assert sorted(rejected) == ["broken_yaml", "missing", "not_executable", "twice", "unknown_key"]
        assert rejected["unknown_key"]["line"] == 7
        assert "colour" in rejected["unknown_key"]["message"]
        assert len(daemon.call("GET", "/api/tools")[1]) == 5
        assert "tea" in daemon.ask("remember that I like tea")


@pytest.mark.parametrize("code", list(MISBEHAVIOUR))
def test_a_misbehaving_program_is_an_error_of_its_call_alone(tmp_path: Path, code: str) -> None:
    home = make_home(tmp_path)
    add_tool(home, "bad", MISBEHAVIOUR[code])
    with Daemon(home) as daemon:
        status, answer = daemon.call("POST", "/api/tools/bad/call", {"args": {}})
        assert status == 200
        assert answer["code"] == code
        assert daemon.call("GET", "/readyz")[0] == 200
        log = (home / "logs" / "error.log").read_text("utf-8")
        assert f"code={code}" in log


def test_a_grandchild_that_holds_the_output_delays_nothing(tmp_path: Path) -> None:
    home = make_home(tmp_path)
    add_tool(home, "forks", 'read -r line; sleep 50 & echo \'{"type": "result", "content": "done"}\'')
    with Daemon(home) as daemon:
        _, answer = daemon.call("POST", "/api/tools/forks/call", {"args": {}})
        assert (answer["code"], answer["content"]) == ("ok", "done")


@pytest.mark.parametrize("text", ["", "  \n", "x" * 1_000_001, "x" * 100_001])
def test_an_unfit_message_is_refused_and_nothing_is_stored(tmp_path: Path, text: str) -> None:
    with Daemon(make_home(tmp_path)) as daemon:
        status, problem = daemon.call("POST", "/api/messages", {"user_id": "u", "text": text})
        assert status in (413, 422)
        assert problem["status"] == status
        assert daemon.call("GET", "/api/conversations")[1] == []


def test_lone_surrogates_in_a_message_do_no_harm(tmp_path: Path) -> None:
    with Daemon(make_home(tmp_path, tools=(MEMORIES,))) as daemon:
        assert "tea" in daemon.ask("remember that I like \ud800 tea")
        _, conversations = daemon.call("GET", "/api/conversations")
        _, messages = daemon.call("GET", f"/api/conversations/{conversations[0]['id']}/messages")
        assert messages[0]["content"]["text"] == "remember that I like \ufffd tea"


def test_unknown_tools_and_wrong_arguments_are_told_to_the_caller(tmp_path: Path) -> None:
    with Daemon(make_home(tmp_path, tools=(MEMORIES,))) as daemon:
        assert daemon.call("POST", "/api/tools/nothing/call", {"args": {}})[0] == 404
        status, problem = daemon.call("POST", "/api/tools/memory_save/call", {"args": {"body": 5, "colour": "red"}})
        assert status == 422
        assert "colour" in problem["detail"]


def test_no_disk_space_is_answered_and_recovers_by_itself(tmp_path: Path) -> None:
    with Daemon(make_home(tmp_path, tools=(MEMORIES,))) as daemon:
        assert "tea" in daemon.ask("remember that I like tea")
        pid = daemon.process.pid
        before = resource.prlimit(pid, resource.RLIMIT_FSIZE)
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (4096, before[1]))
        status, problem = daemon.call("POST", "/api/messages", {"user_id": "u1", "text": "remember that I like milk"})
        assert (status, problem["title"]) == (507, "No space left")
        resource.prlimit(pid, resource.RLIMIT_FSIZE, before)
        assert "milk" in daemon.ask("remember that I like milk")


@pytest.mark.parametrize(
    "text", ["sandbox: {level: plain}\n", "mcp: {servers: {files: {command: npx}}}\n", "channels: {wechat: {}}\n"]
)
def test_what_this_version_cannot_do_is_refused_and_not_ignored(tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text, encoding="utf-8")
    done = run_ias(tmp_path, "serve")
    assert done.returncode == 78
    assert "config.yaml:1: " in done.stderr
    assert "this version" in done.stderr


@pytest.mark.parametrize(
    "llm", ["{provider: deepseek}", "{provider: gpt}", "{provider: openai, api_key: k}", "{api_key: '${NO_SUCH_KEY}'}"]
)
def test_a_model_that_cannot_be_used_ends_the_start_at_once(tmp_path: Path, llm: str) -> None:
    (tmp_path / "config.yaml").write_text(f"llm: {llm}\n", encoding="utf-8")
    done = run_ias(tmp_path, "serve")
    assert done.returncode == 78
    assert "Traceback" not in done.stderr


def test_a_damaged_database_is_not_served(tmp_path: Path) -> None:
    home = make_home(tmp_path, tools=(MEMORIES,))
    with Daemon(home) as daemon:
        assert "tea" in daemon.ask("remember that I like tea")
    file = home / "data" / "ias.db"
    whole = bytearray(file.read_bytes())
    for page in range(2, len(whole) // 4096):
        whole[page * 4096 : page * 4096 + 100] = bytes(100)
    file.write_bytes(whole)
    done = run_ias(home, "serve")
    assert done.returncode == 1
    assert "ias restore" in done.stderr
