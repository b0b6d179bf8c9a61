"""What the infocodes of AMap mean for the person who asked.

Source: AMap Web service, page "infocode", as of 2022-10-12.
"""

from dataclasses import dataclass

KEY_PAGE = "https://console.amap.com/dev/key/app"


@dataclass(frozen=True, slots=True)
class Meaning:
    """A text in both languages, and whether the same request may work later."""

    zh: str
    en: str
    retry: bool = False


WRONG_KEY = Meaning(
    f"高德 key 不正确或已过期。请在 {KEY_PAGE} 核对后重新设置 AMAP_KEY",
    f"The AMap key is wrong or expired. Check it at {KEY_PAGE} and set AMAP_KEY again",
)
WRONG_PLATFORM = Meaning(
    "高德 key 的类型不对：需要“Web服务”类型的 key（不是 JS API、Android 或 iOS）。"
    f"请在 {KEY_PAGE} 新建一个并设置 AMAP_KEY",
    "The AMap key has the wrong type: it must be a 'Web服务' (Web service) key, not one for the"
    f" JS API, Android or iOS. Make one at {KEY_PAGE} and set AMAP_KEY",
)
DAILY_LIMIT = Meaning(
    "高德 key 今天的配额已用完，明天（北京时间）再试，或在控制台提升配额",
    "The AMap key has used up its quota for today; try tomorrow (Beijing time) or raise the quota",
)
TOO_FAST = Meaning(
    "请求高德过于频繁，请过几秒再试",
    "Too many AMap requests at once; try again in a few seconds",
    retry=True,
)
BUSY = Meaning(
    "高德服务繁忙或超时，请稍后再试",
    "AMap is busy or timed out; try again later",
    retry=True,
)
NO_RIGHT = Meaning(
    "这个高德 key 没有使用该服务的权限，请在控制台开通",
    "This AMap key may not use this service; enable it in the AMap console",
)
NOT_ALLOWED_HERE = Meaning(
    "本机不在高德 key 的白名单（IP 或域名）里，请在控制台修改",
    "This machine is not on the AMap key's whitelist (IP or domain); change it in the console",
)
SIGNATURE = Meaning(
    "这个高德 key 开启了数字签名，本工具不支持；请在控制台关闭签名或换一个 key",
    "This AMap key demands a digital signature, which this tool does not send; switch it off in"
    " the AMap console or use another key",
)
BAD_PARAMS = Meaning(
    "高德不接受这些参数，请检查地点、坐标（经度,纬度）和其他参数",
    "AMap refused the parameters; check the place, the coordinates (longitude,latitude) and the rest",
)
ABROAD = Meaning(
    "高德 key 没有海外数据的权限或配额",
    "The AMap key has no right to, or no quota left for, data outside China",
)
PAID_PLAN = Meaning(
    "高德账号的服务余额已用完或已到期，请在控制台续费",
    "The plan of the AMap account has run out or expired; renew it in the AMap console",
)
UNSOLVED = Meaning(
    "高德没有得出结果，请换一个更完整的地址或地点",
    "AMap found no result; try a fuller address or another place",
)

MEANINGS = {
    "10001": WRONG_KEY,
    "10002": NO_RIGHT,
    "10003": DAILY_LIMIT,
    "10004": TOO_FAST,
    "10005": NOT_ALLOWED_HERE,
    "10006": NOT_ALLOWED_HERE,
    "10007": SIGNATURE,
    "10008": WRONG_KEY,
    "10009": WRONG_PLATFORM,
    "10010": DAILY_LIMIT,
    "10012": NO_RIGHT,
    "10013": WRONG_KEY,
    "10014": TOO_FAST,
    "10015": BUSY,
    "10016": BUSY,
    "10017": BUSY,
    "10019": TOO_FAST,
    "10020": TOO_FAST,
    "10021": TOO_FAST,
    "10026": Meaning(
        "高德账号因异常被停用，请联系高德",
        "AMap has suspended the account; contact AMap",
    ),
    "10029": TOO_FAST,
    "10041": NO_RIGHT,
    "10044": DAILY_LIMIT,
    "10045": ABROAD,
    "20000": BAD_PARAMS,
    "20001": BAD_PARAMS,
    "20002": BAD_PARAMS,
    "20003": Meaning("高德发生未知错误，请稍后再试", "AMap had an unknown error; try later", retry=True),
    "20011": ABROAD,
    "20012": Meaning("高德拒绝了查询内容", "AMap refused the words of the query"),
    "20800": Meaning(
        "起点或终点不在中国境内，高德不能规划路线",
        "A start or end outside China: AMap cannot plan this route",
    ),
    "20801": Meaning(
        "起点或终点附近没有道路",
        "There is no road near the start or the end",
    ),
    "20802": Meaning(
        "无法规划路线（起点和终点之间可能不连通）",
        "No route could be planned; start and end may not be connected",
    ),
    "20803": Meaning(
        "起点和终点相距太远，这种出行方式无法规划；请换驾车或公交",
        "Start and end are too far apart for this way of travel; try driving or transit",
    ),
    "40000": PAID_PLAN,
    "40002": PAID_PLAN,
    "40003": ABROAD,
}


def meaning_of(infocode: str) -> Meaning:
    """Explain an infocode; an unknown one gets a general text, 3xxxx are engine answers."""
    if infocode.startswith("3"):
        return UNSOLVED
    unknown = Meaning("高德返回了错误", "AMap answered with an error")
    return MEANINGS.get(infocode, unknown)
