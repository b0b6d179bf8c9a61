"""Which variables no tool may name in `env`."""

import re

# Variables that make a loader or an interpreter run or fetch something else than what was checked.
LOADERS = re.compile(
    r"LD_.*|DYLD_.*|PYTHON.*|NODE_.*|NPM_.*|PERL5.*|PERLLIB|RUBY.*|GEM_.*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|GLIBC_TUNABLES"
    r"|BASH_.*|ENV|IFS|SHELLOPTS|GIT_.*|SSL_.*|(ALL|HTTPS?|FTP|NO)_PROXY|IAS_.*",
    re.IGNORECASE,
)
# Keys of model providers, as their own documentation names them: the daemon's, whatever the configuration says.
PROVIDER_KEYS = frozenset({"ANTHROPIC_API_KEY", "DASHSCOPE_API_KEY", "DEEPSEEK_API_KEY", "OPENAI_API_KEY"})


def refusal(name: str, *, withheld: frozenset[str] = frozenset()) -> str | None:
    """Say why no tool may get a variable, or None if one may.

    Args:
        name: The variable.
        withheld: More variables with the daemon's own credentials.
    """
    if name in PROVIDER_KEYS or name in withheld:
        return f"the variable {name} holds a credential of ias itself"
    if LOADERS.fullmatch(name):
        return f"the variable {name} changes what a program loads or where it connects"
    return None
