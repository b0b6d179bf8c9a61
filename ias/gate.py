"""The gate: what a tool asks for becomes canonical bytes, the policy judges them, what is allowed gets a `Grant`."""

import json
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from ias.domain.approvals import (
    CanonicalRequest,
    Grant,
    Judgement,
    RequestView,
    Safety,
    StandingRule,
    StepKind,
    Verdict,
    canonical,
    digest_of,
    slots,
)
from ias.domain.messages import JsonObject, JsonValue
from ias.domain.tools import Ask, CallAsk, CallContext, DbAsk, HttpAsk, Permission, Risk, ToolFacts, ToolType
from ias.domain.urls import Url, any_matches, parse_url
from ias.errors import Code, PermissionDeniedError, ToolError
from ias.permissions import PermissionChecker
from ias.policy import READING, Decision, Level, WrittenRule, decide, is_asked_whole
from ias.store.base import Row
from ias.store.transactions.operations import OPERATIONS

STRICTNESS = (Verdict.ALLOW, Verdict.ASK, Verdict.FORBID)
RULE_ID = "u_"  # how ids of standing rules begin
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Reader(Protocol):
    """The reading half of a store."""

    async def read(self, name: str, **params: object) -> list[Row]:
        """Run a reading statement by its name."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GateSettings:
    """The operator's word: levels by risk, rules, which secret may go to which hosts.

    `reroute` names origins that tests answer themselves, `idempotency` the header by which a host removes duplicates.
    """

    levels: Mapping[Risk, Level]
    rules: Sequence[WrittenRule] = ()
    secret_hosts: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: {})
    reroute: Mapping[str, str] = field(default_factory=lambda: {})
    idempotency: Mapping[str, str] = field(default_factory=lambda: {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Examined:
    """One request, written down and looked at; `refusal` says why it can never be allowed."""

    request: CanonicalRequest
    view: RequestView
    refusal: tuple[Code, str] | None = None


class Gate:
    """Judges requests and hands out grants; nothing else in `ias` makes one."""

    def __init__(self, settings: GateSettings, checker: PermissionChecker, store: Reader) -> None:
        self._settings = settings
        self._checker = checker
        self._store = store

    async def judge_call(self, facts: ToolFacts, args: JsonObject, context: CallContext) -> Judgement | None:
        """Judge a whole call before its program starts; None where this kind of tool is judged request by request.

        What a rule or a level forbids is forbidden before anything starts. A person is asked here only about programs
        without requests of their own (`local`); a call of an in-process tool is a request itself.

        Raises:
            PermissionDeniedError: The configuration does not grant what the tool declares.
        """
        self._checker.check(facts.name, facts.permissions)
        ask = CallAsk(kind=StepKind.START, args=args)
        view = self._examine(ask, facts, context).view
        decision = self._decide_one(view, facts, standing=(), is_new_host=False)
        is_local = facts.type is ToolType.LOCAL
        if decision.verdict is Verdict.FORBID or (
            is_local and (decision.verdict is Verdict.ASK or is_asked_whole(facts))
        ):
            return await self.judge((ask,), facts, context)
        return None

    async def judge(self, asks: tuple[Ask, ...], facts: ToolFacts, context: CallContext) -> Judgement:
        """Judge what a tool asks for in one step: the strictest verdict of all its parts.

        Raises:
            ToolError: A part is malformed: an URL that cannot be parsed, an unknown operation, wrong parameters.
        """
        examined = tuple(self._examine(ask, facts, context) for ask in asks)
        requests = tuple(part.request for part in examined)
        digest = digest_of(tuple(request.text for request in requests))
        for part in examined:
            if part.refusal is not None:
                code, reason = part.refusal
                return Judgement(
                    verdict=Verdict.FORBID, requests=requests, digest=digest, rule=str(code), code=code, reason=reason
                )
        decisions = await self._decide(examined, facts, context)
        strictest = max(decisions, key=lambda decision: STRICTNESS.index(decision.verdict))
        return Judgement(
            verdict=strictest.verdict,
            requests=requests,
            digest=digest,
            rule=strictest.rule,
            rule_id=next((decision.rule_id for decision in decisions if decision.rule_id), None),
            reason=f"forbidden by {strictest.rule}" if strictest.verdict is Verdict.FORBID else "",
        )

    def grant(
        self,
        kind: StepKind,
        text: str,
        facts: ToolFacts,
        *,
        granted_by: str,
        safety: Safety,
    ) -> Grant:
        """Give the proof that stored bytes may be carried out now, after looking for a FORBID once more.

        Args:
            kind: What the stored request is.
            text: Its stored bytes.
            facts: The tool, as it is now.
            granted_by: The approval, rule or policy that allowed it.
            safety: Whether it may be sent again.

        Raises:
            PermissionDeniedError: It is forbidden by now.
        """
        view = view_of(kind, text, facts)
        refusal = self._refusal(view, facts, json.loads(text))
        if refusal is not None:
            raise PermissionDeniedError(refusal[1], code=refusal[0])
        level = self._settings.levels[facts.risk]
        by_level = Level.NEVER if granted_by.startswith(RULE_ID) else level  # a standing rule goes before the level
        now = decide(view, facts, written=self._settings.rules, standing=(), level=by_level, is_new_host=False)
        if now.verdict is Verdict.FORBID:
            raise PermissionDeniedError(f"forbidden by {now.rule}")
        return Grant(
            text=text,
            digest=digest_of((text,)),
            kind=kind,
            safety=safety,
            granted_by=granted_by,
            hosts=facts.hosts,
            secrets=facts.secrets,
        )

    async def _decide(
        self, examined: tuple[Examined, ...], facts: ToolFacts, context: CallContext
    ) -> tuple[Decision, ...]:
        met = await self._met_hosts(context)
        standing = await self._standing(facts, context)
        return tuple(
            self._decide_one(part.view, facts, standing=standing, is_new_host=part.view.place not in met)
            for part in examined
        )

    def _decide_one(
        self, view: RequestView, facts: ToolFacts, *, standing: tuple[StandingRule, ...], is_new_host: bool
    ) -> Decision:
        return decide(
            view,
            facts,
            written=self._settings.rules,
            standing=standing,
            level=self._settings.levels[facts.risk],
            is_new_host=is_new_host,
        )

    async def _met_hosts(self, context: CallContext) -> frozenset[str]:
        rows = await self._store.read("met_hosts", conversation_id=context.conversation_id)
        return frozenset(row["host"] for row in rows)

    async def _standing(self, facts: ToolFacts, context: CallContext) -> tuple[StandingRule, ...]:
        rows = await self._store.read(
            "rules_for_tool",
            tool=facts.name,
            tool_hash=facts.sha256,
            conversation_id=context.conversation_id,
            user_id=context.user_id,
        )
        return tuple(
            StandingRule(
                id=row["id"],
                num=row["num"],
                tool=row["tool"],
                tool_hash=row["tool_hash"],
                method=row["method"],
                host=row["host"],
                path=row["path"],
                conversation_id=row["conversation_id"],
                user_id=row["user_id"],
            )
            for row in rows
        )

    def _examine(self, ask: Ask, facts: ToolFacts, context: CallContext) -> Examined:
        body = _caller(facts, context)
        safety, idem_key = Safety.ONCE, None
        match ask:
            case HttpAsk():
                url = _parse(ask.url)
                idem_key = self._idem_key(ask, url)
                safety = Safety.REPEAT if ask.method in READING or idem_key else Safety.ONCE
                body |= {"kind": StepKind.HTTP} | self._http_body(ask, url, idem_key)
            case DbAsk():
                body |= {"kind": StepKind.DB} | _db_body(ask)
            case CallAsk():
                body |= {"kind": ask.kind, "args": _json(ask.args)}
        text = canonical(body)
        view = view_of(StepKind(str(body["kind"])), text, facts)
        request = CanonicalRequest(
            kind=view.kind,
            text=text,
            digest=digest_of((text,)),
            safety=safety,
            method=view.method,
            host=view.place,
            path=view.path,
            idem_key=idem_key,
        )
        return Examined(request=request, view=view, refusal=self._refusal(view, facts, body))

    def _idem_key(self, ask: HttpAsk, url: Url) -> str | None:
        """Give the value by which a host knows a repeat: the tool's own if it wrote one, else a new one."""
        header = self._settings.idempotency.get(url.host)
        if header is None or ask.method in READING:
            return None
        own = (value for name, value in ask.headers if name.lower() == header.lower())
        return next(own, None) or secrets.token_hex(16)

    def _http_body(self, ask: HttpAsk, url: Url, idem_key: str | None) -> JsonObject:
        if ask.method not in METHODS:
            raise ToolError(
                f"the method {ask.method!r} is not allowed; use one of {sorted(METHODS)}", code=Code.BAD_MESSAGE
            )
        query: list[JsonValue] = [[name, value] for name, value in (*url.query, *ask.query)]
        headers: list[JsonValue] = [[name, value] for name, value in ask.headers]
        if idem_key is not None and all(value != idem_key for _, value in ask.headers):
            headers.append([self._settings.idempotency[url.host], idem_key])
        return {
            "method": ask.method,
            "scheme": url.scheme,
            "host": url.host,
            "port": url.port,
            "path": url.path,
            "query": query,
            "headers": headers,
            "body": ask.body,
            "reroute": self._settings.reroute.get(url.origin),
        }

    def _refusal(self, view: RequestView, facts: ToolFacts, body: JsonObject) -> tuple[Code, str] | None:
        try:
            self._check(view, facts)
        except PermissionDeniedError as error:
            return error.code, str(error)
        if view.kind is not StepKind.HTTP:
            return None
        if not any_matches(view.host, facts.hosts):
            named = ", ".join(facts.hosts) or "none"
            return Code.HOST_NOT_ALLOWED, f"{facts.name} may not send to {view.host!r}; its spec names: {named}"
        return self._wrong_secret(view, facts, body)

    def _check(self, view: RequestView, facts: ToolFacts) -> None:
        permission = needed(view)
        if permission is not None:
            self._checker.check(facts.name, (permission,))

    def _wrong_secret(self, view: RequestView, facts: ToolFacts, body: JsonObject) -> tuple[Code, str] | None:
        for name in slots(view.path):
            if name in self._settings.secret_hosts or name in facts.secrets:
                place = "it may stand in a query or header value, or in the body"
                return Code.SECRET_NOT_ALLOWED, f"the secret {name} stands in the path; {place}"
        for name in slots_of(body):
            if name not in self._settings.secret_hosts and name not in facts.secrets:
                continue  # no secret of anybody: plain text
            if name not in facts.secrets:
                return Code.SECRET_NOT_ALLOWED, f"{facts.name} may not use the secret {name}: its spec does not list it"
            if not any_matches(view.host, self._settings.secret_hosts.get(name, ())):
                return (
                    Code.SECRET_NOT_ALLOWED,
                    f"the secret {name} may not go to {view.host!r}; see secrets in config.yaml",
                )
        return None


def view_of(kind: StepKind, text: str, facts: ToolFacts) -> RequestView:
    """Read from stored bytes what rules can look at."""
    body = json.loads(text)
    match kind:
        case StepKind.HTTP:
            seen = {name: body[name] for name in ("method", "scheme", "host", "port", "path")}
            return RequestView(tool=facts.name, kind=kind, **seen)
        case StepKind.DB:
            operation = OPERATIONS[body["operation"]]
            return RequestView(tool=facts.name, kind=kind, method=operation.name, deletes=operation.deletes)
        case StepKind.START | StepKind.CALL:
            return RequestView(tool=facts.name, kind=kind, path=digest_of((body["args"],)))


def needed(view: RequestView) -> Permission | None:
    """Give the permission that a request itself needs, whatever the spec declares."""
    match view.kind:
        case StepKind.HTTP:
            return Permission.NETWORK
        case StepKind.DB:
            return OPERATIONS[view.method].permission
        case StepKind.START | StepKind.CALL:
            return None


def slots_of(body: JsonObject) -> tuple[str, ...]:
    """Give the secrets that an http request names: in the values of its query and headers, and in its body."""
    texts = [str(body.get("body") or "")]
    for part in ("query", "headers"):
        pairs = body.get(part)
        texts.extend(str(pair[1]) for pair in (pairs if isinstance(pairs, list) else []) if isinstance(pair, list))
    return tuple(name for text in texts for name in slots(text))


def _caller(facts: ToolFacts, context: CallContext) -> JsonObject:
    return {
        "v": 1,
        "tool": facts.name,
        "tool_sha256": facts.sha256,
        "user": context.user_id,
        "conversation": context.conversation_id,
        "call": context.call_id,
    }


def _parse(url: str) -> Url:
    try:
        return parse_url(url)
    except ValueError as error:
        raise ToolError(str(error), code=Code.BAD_MESSAGE) from error


def _db_body(ask: DbAsk) -> JsonObject:
    operation = OPERATIONS.get(ask.operation)
    if operation is None:
        raise ToolError(
            f"there is no operation {ask.operation!r}; there are {', '.join(OPERATIONS)}", code=Code.BAD_MESSAGE
        )
    return {"operation": ask.operation, "params": _json(operation.check(ask.params))}


def _json(value: JsonObject) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
