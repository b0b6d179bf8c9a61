"""The two tools that a model is given instead of all of them: one finds tools, one calls them."""

import json
import re

from ias.catalogue import Catalogue, Entry
from ias.domain.messages import JsonObject, JsonValue
from ias.errors import InvalidArgumentsError, PermissionDeniedError, ToolNotFoundError
from ias.registry import BaseTool, ToolRegistry
from ias.toolspec.arguments import validate_args

QUERY = "query_capabilities"
CALL = "call_capability"
META = "meta"
PROMPT_SHOWN = 80  # characters of a wrong `prompt` in a message
QUERY_CHARS = 500  # more words find nothing more
FENCE = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
QUERY_WORDS = (
    "Find tools by what they do. Search before you say that something cannot be done. The answer has the arguments of "
    f"the best hits; then use {CALL}. The tools that exist:"
)
QUERY_HINT = "a few words, best in both the person's language and English, or a tool's name; empty lists all tools"
CALL_WORDS = f"Call a tool that {QUERY} found. Some calls wait until a person has approved them."
PROMPT_HINT = (
    'the arguments of that tool as the text of one JSON object, like {"location": "北京"}; {} if it needs none'
)


class ModelTools:
    """What a model is given over a registry: the two meta-tools, or all of its tools.

    Args:
        registry: The tools; its permissions decide what is told of and called.
        expose: `meta` or `all`.
    """

    def __init__(self, registry: ToolRegistry, *, expose: str = META) -> None:
        self.registry = registry
        self._seen: tuple[BaseTool, ...] = ()
        self._catalogue = Catalogue(())
        self._meta = ToolRegistry()  # without a checker: these two need nothing, and the inner tool is checked
        self._meta.register_all((QueryCapabilities(self), CallCapability(self)))
        self._expose = expose

    def for_model(self) -> ToolRegistry:
        """Give the registry that the model sees."""
        return self._meta if self._expose == META else self.registry

    @property
    def catalogue(self) -> Catalogue:
        """The catalogue, made anew after a reload."""
        tools = tuple(self.registry)
        if len(tools) != len(self._seen) or any(new is not old for new, old in zip(tools, self._seen, strict=True)):
            self._catalogue = Catalogue(entry_of(tool) for tool in tools)
            self._seen = tools
        return self._catalogue

    def is_visible(self, name: str) -> bool:
        """Say whether a tool exists and the permissions let it be used: others are not told of."""
        tool = self.registry.get(name)
        if tool is None:
            return False
        try:
            self.registry.check(tool)
        except PermissionDeniedError:
            return False
        return True

    def find(self, name: str) -> BaseTool:
        """Give a tool by its name, or by the only one that is the same but for case.

        Raises:
            ToolNotFoundError: With near names.
            PermissionDeniedError: The permissions do not let it be used.
        """
        tool = self.registry.get(name)
        if tool is None:
            alike = [known for known in self.registry.list_tools() if known.lower() == name.strip().lower()]
            tool = self.registry.get(alike[0]) if len(alike) == 1 else None
        if tool is None:
            near = ", ".join(self.catalogue.near(name, is_visible=self.is_visible))
            advice = f"did you mean {near}?" if near else f"call {QUERY} to see all tools"
            raise ToolNotFoundError(f"there is no tool {name!r}; {advice}")
        self.registry.check(tool)
        return tool


class QueryCapabilities(BaseTool):
    """Searches the catalogue; answers at once, and nobody is asked."""

    answers_at_once = True

    def __init__(self, tools: ModelTools) -> None:
        self._tools = tools

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return QUERY

    @property
    def description(self) -> str:
        """How to search, and the names that exist: without them models claim that a tool is missing."""
        return f"{QUERY_WORDS} {self._tools.catalogue.index_text(is_visible=self._tools.is_visible)}."

    @property
    def parameters(self) -> JsonObject:
        """One text."""
        return {"type": "object", "properties": {"query": {"type": "string", "description": QUERY_HINT}}}

    async def execute(self, args: JsonObject) -> JsonValue:
        """Give the catalogue's answer.

        Raises:
            InvalidArgumentsError: The query is no text.
        """
        query = validate_args(self.parameters, args).get("query", "")
        return self._tools.catalogue.search(str(query)[:QUERY_CHARS], is_visible=self._tools.is_visible)


class CallCapability(BaseTool):
    """Calls another tool: permission, approval, logs and events act on that one, its `target`."""

    def __init__(self, tools: ModelTools) -> None:
        self._tools = tools

    @property
    def name(self) -> str:
        """The name that the model calls."""
        return CALL

    @property
    def description(self) -> str:
        """How to call."""
        return CALL_WORDS

    @property
    def parameters(self) -> JsonObject:
        """A name, and the other tool's arguments as JSON text."""
        properties: JsonObject = {
            "name": {"type": "string", "description": "name of the tool"},
            "prompt": {"type": "string", "description": PROMPT_HINT},
        }
        return {"type": "object", "properties": properties, "required": ["name"]}

    def target(self, args: JsonObject) -> tuple[BaseTool, JsonObject]:
        """Give the tool that is called, and its arguments, checked and repaired.

        Raises:
            ToolNotFoundError: With near names.
            PermissionDeniedError: The permissions do not let it be used.
            InvalidArgumentsError: With what is wrong, and the tool's parameters.
        """
        name = args.get("name")
        if not isinstance(name, str) or not name.strip():
            raise InvalidArgumentsError(f"name must be the name of a tool; call {QUERY} to find one")
        tool = self._tools.find(name)
        try:
            return tool, validate_args(tool.parameters, _inner_args(args))
        except InvalidArgumentsError as error:
            raise InvalidArgumentsError(f"{tool.name}: {error}. {_usage(tool)}") from error

    async def execute(self, args: JsonObject) -> JsonValue:
        """Call the other tool and give its answer.

        Raises:
            ToolError: From `target`, or the other tool's own failure.
        """
        tool, inner = self.target(args)
        invocation = await self._tools.registry.invoke(tool.name, inner)
        if invocation.error is not None:
            raise invocation.error
        return invocation.output


def entry_of(tool: BaseTool) -> Entry:
    """Give a tool as the catalogue wants it."""
    return Entry(
        name=tool.name,
        desc=tool.description,
        parameters=tool.parameters,
        keywords=tool.keywords,
        examples=tool.examples,
    )


def _inner_args(args: JsonObject) -> JsonObject:
    others = sorted(args.keys() - {"name", "prompt"})
    if others:
        raise InvalidArgumentsError(f"put {', '.join(others)} into prompt")
    return read_prompt(args.get("prompt"))


def read_prompt(prompt: JsonValue) -> JsonObject:
    """Read a `prompt`: an object, or the JSON text of one, also within a code fence or written as JSON twice.

    Raises:
        InvalidArgumentsError: It is neither.
    """
    for _ in range(2):
        if isinstance(prompt, str):
            prompt = _parsed(prompt)
    if prompt is None:
        return {}
    if not isinstance(prompt, dict):
        raise InvalidArgumentsError(
            f"prompt must be a JSON object, not {_short(json.dumps(prompt, ensure_ascii=False))}"
        )
    return prompt


def _parsed(text: str) -> JsonValue:
    fenced = FENCE.fullmatch(text.strip())
    inner = (fenced[1] if fenced else text).strip()
    if not inner:
        return None
    try:
        return json.loads(inner, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        where = f"{error.msg} at character {error.pos + 1}"
        raise InvalidArgumentsError(f"prompt must be a JSON object, not {_short(inner)} ({where})") from error
    except (ValueError, RecursionError) as error:
        raise InvalidArgumentsError(f"prompt must be a JSON object, not {_short(inner)}") from error


def _refuse_constant(name: str) -> JsonValue:
    raise ValueError(f"{name} is no JSON")


def _short(text: str) -> str:
    return text if len(text) <= PROMPT_SHOWN else text[:PROMPT_SHOWN] + "…"


def _usage(tool: BaseTool) -> str:
    schema = json.dumps(tool.parameters, ensure_ascii=False, separators=(",", ":"))
    example = next((json.dumps(dict(one.params), ensure_ascii=False) for one in tool.examples if one.params), None)
    return f"Its parameters: {schema}" + (f" Example prompt: {example}" if example else "")
