"""What the offline provider says, in Chinese and in English."""

import re

from ias.providers.embedded.hits import Parameter
from ias.providers.embedded.tokens import is_chinese

LINE_LIMIT = 48
"""Characters of a tool's line in the list."""

FOOTER = {
    True: "\n\n（{tool} 的结果；ias 离线应答，不是语言模型）",
    False: "\n\n(from {tool}; ias answers offline, this is not a language model)",
}
QUESTION = {
    True: "{tool} 还需要“{name}”（{what}）。请直接回复它。",
    False: '{tool} still needs "{name}" ({what}). Please reply with it.',
}
ASKED = re.compile(r'^(?P<tool>\S+) (?:还需要“(?P<zh>[^”]+)”（|still needs "(?P<en>[^"]+)" \()')
DROPPED = {True: "好的，不查了。", False: "All right, dropped."}
INTRO = {
    True: (
        "我是 ias 的离线应答程序，按规则工作，不是语言模型：没有设置模型密钥时由我把问题对应到工具上。\n"
        "能做的事：\n{tools}\n"
        "换一种更接近这些事的说法再试，或者直接调用：/tool 名称 参数=值\n"
        "要用语言模型：在环境变量或 .env 里设置 DEEPSEEK_API_KEY，然后重启 ias serve。"
    ),
    False: (
        "This is ias answering offline by rules; it is not a language model. "
        "Without a model's API key it fits questions to tools.\nWhat it can do:\n{tools}\n"
        "Put the question closer to one of these, or call one directly: /tool NAME key=value\n"
        "To use a language model, set DEEPSEEK_API_KEY in the environment or in .env and restart ias serve."
    ),
}
UNFIT = {True: "这句话对不上任何工具。", False: "No tool fits this message. "}
NO_TOOLS = {True: "（没有可用的工具）", False: "(no tools are available)"}
FAILED = {True: "{tool} 没有成功：{why}", False: "{tool} did not succeed: {why}"}
BAD_DIRECT = {
    True: '写法：/tool 名称 参数=值 参数="带空格的值"（{why}）',
    False: 'Write it as: /tool NAME key=value key="a value with spaces" ({why})',
}
REASONS = {
    "approval_denied": ("这次请求没有得到批准", "the request was not approved"),
    "approval_expired": ("等待批准超时了", "nobody approved the request in time"),
    "permission_denied": ("配置不允许这个工具", "the configuration does not permit this tool"),
    "host_not_allowed": ("这个工具不可以访问那个主机", "the tool may not reach that host"),
    "address_not_allowed": ("不可以访问那个地址", "that address may not be reached"),
    "secret_not_allowed": ("这个密钥不可以用在那里", "that secret may not be used there"),
    "timeout": ("工具超时了", "the tool took too long"),
    "http_timeout": ("对方服务器没有及时回答", "the service did not answer in time"),
    "http_failed": ("连不上对方服务器", "the service could not be reached"),
    "outcome_unknown": ("请求可能已经发出，结果未知", "the request may have been sent; its outcome is not known"),
    "not_found": ("没有这个工具", "there is no such tool"),
    "invalid_arguments": ("参数不对", "the arguments do not fit"),
    "repeated_call": ("同样的调用重复了", "the same call was repeated"),
    "cancelled": ("已取消", "cancelled"),
    "turn_ended": ("这一轮已经结束", "the turn has ended"),
}
"""A code of the tool protocol in plain words; others are told by their message alone."""

ERROR = re.compile(r"^error (?P<code>[a-z_]+): (?P<words>.*)$", re.DOTALL)


def result(tool: str, text: str, *, is_error: bool, chinese: bool) -> str:
    """Pass on what a tool gave."""
    if not is_error:
        return text.rstrip() + FOOTER[chinese].format(tool=tool)
    found = ERROR.match(text)
    words = found["words"] if found else text
    reason = REASONS.get(found["code"]) if found else None
    if reason is not None:
        plain = reason[0 if chinese else 1]
        words = f"{plain}（{words}）" if chinese else f"{plain} ({words})"
    return FAILED[chinese].format(tool=tool, why=words.strip()) + FOOTER[chinese].format(tool=tool)


def question(tool: str, parameter: Parameter, *, chinese: bool) -> str:
    """Ask for one value."""
    what = localized(parameter.description, chinese=chinese) or parameter.type
    if parameter.choices:
        what += f": {' | '.join(parameter.choices)}"
    return QUESTION[chinese].format(tool=tool, name=parameter.name, what=what)


def asked(text: str) -> tuple[str, str] | None:
    """Read the tool and the parameter back from a question of ours."""
    found = ASKED.match(text)
    return None if found is None else (found["tool"], found["zh"] or found["en"])


def introduction(lines: tuple[tuple[str, str], ...], *, chinese: bool, is_greeting: bool) -> str:
    """Say what this is and what it can do."""
    listed = "\n".join(f"- {name}: {_short(localized(line, chinese=chinese))}".rstrip(": ") for name, line in lines)
    text = INTRO[chinese].format(tools=listed or NO_TOOLS[chinese])
    return text if is_greeting else UNFIT[chinese] + text


def localized(text: str, *, chinese: bool) -> str:
    """Give the part of a bilingual line in one language, or the whole line where it has one alone."""
    parts = [
        part.strip() for part in re.split(r"\s*/\s+|\s+/\s*|\n|(?<=[。！？])\s*(?=[A-Za-z])", text) if part.strip()
    ]
    return next((part for part in parts if is_chinese(part) == chinese), text.strip())


def _short(line: str) -> str:
    return line if len(line) <= LINE_LIMIT else line[: LINE_LIMIT - 1] + "…"
