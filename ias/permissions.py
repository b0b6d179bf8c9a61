"""Which permissions a tool may use: two lists, one switch, four rules in their order. Final; before any approval."""

from collections.abc import Iterable
from dataclasses import dataclass

from ias.domain.tools import Permission
from ias.errors import PermissionDeniedError


@dataclass(frozen=True, slots=True, kw_only=True)
class PermissionConfig:
    """What is allowed and denied; the defaults are the library's, config.yaml has its own.

    Attributes:
        allowed: What tools may need; empty: whatever is not denied, if `allow_unspecified` says so.
        denied: What they may not need, allowed or not.
        allow_unspecified: Decides on tools that declare no permission, and on every permission that is not denied while
            `allowed` is empty.

    Example:
        ```python
        PermissionConfig(allowed=(Permission.READ, Permission.custom("calendar")), denied=(Permission.SHELL,))
        ```
    """

    allowed: tuple[Permission, ...] = (Permission.READ, Permission.NETWORK)
    denied: tuple[Permission, ...] = (Permission.DELETE, Permission.SHELL)
    allow_unspecified: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """The rule that decided, in words for a person; `permission` is None for a tool that declares none."""

    is_allowed: bool
    permission: Permission | None
    rule: str


class PermissionChecker:
    """Decides whether a tool may be used at all.

    For each permission that a tool needs, the first rule that fits decides:

    1. it is in `denied`: no
    2. it is in `allowed`: yes
    3. `allowed` is not empty: no
    4. `allow_unspecified` says

    A tool needs every permission that it declares; one that declares none is decided by `allow_unspecified`.

    Args:
        config: The lists; by default the library's own.

    Example:
        ```python
        checker = PermissionChecker(PermissionConfig(denied=(Permission.NETWORK,)))
        checker.check("get_weather", [Permission.NETWORK])  # raises PermissionDeniedError
        ```
    """

    def __init__(self, config: PermissionConfig | None = None) -> None:
        self.config = config or PermissionConfig()

    def check(self, tool_name: str, permissions: Iterable[Permission]) -> None:
        """Let a tool pass.

        Args:
            tool_name: For the message.
            permissions: What it declares.

        Raises:
            PermissionDeniedError: Naming the tool, the permission and the rule.
        """
        ruling = self.explain(permissions)
        if ruling.is_allowed:
            return
        needs = "declares no permission" if ruling.permission is None else f"needs the permission {ruling.permission}"
        raise PermissionDeniedError(f"the tool {tool_name!r} {needs}, which is not allowed: {ruling.rule}")

    def explain(self, permissions: Iterable[Permission]) -> Ruling:
        """Give the rule that decides: the first that refuses a permission, else the one that let the last pass.

        Args:
            permissions: What a tool declares.
        """
        ruling = _unspecified(is_allowed=self.config.allow_unspecified, permission=None)
        for permission in permissions:
            ruling = self._decide(permission)
            if not ruling.is_allowed:
                return ruling
        return ruling

    def _decide(self, permission: Permission) -> Ruling:
        if permission in self.config.denied:
            return Ruling(is_allowed=False, permission=permission, rule=f"permissions.denied holds {permission}")
        if permission in self.config.allowed:
            return Ruling(is_allowed=True, permission=permission, rule=f"permissions.allowed holds {permission}")
        if self.config.allowed:
            return Ruling(
                is_allowed=False, permission=permission, rule=f"permissions.allowed does not hold {permission}"
            )
        return _unspecified(is_allowed=self.config.allow_unspecified, permission=permission)


def _unspecified(*, is_allowed: bool, permission: Permission | None) -> Ruling:
    rule = f"permissions.allow_unspecified is {'true' if is_allowed else 'false'}"
    return Ruling(is_allowed=is_allowed, permission=permission, rule=rule)
