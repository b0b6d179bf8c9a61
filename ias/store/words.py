"""The fixed words of `ias` itself: closing words, notices, questions, and results that the model is told.

What a person reads is in the language of what that person wrote (`asked`); what the model reads is English.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from ias.domain.approvals import StepKind
from ias.domain.jobs import TurnReason
from ias.domain.messages import shorten
from ias.domain.tools import Result
from ias.errors import Code
from ias.store.base import Row
from ias.store.text import is_chinese

# ------------------------------------------------------------------------------------------------- told to the model
DENIED = "the person was asked and said no: do not try this again unless you are asked to"
UNATTENDED = "this needs a person's approval and nobody can be asked here"
EXPIRED = "the person was asked and did not answer in time: say what you wanted to do and why"
LAPSED = "earlier questions of this turn were not answered in time, so this one was not asked"
NOT_USED = "it was approved but could not be carried out before the approval expired: nothing was sent"
FORBIDDEN = "the rules forbid this"
CANCELLED = "the person stopped this call"
TURN_ENDED = "the turn ended before this call was carried out"
CUT_OFF = "the call was interrupted while a request was out"
NO_ANSWER = "a request was sent and its answer never came"
KILLED = "the call failed too often and was given up"
TOLD_BYTES = 25_000  # of one result; the whole of it stays with the run
UNKNOWN_ITEMS = "It is not known whether this was carried out, do not repeat it before that was checked"


def told(result: Result) -> str:
    """Give a result as the model reads it: a long text without its middle, the code of a failure before it."""
    text = shorten(result.content, limit_bytes=TOLD_BYTES)
    return f"error ({result.code}): {text}" if result.is_error else text


def denied(reason: str | None) -> str:
    """Say that a person said no, with that person's reason."""
    return f"{DENIED}; the reason given: {reason}" if reason else DENIED


def outcome_unknown(text: str, steps: list[Row]) -> str:
    """Say which items of a call may or may not have happened."""
    return f"{text}. {UNKNOWN_ITEMS}: {', '.join(item_label(step) for step in steps)}"


def item_label(step: Row) -> str:
    """Name a step for people and models: method, host and path, or what else it is, and when it was sent."""
    target = f"{step['method']} {step['host']}{step['path']}" if step["kind"] == StepKind.HTTP else step["kind"]
    return target if step["sent_at"] is None else f"{target} ({_instant(step['sent_at'])})"


# ------------------------------------------------------------------------------------------------ told to the person
@dataclass(frozen=True, slots=True)
class Phrase:
    """One thing to say, in both languages."""

    zh: str
    en: str

    def to(self, asked: str, **values: object) -> str:
        """Say it in the language of `asked`."""
        return (self.zh if is_chinese(asked) else self.en).format(**values)


MAX_TURNS = Phrase(
    "已经走了 {steps} 步还没有做完，先停在这里。发一句“继续”我就接着做。",
    "I stopped after {steps} steps without being done. Say “go on” and I will continue.",
)
LOOP = Phrase(
    "我在反复做同一件事，先停下来了。请换个说法，或者告诉我该怎么做。",
    "I kept doing the same thing, so I stopped. Please put it another way, or tell me how to go on.",
)
STOPPED = Phrase("已停止。", "Stopped.")
DROPPED = Phrase("没有处理：对话已用 /new 重新开始。", "Not handled: the conversation was begun anew with /new.")
DEAD = Phrase(
    "这条消息多次处理失败，已放弃。可以再发一次。",
    "This message failed too often and was given up. You may send it again.",
)
BUDGET = Phrase(
    "今天的模型用量已到上限（{limit}）。{at} 恢复，还有 {hours} 小时 {minutes} 分，到时请再发一次。",
    "Today's budget for the model is used up ({limit}). There is a new one at {at}, in {hours} h {minutes} min;"
    " send this again then.",
)
PROVIDER_ERROR = Phrase("模型没有回答：{error}", "The model did not answer: {error}")
CUT = Phrase(
    "模型还没有说出答案就到了长度上限。请问得窄一些，或者调大 llm.max_tokens。",
    "The model reached its limit before it said anything. Ask for less, or set llm.max_tokens higher.",
)
ONLY_THOUGHTS = Phrase(
    "模型没有给出答案，只留下了思考：\n{thoughts}",
    "The model gave no answer, only what it thought:\n{thoughts}",
)
NO_WORDS = Phrase("模型没有给出答案。请换个说法再问。", "The model gave no answer. Please put it another way.")
NOTHING_TO_CANCEL = Phrase("没有正在进行的事。", "Nothing is going on.")
NEW_CONVERSATION = Phrase("好，重新开始。", "A new conversation begins.")
QUEUED = Phrase(
    "请求 A{num} 正在等待批准，你的消息已排队。批准：ias approve A{num}    拒绝：ias deny A{num}",
    "Request A{num} is waiting for approval; your message is queued. To decide: ias approve A{num}, or ias deny A{num}",
)
OUTCOME_UNKNOWN = Phrase(
    "不知道这一步是否已经执行，不会自动重试：{items}（调用 {run}）",
    "It is not known whether this was carried out, and it will not be repeated: {items} (call {run})",
)
MAY_REPEAT = Phrase("（可能重复）", " (may be a repeat)")
QUESTION = Phrase(
    "A{num}：{tool} 想要\n{items}\n批准：/approve A{num} {digest}    拒绝：/deny A{num}",
    "A{num}: {tool} wants to\n{items}\nApprove: /approve A{num} {digest}    Deny: /deny A{num}",
)
CLOSINGS = {
    TurnReason.LOOP: LOOP,
    TurnReason.CANCELLED: STOPPED,
    TurnReason.NEW: STOPPED,
    TurnReason.DEAD: DEAD,
    TurnReason.PROVIDER_ERROR: DEAD,
}
DIGEST_SHOWN = 4  # characters of the digest that an answer in a chat repeats
THOUGHTS_SHOWN = 4_000  # characters of reasoning that stand in for an answer; what it came to is at its end
ITEM_CHARS = 500  # of one request in a question; the whole is in the approval


def loop(asked: str) -> str:
    """Say that the model repeats itself."""
    return LOOP.to(asked)


def max_turns(asked: str, steps: int) -> str:
    """Say that the turn had its number of model steps."""
    return MAX_TURNS.to(asked, steps=steps)


def provider_error(asked: str, error: str) -> str:
    """Say that the model cannot be reached or refused."""
    return PROVIDER_ERROR.to(asked, error=error)


def cut(asked: str) -> str:
    """Say that the model's answer was cut before its first word."""
    return CUT.to(asked)


def only_thoughts(asked: str, thoughts: str) -> str:
    """Show the end of a model's reasoning where there is no answer, and say that it is none."""
    shown = thoughts.strip()
    if not shown:
        return NO_WORDS.to(asked)
    return ONLY_THOUGHTS.to(asked, thoughts=shown if len(shown) <= THOUGHTS_SHOWN else "…" + shown[-THOUGHTS_SHOWN:])


def budget(asked: str, *, limit: str, resumes_at: datetime, wait: timedelta) -> str:
    """Say that the operator's budget for today is used up, and when the model is called again."""
    hours, minutes = divmod(math.ceil(wait.total_seconds() / 60), 60)
    at = f"{resumes_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    return BUDGET.to(asked, limit=limit, at=at, hours=hours, minutes=minutes)


def closing(reason: TurnReason, asked: str, steps: int) -> str:
    """Give the usual closing words of a turn that ends without a reply of the model."""
    if reason is TurnReason.MAX_TURNS:
        return max_turns(asked, steps)
    return CLOSINGS.get(reason, STOPPED).to(asked)


def question(asked: str, *, num: int, tool: str, digest: str, requests: tuple[str, ...]) -> str:
    """Ask a person about a request: all its items, shortened only where one is very long."""
    items = "\n".join(f"- {text if len(text) <= ITEM_CHARS else text[:ITEM_CHARS] + '…'}" for text in requests)
    return QUESTION.to(asked, num=num, tool=tool, items=items, digest=digest[:DIGEST_SHOWN])


def known_result(code: Code, text: str) -> Result:
    """Make the result of a call that ends without its tool."""
    return Result(content=text, code=code)


def _instant(at: int) -> str:
    return datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
