"""The four rules of permissions, in their order, and what decides for tools that declare nothing."""

import pytest

from ias.domain.tools import Permission
from ias.errors import Code, PermissionDeniedError
from ias.permissions import PermissionChecker, PermissionConfig, Ruling

READ, WRITE, DELETE, NETWORK = Permission.READ, Permission.WRITE, Permission.DELETE, Permission.NETWORK


def checker(
    *, allowed: tuple[Permission, ...] = (), denied: tuple[Permission, ...] = (), allow_unspecified: bool = True
) -> PermissionChecker:
    return PermissionChecker(PermissionConfig(allowed=allowed, denied=denied, allow_unspecified=allow_unspecified))


def test_the_defaults_allow_read_and_network_and_deny_delete_and_shell() -> None:
    assert PermissionChecker().config == PermissionConfig(
        allowed=(READ, NETWORK), denied=(DELETE, Permission.SHELL), allow_unspecified=True
    )


def test_rule_1_a_denied_permission_is_refused_even_if_it_is_allowed_too() -> None:
    ruling = checker(allowed=(READ,), denied=(READ,)).explain((READ,))

    assert ruling == Ruling(is_allowed=False, permission=READ, rule="permissions.denied holds read")


def test_rule_2_an_allowed_permission_passes() -> None:
    ruling = checker(allowed=(READ,), allow_unspecified=False).explain((READ,))

    assert ruling == Ruling(is_allowed=True, permission=READ, rule="permissions.allowed holds read")


def test_rule_3_a_permission_outside_of_a_list_of_allowed_ones_is_refused() -> None:
    ruling = checker(allowed=(READ,), allow_unspecified=True).explain((WRITE,))

    assert ruling == Ruling(is_allowed=False, permission=WRITE, rule="permissions.allowed does not hold write")


@pytest.mark.parametrize(("is_allowed", "word"), [(True, "true"), (False, "false")])
def test_rule_4_with_an_empty_list_the_switch_decides(is_allowed: bool, word: str) -> None:
    ruling = checker(denied=(DELETE,), allow_unspecified=is_allowed).explain((WRITE,))

    assert ruling == Ruling(is_allowed=is_allowed, permission=WRITE, rule=f"permissions.allow_unspecified is {word}")


@pytest.mark.parametrize(("is_allowed", "word"), [(True, "true"), (False, "false")])
def test_a_tool_that_declares_nothing_is_decided_by_the_switch_whatever_the_lists_say(
    is_allowed: bool, word: str
) -> None:
    ruling = checker(allowed=(READ,), denied=(WRITE,), allow_unspecified=is_allowed).explain(())

    assert ruling == Ruling(is_allowed=is_allowed, permission=None, rule=f"permissions.allow_unspecified is {word}")


def test_one_refused_permission_of_several_refuses_the_tool() -> None:
    ruling = checker(allowed=(READ, NETWORK), denied=(DELETE,)).explain((READ, DELETE, WRITE))

    assert ruling == Ruling(is_allowed=False, permission=DELETE, rule="permissions.denied holds delete")


def test_a_custom_permission_is_its_own() -> None:
    mail = Permission.custom("mail.send")
    only_mail = checker(allowed=(mail,))

    assert only_mail.explain((mail,)).is_allowed
    assert not only_mail.explain((Permission.custom("mail.read"),)).is_allowed


def test_a_refusal_names_the_tool_the_permission_and_the_rule() -> None:
    with pytest.raises(PermissionDeniedError) as caught:
        checker(denied=(DELETE,)).check("wipe", (DELETE,))

    assert str(caught.value) == (
        "the tool 'wipe' needs the permission delete, which is not allowed: permissions.denied holds delete"
    )
    assert caught.value.code is Code.PERMISSION_DENIED


def test_a_refusal_of_a_tool_without_permissions_says_so() -> None:
    with pytest.raises(PermissionDeniedError) as caught:
        checker(allow_unspecified=False).check("plain", ())

    assert str(caught.value) == (
        "the tool 'plain' declares no permission, which is not allowed: permissions.allow_unspecified is false"
    )


def test_what_is_allowed_passes_in_silence() -> None:
    checker(allowed=(READ,)).check("reader", (READ, READ))
