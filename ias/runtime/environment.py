"""The variables that a program gets: a small base, and what its spec names."""

import re
from collections.abc import Mapping

from ias.errors import Code, ToolError
from ias.toolspec.variables import refusal

PATH_DEFAULT = "/usr/local/bin:/usr/bin:/bin"
LANG_DEFAULT = "C.UTF-8"
# How names of credentials end; one that the configuration does not name as a secret is not shown all the same.
CREDENTIAL = re.compile(r"(?:.*_)?(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)")


def environment(
    names: tuple[str, ...],
    *,
    variables: Mapping[str, str],
    secrets: frozenset[str],
    withheld: frozenset[str] = frozenset(),
) -> dict[str, str]:
    """Give a program's environment, without TMPDIR, which differs from call to call.

    Args:
        names: What the spec names. One that is not set is left out; a secret, and whatever is named like one, passes as
            the text `${NAME}`.
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
        if name in secrets or CREDENTIAL.fullmatch(name):
            given[name] = f"${{{name}}}"
            continue
        problem = refusal(name, withheld=withheld)
        if problem is not None:
            raise ToolError(problem, code=Code.SPAWN_FAILED)
        if name in variables:
            given[name] = variables[name]
    return given
