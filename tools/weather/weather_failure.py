"""Why a service gave no weather, and whether it is worth asking it in another way."""

from enum import StrEnum

from weather_fields import Json, line_of, object_of, text_of
from weather_step import parsed

QWEATHER = "和风天气 QWeather"
OPEN_METEO = "Open-Meteo"
# Reasons of QWeather by its status or code, in both languages.
# Source: QWeather docs, page "error code", as of 2026-08 (and its older table, until 2026-07).
REASONS = {
    "204": ("没有该地的这项数据", "it has no such data for this place"),
    "400": ("不接受这个请求", "it does not accept the request"),
    "401": (
        "认证失败，请核对 QWEATHER_KEY 和 QWEATHER_HOST",
        "authentication failed; check QWEATHER_KEY and QWEATHER_HOST",
    ),
    "402": ("额度已用完或欠费，请在控制台续费", "its credit has run out; renew it in the console"),
    "403": ("拒绝访问，请在控制台查看账号和权限", "access denied; see account and rights in the console"),
    "404": ("没有这个接口或数据", "it has no such interface or data"),
    "410": ("这个接口已停用", "this interface is switched off"),
    "429": ("请求过于频繁或超过限额，请稍后再试", "too many requests or over the limit; try again later"),
}
TITLES = {
    "invalid host": (
        "QWEATHER_HOST 不正确，请在控制台“设置”里核对 API Host",
        "QWEATHER_HOST is wrong; check the API Host in the console's settings",
    ),
    "no such location": ("没有找到这个地点", "it does not know this place"),
    "data not available": REASONS["204"],
    "no credit": REASONS["402"],
    "overdue": REASONS["402"],
}
UNREACHED = {
    "no_address": (
        "没有网络，或域名解析不通，请运行 ias doctor --online 检查",
        "no network or no DNS; run `ias doctor --online`",
    ),
    "http_timeout": ("没有及时回答", "it did not answer in time"),
    "response_too_large": ("回答太大", "its answer is too large"),
    "http_failed": ("连接不上", "not reachable"),
}
NO_DATA = ("no such location", "data not available")


class Kind(StrEnum):
    """What a failure means for the next request."""

    GONE = "gone"  # this interface is not there: an older one may be
    NONE = "none"  # the service has nothing for this place
    REFUSED = "refused"  # the account is not served: ask it no more
    DOWN = "down"  # no usable answer


KINDS = {
    "204": Kind.NONE,
    "400": Kind.GONE,
    "401": Kind.REFUSED,
    "402": Kind.REFUSED,
    "403": Kind.REFUSED,
    "404": Kind.GONE,
    "405": Kind.GONE,
    "410": Kind.GONE,
    "429": Kind.REFUSED,
}


class ServiceFailure(Exception):  # noqa: N818  it leads to the next service, it is not a defect
    """A service did not give what was asked for; the texts say which service and why."""

    def __init__(self, kind: Kind, zh: str, en: str) -> None:
        """Keep both texts."""
        super().__init__(en)
        self.kind = kind
        self.zh = zh
        self.en = en


def without(service: str, zh: str, en: str) -> ServiceFailure:
    """Say that an answer lacks what was asked for."""
    return ServiceFailure(Kind.NONE, f"{service}：回答里没有{zh}", f"{service}: its answer has no {en}")


def unreached(code: str, message: str) -> tuple[str, str]:
    """Say in both languages why nothing came back; the host's own words are English and for logs."""
    if "has no address" in message:
        return UNREACHED["no_address"]
    return UNREACHED.get(code, UNREACHED["http_failed"])


def body_of(response: Json, service: str) -> object:
    """Parse an answer.

    Raises:
        ServiceFailure: Nothing came back, or it is not JSON.
    """
    failure = response.get("error")
    if failure is not None or not response:
        zh, en = unreached(line_of(object_of(failure).get("code")), line_of(object_of(failure).get("message")))
        raise ServiceFailure(Kind.DOWN, f"{service}：{zh}", f"{service}: {en}")
    body = parsed(response)
    if body is None:
        status = text_of(response.get("status")) or "?"
        kind = KINDS.get(status, Kind.DOWN)
        is_cut = response.get("truncated") is True
        raise ServiceFailure(
            kind,
            f"{service}：回答{'被截断' if is_cut else '不是 JSON'}（HTTP {status}）",
            f"{service}: its answer {'was cut' if is_cut else 'is not JSON'} (HTTP {status})",
        )
    return body


def checked_qweather(response: Json) -> Json:
    """Return the body of a good answer of QWeather; it has two generations of errors.

    Raises:
        ServiceFailure: HTTP 4xx with `error.title`, HTTP 200 with another `code` than "200", or no usable body.
    """
    body = object_of(body_of(response, QWEATHER))
    error = object_of(body.get("error"))
    status = text_of(response.get("status"))
    code = text_of(body.get("code")) or text_of(error.get("status")) or status
    if not error and code in ("200", ""):
        return body
    title = line_of(error.get("title"), limit=80)
    is_nothing = title.lower() in NO_DATA
    kind = Kind.NONE if is_nothing else KINDS.get(code, Kind.DOWN)
    zh, en = TITLES.get(title.lower()) or REASONS.get(code) or ("服务出错", "the service failed")
    detail = " ".join(filter(None, (code, title)))
    raise ServiceFailure(kind, f"{QWEATHER}：{zh}（{detail}）", f"{QWEATHER}: {en} ({detail})")


def checked_open_meteo(response: Json) -> Json:
    """Return the body of a good answer of Open-Meteo.

    Raises:
        ServiceFailure: It answered with `error` and `reason`, with an HTTP error, or not usably.
    """
    body = object_of(body_of(response, OPEN_METEO))
    status = text_of(response.get("status"))
    if not body.get("error") and status in ("200", ""):
        return body
    reason = line_of(body.get("reason"), limit=160)
    detail = " ".join(filter(None, (f"HTTP {status}" if status else "", reason)))
    kind = Kind.REFUSED if status == "429" else Kind.DOWN
    raise ServiceFailure(
        kind, f"{OPEN_METEO}：没有接受请求（{detail}）", f"{OPEN_METEO}: it refused the request ({detail})"
    )
