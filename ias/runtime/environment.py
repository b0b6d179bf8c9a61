"""The variables that a program gets: a small base, and what its spec names."""

import re
from collections.abc import Mapping

from ias.errors import Code, ToolError

PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin"
LANG_DEFAULT = "C.UTF-8"
# Variables that make a loader or an interpreter run or fetch something else than what was checked.
LOADERS = re.compile(
    r"LD_.*|DYLD_.*|PYTHON.*|NODE_.*|NPM_.*|PERL5.*|PERLLIB|RUBY.*|GEM_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GLIBC_TUNABLES"
    r"|BASH_.*|ENV|IFS|SHELLOPTS|GIT_.*|SSL_.*|(ALL|HTTPS?|FTP|NO)_PROXY|IAS_.*",
    re.IGNORECASE,
)


def refusal(name: str, *, withheld: frozenset[str] = frozenset()) -> str | None:
    """Say why no tool may get a variable, or None if one may."""
    if name in withheld:
        return f"the variable {name} holds a credential of ias itself; remove it from `env`"
    if LOADERS.fullmatch(name):
        return f"the variable {name} changes what a program loads or where it connects; remove it from `env`"
    return None


def environment(
    names: tuple[str, ...],
    *,
    variables: Mapping[str, str],
    secrets: frozenset[str],
    withheld: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Give a program's environment, without TMPDIR, which differs from call to call.

    Args:
        names: What the spec names. One that is not set is left out; a secret passes as the text `${NAME}`.
        variables: The daemon's own environment.
        secrets: Names of all configured secrets.
        withheld: Names of variables with the daemon's own credentials.

    Raises:
        ToolError: If a name is refused.
    """
    lang = variables.get("LANG", "")
    given = {
        "PATH": variables.get("PATH") or PATH_DEFAULT,
        # What a tool reads and writes is UTF-8, whatever the daemon's own locale is.
        "LANG": lang if lang.lower().replace("-", "").endswith("utf8") else LANG_DEFAULT,
    }
    if "TZ" in variables:
        given["TZ"] = variables["TZ"]
    for name in names:
        if name in secrets:
            given[name] = f"${{{name}}}"
            continue
        problem = refusal(name, withheld=withheld)
        if problem is not None:
            raise ToolError(problem, code=Code.SPAWN_FAILED)
        if name in variables:
            given[name] = variables[name]
    return given
