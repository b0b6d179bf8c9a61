"""What people read most, in the language of the terminal; everything else is English."""

import os
from dataclasses import dataclass

LOCALE_VARIABLES = ("LC_ALL", "LC_MESSAGES", "LANG")  # the first that is set decides, as in setlocale(3)


@dataclass(frozen=True, slots=True)
class Phrase:
    """One thing to say, in both languages."""

    zh: str
    en: str

    def __call__(self, **values: object) -> str:
        """Say it."""
        return (self.zh if is_chinese() else self.en).format(**values)


def is_chinese() -> bool:
    """Say whether the terminal is set to Chinese."""
    named = next((os.environ[name] for name in LOCALE_VARIABLES if os.environ.get(name)), "")
    return named.lower().startswith("zh")


# ---------------------------------------------------------------------------------------------------------- approvals
WANTS = Phrase("{ref}：{tool} 请求", "{ref}: {tool} asks for")
SECRETS = Phrase("{names}（密钥，发送时才填入）", "{names} (filled in when it is sent)")
HIDDEN = Phrase(
    "还有 {bytes} 字节没有显示；全文 {total} 字节，sha256 {sha256}",
    "{bytes} more bytes are not shown; {total} bytes in all, sha256 {sha256}",
)
SHOW_ALL = Phrase("加 --full 查看全文", "--full shows all of it")
CONFIRM = Phrase("批准 {ref} 吗？[y/N] ", "Approve {ref}? [y/N] ")
CONFIRM_DENY = Phrase("拒绝 {ref} 吗？[y/N] ", "Deny {ref}? [y/N] ")
CONFIRM_HIDDEN = Phrase("先看全文再决定：[f] 显示全文  [N] 不批准 ", "See all of it first: [f] show it  [N] leave it ")
APPROVED = Phrase("已批准 {ref}。", "{ref} is approved.")
DENIED = Phrase("已拒绝 {ref}。", "{ref} is denied.")
NOT_DECIDED = Phrase("{ref} 没有变化，仍在等待。", "{ref} was left as it is: it still waits.")
SETTLED = Phrase("{ref} 之前已有结果：{state}（{who}）", "{ref} was settled before: {state} ({who})")
RULES_MADE = Phrase(
    "今后同样的请求不再询问：{rules}（撤销：{ias} approvals revoke {first}）",
    "The same request is not asked about again: {rules} (to end that: {ias} approvals revoke {first})",
)
NO_RULES = Phrase("没有留下规则：{ref} 之前已经批准。", "No rule was made: {ref} was approved before.")
FACTS = Phrase("风险 {risk}  摘要 {digest}  还剩 {left}", "risk {risk}  digest {digest}  expires in {left}")
REACH_CALL = Phrase(
    "{target}，限这一版 {tool}，参数完全相同", "{target} by this version of {tool}, with exactly these arguments"
)
REACH_DB = Phrase("{target}，限这一版 {tool}，参数不限", "{target} by this version of {tool}, with any parameters")
REACH_HTTP = Phrase(
    "{target}，限这一版 {tool}，查询、请求头和正文不限",
    "{target} by this version of {tool}, with any query, headers and body",
)
STATES = {
    "approved": Phrase("已批准", "approved"),
    "consumed": Phrase("已批准并执行", "approved and used"),
    "denied": Phrase("已拒绝", "denied"),
    "expired": Phrase("已过期", "expired"),
    "cancelled": Phrase("已取消", "cancelled"),
}
ALWAYS = Phrase("[a] 以后放行：{what}", "[a] from now on lets through: {what}")
KEYS = Phrase("请输入 y、n、a 或 d，再按回车。", "Type y, n, a or d, then Enter.")
SEE_FIRST = Phrase("内容没有显示完，请先按 d 查看。", "Not all of it was shown: type d first.")
REVOKED = Phrase("已撤销 {ref}，今后会再询问。", "{ref} is revoked: it is asked again from now on.")
NOT_UP = Phrase(
    "守护进程没有运行：它启动后会继续执行。", "The daemon is not running: it goes on with this when it is started."
)
NO_TERMINAL = Phrase(
    "这里没有终端可以确认；看过内容后加 --yes", "there is no terminal to confirm at; read the request, then add --yes"
)
NOTHING_WAITS = Phrase("没有等待批准的请求。", "Nothing waits for approval.")

# --------------------------------------------------------------------------------------------------------------- chat
CHOICES = Phrase(
    "[y] 批准这一次  [n] 拒绝  [a] 批准并记住  [d] 全部内容 > ",
    "[y] yes, once  [n] no  [a] yes, always  [d] show all > ",
)
CHOICES_HIDDEN = Phrase("[d] 先看全部内容  [n] 拒绝 > ", "[d] show all of it first  [n] no > ")
ELSEWHERE = Phrase(
    "等待批准。在另一个终端输入：{ias} approve {ref}   （拒绝：{ias} deny {ref}）",
    "Waiting for approval. In another terminal: {ias} approve {ref}   (to refuse: {ias} deny {ref})",
)
RESOLVED = Phrase("{ref}：{state}", "{ref}: {state}")
AGAIN = Phrase("（重新回答）", "(answering anew)")
STOPPING = Phrase("正在停止……（再按一次 Ctrl-C 离开）", "Stopping… (Ctrl-C again leaves)")
LOST_CONNECTION = Phrase("与守护进程的连接断开，正在重连……", "The connection to the daemon is lost; trying again…")
WELCOME = Phrase("输入消息，Ctrl-D 离开；/new 重新开始。", "Type a message. Ctrl-D leaves, /new begins anew.")
LEAVE = Phrase("（再按一次 Ctrl-C，或按 Ctrl-D 离开）", "(Ctrl-C once more, or Ctrl-D, leaves)")
APART = Phrase(
    "{ref} 还在等待批准（{ias} approve {ref}），这个问题另开一个对话。",
    "{ref} still waits for approval ({ias} approve {ref}); this question gets a conversation of its own.",
)
UNQUEUED = Phrase("还没轮到这条消息，已取消。", "This message was not begun; it is cancelled.")
PROMPT = Phrase("你> ", "you> ")
POSTED = Phrase("已收到。", "Accepted.")
ENDED = Phrase("（结束：{reason}）", "(ended: {reason})")

# ------------------------------------------------------------------------------------------------------- daily errors
NO_DAEMON = Phrase(
    "守护进程没有运行（{socket}）; 先在另一个终端运行：{ias} serve",
    "no daemon answers at {socket}; start one in another terminal: {ias} serve",
)


def state_of(state: str) -> str:
    """Give the state of an approval in the language of the terminal; one that is not known as it is."""
    phrase = STATES.get(state)
    return state if phrase is None else phrase()
