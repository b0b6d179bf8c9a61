"""The way in: a message is checked, stored, and only then acknowledged; commands in a chat act here."""

import re
from dataclasses import dataclass

from structlog.contextvars import bound_contextvars

from ias.domain.approvals import Scope
from ias.domain.messages import replace_surrogates
from ias.errors import IasError, NotFoundError
from ias.logs import Logs
from ias.store import words
from ias.store.base import Row, Store, Terms
from ias.store.results import Command, CommandKind, Decision, Submitted
from ias.store.transactions.approvals import decide_approval
from ias.store.transactions.turns import submit_message
from ias.store.words import Phrase

TEXT_MAX = 100_000  # characters; a longer message would not fit a model's context beside its history
NAME_MAX = 200  # characters of a user id, address or source id
COMMAND = re.compile(r"/(cancel|new|approve|deny)(?:\s+(\S+))?(?:\s+(.*))?", re.DOTALL)

NAME_THE_REQUEST = Phrase("请写上请求编号，例如 /approve A12 7f3a。", "Name the request, as in /approve A12 7f3a.")
NO_SUCH_REQUEST = Phrase("没有等待你批准的请求 {ref}。", "No request {ref} waits for you.")
REPEAT_THE_DIGEST = Phrase(
    "为了确认你看过内容，请写 /approve {ref} {digest}", "To show that you read it, write /approve {ref} {digest}"
)
APPROVED = Phrase("已批准 {ref}。", "{ref} is approved.")
DENIED = Phrase("已拒绝 {ref}。", "{ref} is denied.")
DECIDED_BEFORE = Phrase("{ref} 之前已有结果：{state}。", "{ref} was settled before: {state}.")


class UnfitMessageError(IasError):
    """A message that cannot be taken: empty, too long, or from nobody."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A message as a channel got it; `source_id` is the channel's own id of it, by which duplicates are found."""

    channel: str
    address: str
    user_id: str
    text: str
    source_id: str | None = None
    turn_id: str | None = None


class Intake:
    """Stores messages. What it returned is durable; what it refused was not stored."""

    def __init__(self, store: Store, terms: Terms, logs: Logs) -> None:
        self._store = store
        self._terms = terms
        self._logs = logs

    async def submit(self, incoming: Incoming) -> Submitted:
        """Store a message, or carry out the command that it is.

        Raises:
            UnfitMessageError: It is empty, too long, or names nobody.
            TooDeepError: Too many messages wait already.
            StateError: It could not be stored.
        """
        text = _checked(incoming)
        command = await self._command(incoming, text)
        stored = await self._store.run(
            submit_message(
                self._terms,
                channel=incoming.channel,
                address=incoming.address,
                user_id=incoming.user_id,
                source_id=incoming.source_id,
                text=text,
                command=command,
            )
        )
        if not stored.is_duplicate:
            with bound_contextvars(conversation_id=stored.conversation_id, turn_id=stored.turn_id):
                self._logs.msg.info("message", tag="用户", user=incoming.user_id, text=text)
        return stored

    async def _command(self, incoming: Incoming, text: str) -> Command | None:
        match = COMMAND.fullmatch(text)
        if match is None:
            return None
        name, ref, rest = match.groups()
        match name:
            case "cancel":
                return Command(kind=CommandKind.CANCEL)
            case "new":
                return Command(kind=CommandKind.NEW)
            case _:
                answer = await self._decide(incoming, ref, rest or "", is_yes=name == "approve")
                return Command(kind=CommandKind.OTHER, answer=answer)

    async def _decide(self, incoming: Incoming, ref: str | None, rest: str, *, is_yes: bool) -> str:
        if ref is None:
            return NAME_THE_REQUEST.to(incoming.text)
        try:
            approval = await self._approval(incoming, ref)
        except NotFoundError:
            return NO_SUCH_REQUEST.to(incoming.text, ref=ref)
        if is_yes and not _shows(approval["digest"], rest):
            return REPEAT_THE_DIGEST.to(incoming.text, ref=ref, digest=approval["digest"][: words.DIGEST_SHOWN])
        decision = await self._store.run(
            decide_approval(
                self._terms,
                ref=approval["id"],
                approve=is_yes,
                scope=Scope.ONCE,
                by=incoming.user_id,
                via=incoming.channel,
                reason=None if is_yes else rest.strip() or None,
                digest=None,
            )
        )
        return _told(decision, incoming.text, ref)

    async def _approval(self, incoming: Incoming, ref: str) -> Row:
        rows = await self._store.read(
            "approval_for_user", ref=ref.removeprefix("A").removeprefix("a"), user_id=incoming.user_id
        )
        if not rows:
            raise NotFoundError(f"no request {ref!r} waits for {incoming.user_id!r}")
        return rows[0]


def _checked(incoming: Incoming) -> str:
    text = replace_surrogates(incoming.text).strip()
    if not text:
        raise UnfitMessageError("the message is empty")
    if len(text) > TEXT_MAX:
        raise UnfitMessageError(
            f"the message has {len(text)} characters, at most {TEXT_MAX} are taken; send it in parts"
        )
    for name, value in (
        ("user_id", incoming.user_id),
        ("address", incoming.address),
        ("source_id", incoming.source_id),
    ):
        if value is not None and not 0 < len(value) <= NAME_MAX:
            raise UnfitMessageError(f"{name} must have 1 to {NAME_MAX} characters")
    return text


def _shows(digest: str, repeated: str) -> bool:
    """Say whether somebody repeated a digest, or a beginning of it that is long enough."""
    seen = repeated.strip().lower()
    return len(seen) >= words.DIGEST_SHOWN and digest.startswith(seen)


def _told(decision: Decision, asked: str, ref: str) -> str:
    if decision.won:
        phrase = APPROVED if decision.state != "denied" else DENIED
        return phrase.to(asked, ref=ref)
    return DECIDED_BEFORE.to(asked, ref=ref, state=decision.state)
