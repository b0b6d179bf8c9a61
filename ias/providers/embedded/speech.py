"""What the offline provider says, in Chinese and in English."""

import re

from ias.providers.embedded.hits import Hit, Parameter
from ias.providers.embedded.tokens import is_chinese

FOOTER = {
    True: "\n\n（{tool} 的结果；ias 离线应答，不是语言模型）",
    False: "\n\n(from {tool}; ias answers offline, this is not a language model)",
}
QUESTION = {
    True: "{tool} 还需要“{name}”（{what}）。请直接回复它，或说“取消”。",
    False: '{tool} still needs "{name}" ({what}). Please reply with it, or say "cancel".',
}
ASKED = re.compile(r'^(?P<tool>\S+) (?:还需要“(?P<zh>[^”]+)”（|still needs "(?P<en>[^"]+)" \()')
DROPPED = {True: "好的，不查了。", False: "All right, dropped."}
WELCOME = {True: "不客气。", False: "You are welcome."}
KEY_HINT = {
    True: "要用语言模型：在 .env 里设置 DEEPSEEK_API_KEY，再重启 ias serve。",
    False: "To use a language model, set DEEPSEEK_API_KEY in .env and restart ias serve.",
}
INTRO = {
    True: "这里是 ias 的离线应答：按规则把问题交给工具，不是语言模型。可以这样问：\n{samples}\n" + KEY_HINT[True],
    False: (
        "This is ias answering offline: it fits questions to tools by rules, it is not a language model. "
        "Try:\n{samples}\n"
    )
    + KEY_HINT[False],
}
UNFIT = {
    True: "这句话对不上任何工具。{near}换个说法再试，说“帮助”看例子，或直接调用：/tool 名称 参数=值\n" + KEY_HINT[True],
    False: (
        'No tool fits this message. {near}Try other words, say "help" for examples, or call a tool: /tool NAME '
        "key=value\n"
    )
    + KEY_HINT[False],
}
NEAR = {True: "比较接近的：\n{tools}\n", False: "The nearest are:\n{tools}\n"}
NO_TOOLS = {True: "（没有可用的工具）", False: "(no tools are available)"}
SAMPLES: tuple[tuple[str, str, str], ...] = (
    ("weather_now", "北京现在天气怎么样", "What is the weather in London right now"),
    ("datetime", "离春节还有几天", "How many days until Christmas"),
    ("memory_save", "记住我喜欢喝美式咖啡", "Remember that my flight is on Friday"),
    ("amap_distance", "北京到上海有多远", "How far is Berlin from Paris"),
    ("web_search", "搜索一下新能源汽车的最新政策", "Search the web for golang tutorials"),
    ("fetch_page", "打开 https://example.com 看看写了什么", "Read the page https://example.com"),
    ("memory_list", "你都记住了什么", "List my memories"),
)
"""A tool's name, and a sentence for it in each language."""
MOST_SAMPLES = 5
FAILED = {True: "{tool} 没有成功：{why}", False: "{tool} did not succeed: {why}"}
BAD_DIRECT = {
    True: '写法：/tool 名称 参数=值 参数="带空格的值"（{why}）',
    False: 'Write it as: /tool NAME key=value key="a value with spaces" ({why})',
}
ONE_AT_A_TIME = {
    True: "记忆只能一条一条地删，每一条都要批准。说“忘掉”加上编号或其中的词语，例如：忘掉 {id}\n\n",
    False: (
        'Memories can be deleted one at a time only, each with an approval. Say "forget" with an id or words, '
        "as in: forget {id}\n\n"
    ),
}
NOTHING_KEPT = {True: "还没有任何记忆，没有要删的。", False: "There are no memories, so there is nothing to delete."}
WHICH = {
    True: "要忘掉哪一条？请说“忘掉”加上编号或其中的词语；说“列出我的记忆”可以看到全部。",
    False: 'Which one? Say "forget" with its id or words of it; "list my memories" shows them all.',
}
SEVERAL = {
    True: "与“{words}”有关的记忆有 {count} 条，没有{verb}。请用编号指明一条，例如：{sample}\n{lines}",
    False: "{count} memories match “{words}”; nothing was {verb}. Name one by its id, as in: {sample}\n{lines}",
}
NONE_MEANT = {
    True: "没有与“{words}”有关的记忆，什么也没有{verb}。说“列出我的记忆”可以看到全部。",
    False: 'No memory matches “{words}”; nothing was {verb}. "List my memories" shows them all.',
}
FORGET_SAMPLE = {True: "忘掉 {id}", False: "forget {id}"}
CHANGE_SAMPLE = {True: "把记忆 {id} 改成“…”", False: 'change memory {id} to "…"'}
FORGET_VERB = {True: "删除", False: "deleted"}
CHANGE_VERB = {True: "修改", False: "changed"}
NETWORK = ("连不上网络服务，请检查网络，或运行 ias doctor --online", "no network or DNS; run `ias doctor --online`")
BROKEN = ("工具的程序出错了，详情在 ias logs error 里", "the tool's program failed; `ias logs error` has the details")
REASONS = {
    "approval_denied": ("请求没有得到批准，所以没有做", "it was not approved, so nothing was done"),
    "approval_expired": ("等待批准超时了，所以没有做", "nobody approved it in time, so nothing was done"),
    "permission_denied": (
        "配置不允许这个工具，见 config.yaml 的 permissions",
        "config.yaml does not permit this tool; see `permissions`",
    ),
    "host_not_allowed": ("工具不可以访问那个主机", "the tool may not reach that host"),
    "address_not_allowed": ("不可以访问那个地址", "that address may not be reached"),
    "secret_not_allowed": ("这个密钥不可以用在那里", "that secret may not be used there"),
    "timeout": ("工具用的时间太长，已停止", "the tool took too long and was stopped"),
    "http_timeout": ("对方服务器没有及时回答，请稍后再试", "the service did not answer in time; try again later"),
    "http_failed": NETWORK,
    "response_too_large": ("对方的回答太大", "the answer was too large"),
    "outcome_unknown": ("请求可能已经发出，结果未知", "the request may have been sent; its outcome is not known"),
    "not_found": ("没有这个工具，ias tools list 列出全部", "there is no such tool; `ias tools list` shows them all"),
    "invalid_arguments": ("没有读懂这句话里的要求", "what was asked for could not be read"),
    "repeated_call": ("同样的调用重复了", "the same call was repeated"),
    "cancelled": ("已取消", "it was cancelled"),
    "turn_ended": ("这一轮已经结束", "the turn has ended"),
    "db_failed": ("数据没有存取成功", "the store did not do it"),
    **dict.fromkeys(
        [
            "spawn_failed",
            "no_output",
            "bad_utf8",
            "bad_json",
            "bad_message",
            "extra_output",
            "output_too_large",
            "too_many_steps",
            "memory_limit",
            "killed",
        ],
        BROKEN,
    ),
}
"""A code of the tool protocol in plain words; others are told by the tool's own."""
SAY_LIKE = {True: "。可以这样说：{sample}", False: '. Say it like this: "{sample}"'}
ERROR = re.compile(r"^error \(?(?P<code>[a-z_]+)\)?: (?P<words>.*)$", re.DOTALL)


def result(tool: str, text: str, *, is_error: bool, chinese: bool, sample: str = "") -> str:
    """Pass on what a tool gave; a failure in plain words, not in those that are meant for a model.

    Args:
        tool: The tool's name.
        text: Its answer.
        is_error: Whether the call failed.
        chinese: The language to speak.
        sample: A sentence that the tool understands, told where its arguments did not fit.
    """
    if not is_error:
        return text.rstrip() + FOOTER[chinese].format(tool=tool)
    found = ERROR.match(text)
    words = found["words"] if found else text
    code = found["code"] if found else ""
    if code in REASONS:
        words = REASONS[code][0 if chinese else 1]
        words += SAY_LIKE[chinese].format(sample=sample) if sample and code == "invalid_arguments" else ""
        words += "。" if chinese else "."
    words = one_language(words.strip(), chinese=chinese)
    return FAILED[chinese].format(tool=tool, why=words) + FOOTER[chinese].format(tool=tool)


def one_language(text: str, *, chinese: bool) -> str:
    """Give the lines of one language where a text says the same in both, a line each."""
    lines = text.splitlines()
    kept = [line for line in lines if is_chinese(line) == chinese]
    return "\n".join(kept) if len(lines) == 2 and len(kept) == 1 else text


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


def introduction(names: frozenset[str], *, chinese: bool) -> str:
    """Say what this is, with questions for tools that there are."""
    known = [zh if chinese else en for tool, zh, en in SAMPLES if tool in names][:MOST_SAMPLES]
    known = known or [f"/tool {name}" for name in sorted(names)[:MOST_SAMPLES]]
    samples = "\n".join(f"- {sample}" for sample in known)
    return INTRO[chinese].format(samples=samples or NO_TOOLS[chinese])


def unfit(near: tuple[Hit, ...], *, chinese: bool) -> str:
    """Say that no tool fits, and which ones come near."""
    lines = "\n".join(f"- {hit.name}: {localized(hit.description, chinese=chinese)}".rstrip(": ") for hit in near)
    return UNFIT[chinese].format(near=NEAR[chinese].format(tools=lines) if lines else "")


def localized(text: str, *, chinese: bool) -> str:
    """Give the part of a bilingual line in one language, or the whole line where it has one alone."""
    parts = [
        part.strip() for part in re.split(r"\s*/\s+|\s+/\s*|\n|(?<=[。！？])\s*(?=[A-Za-z])", text) if part.strip()
    ]
    return next((part for part in parts if is_chinese(part) == chinese), text.strip())
