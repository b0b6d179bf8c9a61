"""Events of Anthropic's streams, and answers made of them."""

from ias.domain.messages import JsonObject, JsonValue, MessageRequest
from ias.providers.profiles import ANTHROPIC, Profile
from tests.providers.loopback import Taken, events, streaming, take

BEGIN: JsonObject = {
    "type": "message_start",
    "message": {"model": "claude-opus-5", "usage": {"input_tokens": 5, "output_tokens": 1}},
}
STOP: JsonObject = {"type": "message_stop"}
PING: JsonObject = {"type": "ping"}


def start(index: JsonValue, kind: str, **fields: JsonValue) -> JsonObject:
    return {"type": "content_block_start", "index": index, "content_block": {"type": kind, **fields}}


def grow(index: JsonValue, kind: str, **fields: JsonValue) -> JsonObject:
    return {"type": "content_block_delta", "index": index, "delta": {"type": kind, **fields}}


def close(index: JsonValue) -> JsonObject:
    return {"type": "content_block_stop", "index": index}


def end(reason: str | None, usage: JsonObject | None = None, **details: JsonValue) -> JsonObject:
    return {"type": "message_delta", "delta": {"stop_reason": reason, **details}, "usage": usage or {}}


def text(index: int, words: str) -> list[JsonObject]:
    return [start(index, "text", text=""), grow(index, "text_delta", text=words), close(index)]


def call(index: int, identity: str, name: str, *pieces: str) -> list[JsonObject]:
    deltas = [grow(index, "input_json_delta", partial_json=piece) for piece in pieces]
    return [start(index, "tool_use", id=identity, name=name, input={}), *deltas, close(index)]


def whole(*parts: list[JsonObject], reason: str | None = "end_turn", **details: JsonValue) -> bytes:
    """Give a complete stream with these blocks."""
    return events(BEGIN, *(event for part in parts for event in part), end(reason, None, **details), STOP)


async def answered(
    *parts: list[JsonObject],
    reason: str | None = "end_turn",
    request: MessageRequest | None = None,
    profile: Profile = ANTHROPIC,
) -> Taken:
    taken, _ = await take(streaming(whole(*parts, reason=reason)), request, profile=profile)
    return taken
