"""What differs between vendors, as data; every fact carries its source."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ias.domain.messages import JsonValue


class Wire(StrEnum):
    """The wire format that a vendor speaks; each has its adapter."""

    CHAT_COMPLETIONS = "chat_completions"
    ANTHROPIC = "anthropic"
    OLLAMA = "ollama"


class Echo(StrEnum):
    """Which assistant messages go back with their reasoning, where it is not signed."""

    NEVER = "never"
    PRESENT = "present"
    ALWAYS = "always"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRule:
    """Body fields that some models need as soon as tools are offered; `pattern` matches the start of the name."""

    pattern: re.Pattern[str]
    body: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class ThinkingRule:
    """How some models are told to think, or not to; `pattern` matches the start of the name."""

    pattern: re.Pattern[str]
    on: Mapping[str, JsonValue]
    off: Mapping[str, JsonValue]


@dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """What some models can hold, in tokens; `pattern` matches the start of the name.

    Args:
        pattern: The models.
        context: Request and answer together.
        output: The longest answer.
    """

    pattern: re.Pattern[str]
    context: int
    output: int


def _nothing() -> Mapping[str, JsonValue]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """A vendor's ways.

    Args:
        name: As in `llm.provider`.
        wire: The format of requests and answers.
        base_url: What the path of the wire is put behind; None where only the operator knows it.
        default_model: Used where `llm.model` is null; None where no name lasts long enough to be built in.
        key_env: The environment variable that holds the API key; None where none is needed.
        max_tokens_field: How the body names the limit of the answer.
        default_max_tokens: Tokens of an answer where the wire wants a limit and `llm.max_tokens` gives none.
        thinking_on: Body fields that switch thinking on.
        thinking_off: Body fields that switch it off.
        thinking_rules: Models that want other fields than those two; the first that fits counts.
        echo: Which assistant messages carry their reasoning while thinking is on.
        reads_is_error: Whether the mark of a failed tool result is read; where not, its text says so as well.
        needs_end_mark: Whether only the end mark ends a stream; where not, a finish reason and the body's end do too.
        with_tools: What some models need besides.
        body: Fields of every request.
        windows: How much its models can hold; the first that fits counts, and nothing is said of other models.
    """

    name: str
    wire: Wire = Wire.CHAT_COMPLETIONS
    base_url: str | None = None
    default_model: str | None = None
    key_env: str | None = None
    max_tokens_field: str = "max_tokens"
    default_max_tokens: int | None = None
    thinking_on: Mapping[str, JsonValue] = field(default_factory=_nothing)
    thinking_off: Mapping[str, JsonValue] = field(default_factory=_nothing)
    thinking_rules: tuple[ThinkingRule, ...] = ()
    echo: Echo = Echo.PRESENT
    reads_is_error: bool = True
    needs_end_mark: bool = True
    with_tools: tuple[ModelRule, ...] = ()
    body: Mapping[str, JsonValue] = field(default_factory=_nothing)
    windows: tuple[Window, ...] = ()

    def window(self, model: str) -> Window | None:
        """Give what `model` can hold, where it is known."""
        return next((window for window in self.windows if window.pattern.match(model)), None)

    def thinking(self, model: str, *, is_on: bool) -> Mapping[str, JsonValue]:
        """Give the body fields that switch the thinking of `model` on or off."""
        for rule in self.thinking_rules:
            if rule.pattern.match(model):
                return rule.on if is_on else rule.off
        return self.thinking_on if is_on else self.thinking_off


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
    # api-docs.deepseek.com/quick_start/pricing: 1M of context and 384K of output for both models and their aliases.
    windows=(Window(pattern=re.compile(r"deepseek-(flash|v4)"), context=1_048_576, output=393_216),),
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
    # The name may follow a publisher's or a fine-tuning's prefix; `gpt-35` is how Azure writes 3.5.
    with_tools=(
        ModelRule(
            pattern=re.compile(r"(.*[/:])?gpt-(5\.([4-9]|\d\d)|[6-9]|(?!35)[1-9]\d)"), body={"reasoning_effort": "none"}
        ),
    ),
    # platform.openai.com/docs/models; of models that are not listed nothing is assumed.
    windows=(
        Window(pattern=re.compile(r"gpt-4o|chatgpt-4o"), context=128_000, output=16_384),
        Window(pattern=re.compile(r"gpt-4\.1"), context=1_047_576, output=32_768),
        Window(pattern=re.compile(r"gpt-4-turbo"), context=128_000, output=4_096),
        Window(pattern=re.compile(r"gpt-3\.5-turbo"), context=16_385, output=4_096),
        Window(pattern=re.compile(r"o1(?!-mini|-preview)|o3|o4-mini"), context=200_000, output=100_000),
        Window(pattern=re.compile(r"gpt-5(\.[0-3])?(?![.\d]|-chat)"), context=400_000, output=128_000),
    ),
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
    wire=Wire.OLLAMA,
    # github.com/ollama/ollama docs/api: no key on one's own machine.
    base_url="http://127.0.0.1:11434",
    # docs/api: models that can think do so by default, and the others refuse `true`, so on says nothing.
    thinking_off={"think": False},
    # docs/capabilities/thinking: `message.thinking` is read from history where the model's template has a place for it.
    echo=Echo.PRESENT,
)

OLLAMA_COMPATIBLE = Profile(
    name="ollama_compatible",
    # docs/api/openai-compatibility: this path, no key. `num_ctx` cannot be set here.
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

ANTHROPIC = Profile(
    name="anthropic",
    wire=Wire.ANTHROPIC,
    # platform.claude.com/docs/en/api/messages.
    base_url="https://api.anthropic.com",
    key_env="ANTHROPIC_API_KEY",
    # A limit is required and counts thinking too; 32,000 is the least that a model still served can write.
    default_max_tokens=32_000,
    # docs/en/build-with-claude/adaptive-thinking. Newer models leave the text out unless `display` asks for it, and
    # send nothing but pings meanwhile.
    thinking_on={"thinking": {"type": "adaptive", "display": "summarized"}},
    thinking_off={"thinking": {"type": "disabled"}},
    thinking_rules=(
        # The models before 3.7 know no thinking.
        ThinkingRule(pattern=re.compile(r".*claude-(2|instant|3-(5|opus|sonnet|haiku))"), on={}, off={}),
        # docker-agent#3362: these refuse `adaptive`; Sylinko/Everywhere#410: the later ones refuse `enabled`. The
        # budget is a quarter of the answer.
        ThinkingRule(
            pattern=re.compile(r".*claude-(3-7|haiku-4|(opus|sonnet)-4(-[0-5])?(-\d{8})?(?!-?\d))"),
            on={"thinking": {"type": "enabled", "budget_tokens": 8_000}},
            off={"thinking": {"type": "disabled"}},
        ),
        # vellum-assistant PR#37276: these always think and refuse `disabled`.
        ThinkingRule(
            pattern=re.compile(r".*claude-(fable|mythos)"),
            on={"thinking": {"type": "adaptive", "display": "summarized"}},
            off={},
        ),
    ),
    # Reasoning goes back signed, or not at all: a signature that is not its own is a 400.
    echo=Echo.NEVER,
    # docs/en/build-with-claude/prompt-caching: without a mark nothing is cached; this one moves along with the history.
    body={"cache_control": {"type": "ephemeral"}},
)

DEEPSEEK_ANTHROPIC = Profile(
    name="deepseek_anthropic",
    wire=Wire.ANTHROPIC,
    # api-docs.deepseek.com/guides/anthropic_api.
    base_url="https://api.deepseek.com/anthropic",
    default_model="deepseek-flash",
    key_env="DEEPSEEK_API_KEY",
    # Its own default while thinking; a limit is required here.
    default_max_tokens=65_536,
    # The guide: `budget_tokens` is ignored. It is here since the format requires it.
    thinking_on={"thinking": {"type": "enabled", "budget_tokens": 32_000}},
    thinking_off={"thinking": {"type": "disabled"}},
    # 9router#3332: "The `content[].thinking` in the thinking mode must be passed back to the API."
    echo=Echo.ALWAYS,
    # The guide: `is_error` is ignored.
    reads_is_error=False,
)

ANTHROPIC_COMPATIBLE = Profile(
    name="anthropic_compatible",
    # llama.cpp's `/v1/messages` and gateways. What they make of `thinking` differs, so nothing is said.
    wire=Wire.ANTHROPIC,
    default_max_tokens=8_192,
    echo=Echo.NEVER,
    reads_is_error=False,
    needs_end_mark=False,
)

PROFILES: Mapping[str, Profile] = {
    profile.name: profile
    for profile in (
        DEEPSEEK,
        OPENAI,
        QWEN,
        ANTHROPIC,
        DEEPSEEK_ANTHROPIC,
        OLLAMA,
        OLLAMA_COMPATIBLE,
        OPENAI_COMPATIBLE,
        ANTHROPIC_COMPATIBLE,
    )
}
