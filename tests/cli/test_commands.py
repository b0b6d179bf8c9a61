"""Commands that work without a daemon: help, homes, configuration, tools, doctor, backup, and their exit codes."""

import json
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from ias.cli.app import COMMANDS
from ias.domain.jobs import Job, Queue
from ias.store.base import Terms
from ias.store.lock import StateLock
from ias.store.once import run_once
from ias.store.transactions.operations import OPERATIONS
from ias.store.transactions.queue import claim
from ias.store.transactions.runs import consume_approval
from tests.cli.homes import Ended, bury_call, http_request, ias, make_store, park

TOOL = "tools/echo"


def test_help_lists_every_command_with_one_line(tmp_path: Path) -> None:
    done = ias(tmp_path, "--help")

    listed = {line.split()[0]: line.split(maxsplit=1)[1] for line in done.out.split("Commands:\n")[1].splitlines()}
    assert done.code == 0
    assert listed == {name: entry.help for name, entry in COMMANDS.items()}
    assert ias(tmp_path).out == done.out


@pytest.mark.parametrize("name", sorted(COMMANDS))
def test_each_command_has_help_of_its_own(tmp_path: Path, name: str) -> None:
    done = ias(tmp_path, name, "--help")

    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: ias {name}")


@pytest.mark.parametrize(
    ("args", "code", "err"),
    [
        (["nope"], 2, "ias: No such command 'nope'\n     `ias --help` shows how to call it\n"),
        (["approve"], 2, "ias: Missing argument 'ID'\n     `ias approve --help` shows how to call it\n"),
        (["serve", "--roles", "x"], 2, "ias: --roles 'x' names no queue\n     write one or more of llm, tool, send\n"),
        (["logs", "x"], 2, "ias: there is no log 'x'; there are msg, raw, error\n".replace("; ", "\n     ")),
        (["runs", "show", "abcd"], 1, None),
        (["tools", "show", "nope"], 4, "ias: there is no tool 'nope'\n     `ias tools list` shows what there is\n"),
        (["backup", "x.db"], 4, None),
    ],
)
def test_errors_are_one_line_then_what_to_do(tmp_path: Path, args: list[str], code: int, err: str | None) -> None:
    done = ias(tmp_path, *args)

    assert (done.code, done.out) == (code, "")
    assert err is None or done.err == err
    assert done.err.startswith("ias: ")


def test_home_may_be_named_anywhere(tmp_path: Path) -> None:
    other = tmp_path / "other"
    make_store(other)

    for args in (["--home", str(other), "runs", "--help"], ["runs", "list", "--home", str(other), "--json"]):
        assert ias(tmp_path, *args).code == 0
    assert ias(tmp_path, "runs", "list", f"--home={other}", "--json").out == "[]\n"


def test_a_wrong_configuration_is_exit_78_with_its_line_for_every_command(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("llm:\n  provder: auto\n")

    for args in (["serve"], ["config", "check"], ["tools", "list"]):
        done = ias(tmp_path, *args)
        assert (done.code, done.out) == (78, "")
        assert done.err.startswith(f"ias: {tmp_path}/config.yaml:2: ")
        assert "provider" in done.err


def test_the_quick_commands_read_the_place_of_the_store_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("store: {url: 'sqlite:elsewhere/x.db'}\n")
    made = make_store(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    made.rename(tmp_path / "elsewhere" / "x.db")
    park(tmp_path / "elsewhere" / "x.db", http_request())

    assert ias(tmp_path, "approve", "A1", "--yes").code == 0


def test_init_makes_a_home_and_never_overwrites(tmp_path: Path) -> None:
    home = tmp_path / "new"
    first = ias(tmp_path, "init", "new")
    (home / "config.yaml").write_text("logs: {keep: 9}\n")
    second = ias(tmp_path, "init", "new")

    assert (first.code, second.code) == (0, 0)
    assert [line.split()[0] for line in first.out.splitlines()] == ["made", "made", "made", "made", "next:"]
    assert [line.split()[0] for line in second.out.splitlines()] == ["kept", "kept", "kept", "kept", "next:"]
    assert (home / "config.yaml").read_text() == "logs: {keep: 9}\n"
    assert ias(home, "config", "check").code == 0
    assert ias(home, "tools", "check").code == 0


def test_config_show_masks_secrets(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("llm: {api_key: sk-12345}\n")

    for args in (["config", "show"], ["config", "show", "--json"]):
        done = ias(tmp_path, *args)
        assert done.code == 0
        assert "sk-12345" not in done.out
        assert "***" in done.out


def test_config_schema_is_json(tmp_path: Path) -> None:
    assert "llm" in json.loads(ias(tmp_path, "config", "schema").out)["properties"]


@pytest.mark.parametrize("lang", ["python", "sh", "node"])
def test_a_new_tool_passes_the_check_and_its_own_example(tmp_path: Path, lang: str) -> None:
    if lang == "node" and shutil.which("node") is None:
        pytest.skip("no node here")
    made = ias(tmp_path, "tools", "new", "echo", "--lang", lang)
    checked = ias(tmp_path, "tools", "check")
    tested = ias(tmp_path, "tools", "test", "echo")
    said = ias(tmp_path, "run", "echo", "--text", "hé 北京", "--loud", "--json")

    assert (made.code, checked) == (0, Ended(code=0, out="1 right, 0 rejected\n", err=""))
    assert (tested.code, tested.out.split()[0]) == (0, "ok")
    assert (said.code, json.loads(said.out)["code"]) == (0, "ok")
    assert ias(tmp_path, "run", "echo", "--text", 'a "b" \\ c').out == 'a "b" \\ c\n'


def test_a_tool_is_not_made_over_another(tmp_path: Path) -> None:
    assert ias(tmp_path, "tools", "new", "echo").code == 0
    assert ias(tmp_path, "tools", "new", "echo").code == 2
    assert ias(tmp_path, "tools", "new", "../x").code == 2
    assert ias(tmp_path, "tools", "new", "y", "--lang", "cobol").code == 2


def test_a_rejected_spec_is_told_with_file_line_and_fix(tmp_path: Path) -> None:
    ias(tmp_path, "tools", "new", "echo")
    spec = tmp_path / TOOL / "specs" / "echo.tool.yaml"
    spec.write_text(spec.read_text().replace("risk_level: low", "risk_level: lo"))

    done = ias(tmp_path, "tools", "check", "--json")

    [problem] = json.loads(done.out)["rejected"]
    assert done.code == 1
    assert (problem["file"], problem["line"], problem["field"]) == (str(spec), 6, "risk_level")
    assert ias(tmp_path, "run", "echo").err.startswith("ias: the spec of 'echo' was rejected")


def test_run_says_what_is_wrong_with_arguments_before_anything_runs(tmp_path: Path) -> None:
    ias(tmp_path, "tools", "new", "echo")

    done = ias(tmp_path, "run", "echo", "--loud", "perhaps")

    assert (done.code, done.out) == (2, "")
    assert "text" in done.err
    assert "loud" in done.err
    assert not (tmp_path / "data").exists()


def test_permissions_explain_names_the_rule(tmp_path: Path) -> None:
    ias(tmp_path, "init", ".")

    done = ias(tmp_path, "permissions", "explain", "web_search", "POST", "https://api.tavily.com/search", "--json")
    other = ias(tmp_path, "permissions", "explain", "web_search", "POST", "https://evil.example/", "--json")

    told = json.loads(done.out)
    assert (done.code, told["permitted"]) == (0, True)
    [one], [two] = told["requests"], json.loads(other.out)["requests"]
    assert (one["verdict"], one["rule"].split(" ")[0]) == ("allow", "approvals.rules[2]")
    assert (two["verdict"], two["rule"].split(":")[0]) == ("forbid", "hosts of the spec")


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["web_search", "POST", "foo"], "'foo' is no whole address"),
        (["web_search", "kv_put"], "web_search is of type http and makes no such request"),
        (["memory_save", "GET", "https://example.com/"], "memory_save is of type db and makes no such request"),
        (["memory_save", "kv_putt"], "there is no operation 'kv_putt'"),
        (["datetime", "kv_put"], "datetime is of type local and makes no such request"),
    ],
)
def test_permissions_explain_says_what_such_a_tool_can_be_asked_about(
    tmp_path: Path, args: list[str], told: str
) -> None:
    ias(tmp_path, "init", ".")

    done = ias(tmp_path, "permissions", "explain", *args)

    assert (done.code, done.out, done.err.splitlines()[0]) == (2, "", f"ias: {told}")


def test_permissions_explain_lists_what_a_tool_declares_to_need(tmp_path: Path) -> None:
    ias(tmp_path, "init", ".")

    told = json.loads(ias(tmp_path, "permissions", "explain", "memory_delete", "--json").out)

    needed = json.loads(ias(tmp_path, "tools", "show", "memory_delete", "--json").out)["permissions"]
    wanted = [name for name, operation in OPERATIONS.items() if str(operation.permission) in needed]
    assert "delete_memory" in wanted
    assert "save_memory" not in wanted
    assert [item["request"] for item in told["requests"]] == wanted


def test_doctor_is_well_in_a_new_home_and_says_what_is_wrong_in_a_broken_one(tmp_path: Path) -> None:
    ias(tmp_path, "init", ".")
    make_store(tmp_path)
    well = json.loads(ias(tmp_path, "doctor", "--json").out)
    (tmp_path / "data" / "ias.db").chmod(0o644)
    (tmp_path / ".env").write_text("DEEPSEEK_API_KEY=sk-12345\n")
    broken = ias(tmp_path, "doctor", "--json")

    assert well["ok"] is True
    assert {check["name"]: check["verdict"] for check in well["checks"]} == {
        "python": "ok",
        "sqlite": "ok",
        "config": "ok",
        "store": "ok",
        "disk": "ok",
        "tools": "ok",
        "model": "note",
        "secrets": "note",
        "sandbox": "note",
        "daemon": "note",
        "clock": "ok",
    }
    wrong = [check for check in json.loads(broken.out)["checks"] if check["verdict"] == "wrong"]
    assert broken.code == 1
    assert [check["todo"].split()[0] for check in wrong] == ["chmod", "chmod"]
    assert "sk-12345" not in broken.out
    assert "key set" in broken.out


def test_a_backup_is_a_store_whose_numbers_go_on_further_ahead(tmp_path: Path) -> None:
    park(make_store(tmp_path), http_request())
    copy = tmp_path / "copy"
    (copy / "data").mkdir(parents=True)

    done = ias(tmp_path, "backup", str(copy / "data" / "ias.db"))
    again = ias(tmp_path, "backup", str(copy / "data" / "ias.db"))

    assert (done.code, again.code) == (0, 1)
    assert [row["ref"] for row in json.loads(ias(copy, "approvals", "list", "--json").out)] == ["A1"]
    assert park(copy / "data" / "ias.db", http_request())["num"] == 1002


def test_a_backup_goes_back_in_place_while_no_daemon_runs_and_not_while_one_does(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    park(store, http_request())
    told = ias(tmp_path, "backup", "copy.db").out
    park(store, http_request())

    with StateLock(store.parent):
        refused = ias(tmp_path, "restore", "copy.db")
    done = ias(tmp_path, "restore", "copy.db", "--json")

    assert told.endswith(f"to go back to it: stop the daemon, then ias restore {tmp_path}/copy.db\n")
    assert (refused.code, "stop it" in refused.err) == (1, True)
    assert (done.code, json.loads(done.out)["store"]) == (0, str(store))
    assert Path(json.loads(done.out)["kept"]).exists()
    assert [row["ref"] for row in json.loads(ias(tmp_path, "approvals", "list", "--json").out)] == ["A1"]
    assert ias(tmp_path, "restore", "nothing.db").code == 4
    assert "is now what" in ias(tmp_path, "restore", "copy.db").out


def test_doctor_finds_damage_that_no_command_has_met(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE").fetchall()
        (page,) = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'memory'").fetchone()
    content = bytearray(store.read_bytes())
    content[4096 * (page - 1) : 4096 * page] = b"\xff" * 4096
    store.write_bytes(bytes(content))

    assert ias(tmp_path, "queue", "stats").code == 0
    checks = json.loads(ias(tmp_path, "doctor", "--json").out)["checks"]
    assert [(check["verdict"], "restore" in check["todo"]) for check in checks if check["name"] == "store"] == [
        ("wrong", True)
    ]


def test_runs_and_queue_show_what_is_there(tmp_path: Path) -> None:
    row = park(make_store(tmp_path), http_request())

    [listed] = json.loads(ias(tmp_path, "runs", "list", "--json").out)
    shown = json.loads(ias(tmp_path, "runs", "show", row["run_id"][:8], "--json").out)
    queue = json.loads(ias(tmp_path, "queue", "stats", "--json").out)

    assert (listed["id"], listed["state"], listed["args"]) == (row["run_id"], "parked", {"text": "hi"})
    assert [(step["state"], step["request"]["path"]) for step in shown["steps"]] == [("prepared", "/v1/notes")]
    assert "send_token" not in shown["steps"][0]
    assert queue["open"] == {"turns": 0, "runs": 1, "approvals": 1, "deliveries": 1, "dead_letters": 0}
    assert "waits for     A1\n" in ias(tmp_path, "runs", "show", row["run_id"]).out
    assert ias(tmp_path, "runs", "show", "zzzz").code == 4
    assert ias(tmp_path, "queue", "drop", "zzzz").code == 4


def test_a_call_says_who_decided_and_how_long_it_waited_for_a_person(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    row = park(store, http_request())
    ias(tmp_path, "approve", "A1", "--yes")
    job = run_once(store, claim(Queue.TOOL, "test", "token-2", 60_000))
    assert isinstance(job, Job)
    run_once(store, consume_approval(Terms(), job, run_id=row["run_id"], no=1))

    shown = ias(tmp_path, "runs", "show", row["run_id"]).out

    [approval] = json.loads(ias(tmp_path, "approvals", "list", "--state", "all", "--json").out)
    waited = approval["decided_at"] - approval["created_at"]
    assert f"the tool itself 5 ms, waiting for a person {waited} ms\n" in shown
    assert f"  decided by  A1, {approval['decided_by']}\n" in shown


def test_a_rejected_spec_is_found_by_the_name_in_it_too(tmp_path: Path) -> None:
    ias(tmp_path, "tools", "new", "echo")
    spec = tmp_path / TOOL / "specs" / "echo.tool.yaml"
    spec.write_text(spec.read_text().replace("name: echo", "name: parrot").replace("type: local", "type: loca"))

    done = ias(tmp_path, "run", "parrot", "--text", "x")

    assert (done.code, done.err.splitlines()[0]) == (4, "ias: the spec of 'parrot' was rejected")
    assert done.err.splitlines()[-1] == "     `ias tools check` shows all that is wrong"


def test_a_dead_letter_is_listed_cannot_be_tried_again_where_it_was_answered_and_is_dropped(tmp_path: Path) -> None:
    job = bury_call(make_store(tmp_path))

    [listed] = json.loads(ias(tmp_path, "queue", "dead", "--json").out)
    table = ias(tmp_path, "queue", "dead").out
    again = ias(tmp_path, "queue", "retry", job.id)
    dropped = ias(tmp_path, "queue", "drop", job.id[2:8])

    assert (listed["id"], listed["last_error"], "lease_token" in listed) == (job.id, "no\nluck", False)
    assert table.splitlines()[1].endswith("no luck")
    assert (again.code, again.err.splitlines()[0]) == (1, f"ias: {job.id} was not tried again")
    assert dropped == Ended(code=0, out=f"{job.id} is forgotten\n", err="")
    assert json.loads(ias(tmp_path, "queue", "dead", "--json").out) == []
