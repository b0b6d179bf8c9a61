"""Where `ias` lives: the folder of config.yaml, tools, data and logs."""

from collections.abc import Mapping
from pathlib import Path

CONFIG_NAME = "config.yaml"


def find_home(option: Path | None, *, env: Mapping[str, str], cwd: Path) -> Path:
    """Give the home folder as an absolute path; it need not exist.

    Args:
        option: What `--home` says.
        env: Where IAS_HOME is looked up.
        cwd: The current folder: it is the home if it holds a config.yaml.
    """
    if option is not None:
        return cwd / option.expanduser()
    if named := env.get("IAS_HOME"):
        return cwd / Path(named).expanduser()
    if (cwd / CONFIG_NAME).is_file():
        return cwd
    return Path(env.get("HOME") or Path.home()) / ".ias"
