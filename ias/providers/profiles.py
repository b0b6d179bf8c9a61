"""What differs between the vendors of one wire format, as data; every fact carries its source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ias.domain.messages import JsonValue


class Echo(StrEnum):
    """Which assistant messages go back with their reasoning."""

    NEVER = "never"
    PRESENT = "present"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """Body fields that some models need as soon as tools are offered; `pattern` matches the start of the name."""

    pattern: re.Pattern[str]
    body: Mapping[str, JsonValue]


def _nothing() -> Mapping[str, JsonValue]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A vendor's ways.

    Args:
        name: As in `llm.provider`.
        base_url: What `/chat/completions` is put behind; None where only the operator knows it.
        default_model: Used where `llm.model` is null; None where no name lasts long enough to be built in.
        key_env: The environment variable that holds the API key; None where none is needed.
        max_tokens_field: How the body names the limit of the answer.
        thinking_on: Body fields that switch thinking on.
        thinking_off: Body fields that switch it off.
        echo: Which assistant messages carry `reasoning_content` while thinking is on.
        needs_end_mark: Whether only `[DONE]` ends a stream; where not, a finish reason and the end of the body do too.
        with_tools: What some models need besides.
    """

    name: str
    base_url: str | None = None
    default_model: str | None = None
    key_env: str | None = None
    max_tokens_field: str = "max_tokens"
    thinking_on: Mapping[str, JsonValue] = field(default_factory=_nothing)
    thinking_off: Mapping[str, JsonValue] = field(default_factory=_nothing)
    echo: Echo = Echo.PRESENT
    needs_end_mark: bool = True
    with_tools: tuple[ModelRule, ...] = ()


DEEPSEEK = Profile(
    name="deepseek",
    # https://api-docs.deepseek.com: OpenAI format at this host; `deepseek-flash` is the moving name since 2026-10-17,
    # `deepseek-chat` and `deepseek-reasoner` ended on 2026-07-24.
    base_url="https://api.deepseek.com",
    default_model="deepseek-flash",
    key_env="DEEPSEEK_API_KEY",
    # api-docs.deepseek.com/api/create-chat-completion: `max_tokens`; `max_completion_tokens` is not in the schema.
    max_tokens_field="max_tokens",
    # api-docs.deepseek.com/guides/thinking_mode: the default is on, so off must be said.
    thinking_on={"thinking": {"type": "enabled"}},
    thinking_off={"thinking": {"type": "disabled"}},
    # The same guide: with tools in the request every assistant message must carry its reasoning, else 400. `""` is
    # taken for none (hermes-agent#16388), and @ai-sdk/deepseek 2.0.69 sends it so.
    echo=Echo.ALWAYS,
)

OPENAI = Profile(
    name="openai",
    # platform.openai.com/docs/api-reference/chat: `max_tokens` is deprecated and refused by reasoning models.
    base_url="https://api.openai.com/v1",
    key_env="OPENAI_API_KEY",
    max_tokens_field="max_completion_tokens",
    # The API gives no reasoning text and takes none.
    echo=Echo.NEVER,
    # litellm#34569, openai-openapi#541: from gpt-5.4 on, tools on this endpoint are a 400 unless reasoning is off.
    with_tools=(ModelRule(pattern=re.compile(r"gpt-(5\.[4-9]|[6-9]|[1-9]\d)"), body={"reasoning_effort": "none"}),),
)

QWEN = Profile(
    name="qwen",
    # help.aliyun.com/zh/model-studio: the address in mainland China; keys work in their own region alone.
    base_url="https://dashscope.aliyuncs.com/compatible-mode/v1",
    key_env="DASHSCOPE_API_KEY",
    # The same pages (deep thinking): at the top level of the body.
    thinking_on={"enable_thinking": True},
    thinking_off={"enable_thinking": False},
    # The same pages (function calling): history carries reasoning, content and tool calls together.
    echo=Echo.PRESENT,
)

OLLAMA = Profile(
    name="ollama",
    # github.com/ollama/ollama docs/api/openai-compatibility: this path, no key.
    base_url="http://127.0.0.1:11434/v1",
    # ollama PR#14821: `none` is off; models that cannot think refuse any other value, so on says nothing.
    thinking_off={"reasoning_effort": "none"},
    # docs/api/openai-compatibility: messages have no reasoning on the way in.
    echo=Echo.NEVER,
)

OPENAI_COMPATIBLE = Profile(
    name="openai_compatible",
    # llama.cpp and vLLM answer in `reasoning_content` or `reasoning` and take `reasoning_content` (vllm PR#50624).
    echo=Echo.PRESENT,
    # Some servers close the stream after the finish reason.
    needs_end_mark=False,
)

PROFILES: Mapping[str, Profile] = {
    profile.name: profile for profile in (DEEPSEEK, OPENAI, QWEN, OLLAMA, OPENAI_COMPATIBLE)
}
