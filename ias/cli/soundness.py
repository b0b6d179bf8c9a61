"""What `ias serve` would refuse, or do without, although config.yaml is well formed: found without opening anything."""

from collections.abc import Iterator

from ias.config.load import Config
from ias.errors import ConfigError

FOLDERS_SHOWN = 8


def check_sound(config: Config) -> None:
    """Look at what the keys come to together.

    Raises:
        ConfigError: Something is wrong; all that was found, one a line, each with its line and what to write instead.
    """
    found = list(_faults(config))
    if found:
        raise ConfigError("\n".join([str(found[0]), *(str(other) for other in found[1:])]))


def _faults(config: Config) -> Iterator[ConfigError]:
    from ias.daemon.parts import llm_settings, refuse_unbuilt  # loads the daemon's parts: only where they are asked
    from ias.providers.choose import choose

    yield from _missing_folders(config)
    try:
        _ = config.database
    except ConfigError as error:
        yield error
    try:
        refuse_unbuilt(config)
    except ConfigError as error:
        yield error
    try:
        choose(llm_settings(config), config.env)
    except ConfigError as error:
        yield error if error.file is not None else _placed(config, str(error))


def _placed(config: Config, message: str) -> ConfigError:
    """Give an error about the model its line: that of the key it begins with, else of the provider."""
    key = message.partition(" ")[0]
    keys = tuple(key.split(".")) if key.startswith("llm.") else ("llm", "provider")
    return ConfigError(message, file=config.file, line=config.document.line(keys))


def _missing_folders(config: Config) -> Iterator[ConfigError]:
    for number, folder in enumerate(config.settings.tools.dirs):
        keys = ("tools", "dirs", number)
        if keys not in config.document.lines or config.path(folder).is_dir():
            continue  # the default's folder need not be there
        beside = sorted(other.name for other in config.home.iterdir() if other.is_dir())
        message = f"tools.dirs[{number}]: there is no folder {str(config.path(folder))!r}"
        todo = f"beside config.yaml are {', '.join(beside[:FOLDERS_SHOWN])}" if beside else "make it, or leave it out"
        yield ConfigError(f"{message}; {todo}", file=config.file, line=config.document.line(keys))
