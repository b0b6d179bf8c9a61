"""A tool's spec: what a good one becomes, and what is said of each kind of bad one."""

import os
from pathlib import Path

import pytest

from ias.domain.tools import Example, Limits, Permission, Risk, ToolSpec, ToolType
from ias.toolspec.loading import load_spec
from ias.toolspec.problems import SpecError
from tests.registry.spec_folder import GOOD, told, write_spec

FULL = """\
name: weather_now
desc: |
  实时天气
type: http
tool: weather
command: now
path: greet.py
risk_level: medium
timeout_secs: 10
env: [QWEATHER_HOST]
params:
  - name: location
    required: true
    desc: 城市
    pattern: ^\\S+$
  - {name: days, type: integer, minimum: 1, maximum: 7.5, default: 3}
  - {name: lang, enum: [zh, en]}
  - {name: tags, type: array, items: {type: string, enum: [a, b]}}
secrets: [QWEATHER_KEY]
hosts: ["*.QWeatherAPI.com", api.open-meteo.com]
permissions: [network, custom:weather]
keywords: [天气, no, 12:30]
examples:
  - ask: 北京天气
    params: {location: 北京, days: 2}
limits: {max_steps: 3, memory_mb: 64, output_kb: 16, warm: off}
"""


def test_all_sixteen_fields_are_read(tmp_path: Path) -> None:
    file = write_spec(tmp_path, FULL)

    assert load_spec(file, project=tmp_path) == ToolSpec(
        name="weather_now",
        desc="实时天气",
        type=ToolType.HTTP,
        group="weather",
        program=tmp_path / "tools/greet/greet.py",
        folder=tmp_path / "tools/greet",
        file=file,
        command="now",
        risk=Risk.MEDIUM,
        timeout=10.0,
        env=("QWEATHER_HOST",),
        parameters={
            "type": "object",
            "properties": {
                "location": {"type": "string", "description": "城市", "pattern": "^\\S+$"},
                "days": {"type": "integer", "minimum": 1, "maximum": 7.5, "default": 3},
                "lang": {"type": "string", "enum": ["zh", "en"]},
                "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
            },
            "additionalProperties": False,
            "required": ["location"],
        },
        secrets=("QWEATHER_KEY",),
        hosts=("*.qweatherapi.com", "api.open-meteo.com"),
        permissions=(Permission.NETWORK, Permission.custom("weather")),
        keywords=("天气", "no", "12:30"),
        examples=(Example(ask="北京天气", params={"location": "北京", "days": 2}),),
        limits=Limits(max_steps=3, memory_mb=64, output_kb=16, warm="off"),
    )


@pytest.mark.parametrize(
    ("kind", "permissions"),
    [("http", (Permission.NETWORK,)), ("db", (Permission.READ,)), ("local", ())],
)
def test_what_is_left_out_has_its_default(tmp_path: Path, kind: str, permissions: tuple[Permission, ...]) -> None:
    file = write_spec(tmp_path, GOOD.replace("local", kind))

    assert load_spec(file, project=tmp_path) == ToolSpec(
        name="greet",
        desc="Say hello",
        type=ToolType(kind),
        group="greet",
        program=tmp_path / "tools/greet/greet.py",
        folder=tmp_path / "tools/greet",
        file=file,
        parameters={"type": "object", "properties": {}, "additionalProperties": False},
        permissions=permissions,
    )


def test_a_program_must_be_an_executable_file_within_the_tools_folder(tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "greet"
    write_spec(tmp_path, GOOD)
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "inner").mkdir()
    (folder / "out").symlink_to(tmp_path)
    (tmp_path / "secret.py").write_text("")
    (folder / "link.py").symlink_to(tmp_path / "secret.py")
    (folder / "loop.py").symlink_to(folder / "loop.py")

    def of(path: str) -> str:
        return told(tmp_path, GOOD.replace("greet.py", path))[0].removeprefix("4 path: ")

    assert of("run.sh") == f"the program 'run.sh' is not executable; run `chmod +x {folder}/run.sh`"
    assert of("no.py") == f"the program 'no.py' is not there; create {folder}/no.py, or correct the path"
    assert of("inner") == "the program 'inner' is no regular file; name the file that runs"
    for path in ("../../secret.py", "link.py", "out/secret.py"):
        assert of(path) == f"the program '{path}' leads out of the tool's folder; put it into the tool's folder"
    assert of("/../secret.py") == "the program '/../secret.py' leads out of the project; put it into the project"
    assert of("loop.py").startswith("the program 'loop.py' cannot be reached: ")


def test_a_leading_slash_means_the_projects_root(tmp_path: Path) -> None:
    program = tmp_path / "target" / "release" / "weather"
    program.parent.mkdir(parents=True)
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    file = write_spec(tmp_path, GOOD.replace("greet.py", "/target/release/weather"))

    assert load_spec(file, project=tmp_path).program == program


def test_a_withheld_variable_is_refused(tmp_path: Path) -> None:
    file = write_spec(tmp_path, GOOD + "env: [MY_TOKEN]\n")

    with pytest.raises(SpecError) as caught:
        load_spec(file, project=tmp_path, withheld=frozenset({"MY_TOKEN"}))
    assert str(caught.value) == (
        f"{file}:5: the variable MY_TOKEN holds a credential of ias itself; "
        "remove it from `env`; a key that the tool needs belongs into `secrets`"
    )


def test_a_spec_that_is_a_pipe_does_not_hold_the_scan_up(tmp_path: Path) -> None:
    file = write_spec(tmp_path, GOOD)
    file.unlink()
    os.mkfifo(file)

    with pytest.raises(SpecError) as caught:
        load_spec(file, project=tmp_path)
    assert str(caught.value) == f"{file}:1: is no regular file; remove it"
