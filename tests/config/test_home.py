"""Where the home is: the option, the variable, the current folder, then the person's own."""

from pathlib import Path

from ias.config.home import find_home

ENV = {"HOME": "/home/p", "IAS_HOME": "/srv/ias"}


def test_the_option_goes_before_everything(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")

    assert find_home(Path("there"), env=ENV, cwd=tmp_path) == tmp_path / "there"
    assert find_home(Path("/there"), env=ENV, cwd=tmp_path) == Path("/there")


def test_the_variable_goes_before_the_current_folder(tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("")

    assert find_home(None, env=ENV, cwd=tmp_path) == Path("/srv/ias")
    assert find_home(None, env={"IAS_HOME": "sub"}, cwd=tmp_path) == tmp_path / "sub"


def test_the_current_folder_is_the_home_if_it_holds_a_config(tmp_path: Path) -> None:
    env = {"HOME": "/home/p", "IAS_HOME": ""}

    assert find_home(None, env=env, cwd=tmp_path) == Path("/home/p/.ias")
    (tmp_path / "config.yaml").write_text("")
    assert find_home(None, env=env, cwd=tmp_path) == tmp_path
