"""The environment and `.env`: what is read, and that values are not shown."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ias.config.env import SecretRef, UnsetError, fill, load_env
from ias.errors import ConfigError


def test_lines_of_env_are_read_and_the_environment_goes_first(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(
        "\ufeff# keys\n"
        "A=1\n"
        "  export B = two words  # not a part\n"
        "C='single # kept'\n"
        'D="double"  # not a part\n'
        "E=\n"
        "F=a#b\n"
        "G=x=y\n"
        "H=# nothing\n"
        "OURS=file\n",
        "utf-8",
    )

    assert load_env(tmp_path, {"OURS": "environment", "Z": "z"}) == {
        "A": "1",
        "B": "two words",
        "C": "single # kept",
        "D": "double",
        "E": "",
        "F": "a#b",
        "G": "x=y",
        "H": "",
        "OURS": "environment",
        "Z": "z",
    }


def test_a_file_that_is_not_there_adds_nothing(tmp_path: Path) -> None:
    assert load_env(tmp_path, {"A": "1"}) == {"A": "1"}


def test_a_bad_line_is_told_without_its_text(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text("A=1\nsk-my-secret\n")

    with pytest.raises(ConfigError) as caught:
        load_env(tmp_path, {})
    assert str(caught.value) == f"{tmp_path}/.env:2: write NAME=value, or begin the line with #"


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    (tmp_path / ".env").write_bytes(b"A=\xff\n")

    with pytest.raises(ConfigError, match=r"\.env: cannot be read: "):
        load_env(tmp_path, {})


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(content=st.binary(max_size=60) | st.text("AB=# '\"\nexport", max_size=40).map(str.encode))
def test_no_content_raises_anything_but_a_config_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / ".env").write_bytes(content)
    try:
        values = load_env(tmp_path, {})
    except ConfigError:
        return
    assert all(name.isidentifier() for name in values)


def test_names_are_filled_in_wherever_they_stand() -> None:
    assert fill("a ${X}${Y_2} $X ${x} ${}", {"X": "1", "Y_2": "2"}) == "a 12 $X ${x} ${}"


@pytest.mark.parametrize("env", [{}, {"X": ""}])
def test_a_name_without_a_value_is_told(env: dict[str, str]) -> None:
    with pytest.raises(UnsetError) as caught:
        fill("${X}", env)
    assert str(caught.value) == "needs ${X}, which is not set; put X=… into the environment or into .env"
    assert caught.value.name == "X"


def test_a_secret_is_shown_only_as_a_reference() -> None:
    assert (str(SecretRef("${KEY}")), repr(SecretRef("${KEY}"))) == ("${KEY}", "SecretRef('${KEY}')")
    assert (str(SecretRef("sk-1")), repr(SecretRef("sk-1"))) == ("***", "SecretRef('***')")
    assert str(SecretRef("sk-${KEY}")) == "***"
    assert SecretRef("sk-${KEY}").reveal({"KEY": "1"}) == "sk-1"
