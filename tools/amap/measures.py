"""Metres, seconds and yuan as a person reads them."""

from typing import Any

from amap_call import Call
from amap_fields import number_of

MINUTE = 60  # s
HOUR = 60  # min


def length(call: Call, metres: float | None) -> str:
    """Show a length, in km from 1,000 m on; "unknown" for None."""
    if metres is None:
        return call.say("距离未知", "distance unknown")
    if metres < 999.5:  # rounds to less than 1000
        return call.say(f"{metres:.0f} 米", f"{metres:.0f} m")
    return call.say(f"{metres / 1000:.1f} 公里", f"{metres / 1000:.1f} km")


def duration(call: Call, seconds: float | None) -> str:
    """Show a duration in hours and minutes, at least one minute; "unknown" for None."""
    if seconds is None:
        return call.say("时间未知", "duration unknown")
    hours, minutes = divmod(max(1, round(seconds / MINUTE)), HOUR)
    zh = " ".join(filter(None, (f"{hours} 小时" if hours else "", f"{minutes} 分钟" if minutes else "")))
    en = " ".join(filter(None, (f"{hours} h" if hours else "", f"{minutes} min" if minutes else "")))
    return call.say(zh, en)


def yuan(call: Call, amount: Any) -> str:
    """Show a price in yuan (a number, or a text with one); empty when there is none."""
    number = number_of(amount)
    if number is None:
        return ""
    return call.say(f"{number:g} 元", f"CNY {number:g}")


def whole(value: Any) -> int | None:
    """Round a number or numeric text; None where there is none."""
    number = number_of(value)
    return None if number is None else round(number)
