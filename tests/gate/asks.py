"""Tools, requests and gates of the tests: short ways to make what only differs in one thing."""

from dataclasses import replace
from typing import Any

from ias.config.rules import Rule
from ias.domain.approvals import RequestView, StandingRule, StepKind, Verdict
from ias.domain.tools import CallContext, HttpAsk, Permission, Risk, ToolFacts, ToolType
from ias.gate import Gate, GateSettings
from ias.permissions import PermissionChecker, PermissionConfig
from ias.policy import Level
from tests.store.world import World

LEVELS = {Risk.LOW: Level.WRITES, Risk.MEDIUM: Level.HOSTS, Risk.HIGH: Level.ALL}
FACTS = ToolFacts(
    name="orders",
    sha256="a" * 64,
    type=ToolType.HTTP,
    group="shop",
    hosts=("api.example.com", "*.shop.example.com"),
    secrets=("SHOP_KEY",),
    permissions=(Permission.NETWORK,),
)
CONTEXT = CallContext(user_id="ann", conversation_id="c_1", call_id="r_1")
GET = HttpAsk(method="GET", url="https://api.example.com/v1/orders?page=1")
POST = HttpAsk(
    method="POST",
    url="https://api.example.com/v1/orders?dry=no",
    query=(("lang", "zh"),),
    headers=(("Content-Type", "application/json"), ("X-Key", "${SHOP_KEY}")),
    body='{"item": 7}',
)
VIEW = RequestView(tool="orders", kind=StepKind.HTTP, method="POST", host="api.example.com", path="/v1/orders")
ALLOWED = (Permission.READ, Permission.WRITE, Permission.DELETE, Permission.NETWORK)


def settings(**changes: Any) -> GateSettings:
    """Make the operator's word: the usual levels, one secret for one host."""
    usual = GateSettings(levels=LEVELS, secret_hosts={"SHOP_KEY": ("api.example.com",), "OTHER_KEY": ("*",)})
    return replace(usual, **changes)


def gate_of(world: World, *, allowed: tuple[Permission, ...] = ALLOWED, **changes: Any) -> Gate:
    """Make a gate over a store."""
    checker = PermissionChecker(PermissionConfig(allowed=allowed, denied=(), allow_unspecified=True))
    return Gate(settings(**changes), checker, world.store)


def rule(verdict: Verdict, label: str = "", **conditions: Any) -> Rule:
    """Make a written rule."""
    return Rule(verdict=verdict, label=label or f"rules[{verdict}]", **conditions)


def standing(**changes: Any) -> StandingRule:
    """Make a standing rule on exactly VIEW."""
    usual = StandingRule(
        id="u_1",
        num=3,
        tool="orders",
        tool_hash="a" * 64,
        method="POST",
        host="api.example.com",
        path="/v1/orders",
    )
    return replace(usual, **changes)
