"""Date and time: the present anywhere, the lunar calendar, solar terms, China's holidays, and counting with dates."""

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from when_calendar import tell_day, tell_holidays, tell_lunar, tell_solar_terms
from when_call import Call, Message, Refusal, read_call, result
from when_count import add, difference, until
from when_now import convert, tell_now

ACTIONS: dict[str, Callable[[Call], Message]] = {
    "now": tell_now,
    "day": tell_day,
    "lunar": tell_lunar,
    "solar_term": tell_solar_terms,
    "holiday": tell_holidays,
    "diff": difference,
    "add": add,
    "until": until,
    "convert": convert,
}


def main(envelope: Any) -> Message:
    """Serve one call."""
    return answer(envelope, datetime.now(UTC))


def answer(envelope: Any, now: datetime) -> Message:
    """Serve one call at the aware instant `now`."""
    call = read_call(envelope, now)
    action = call.text("action") or "now"
    serve = ACTIONS.get(action)
    if serve is None:
        names = ", ".join(ACTIONS)
        text = call.say(
            f"没有 action {action[:40]!r}，可用：{names}。", f"There is no action {action[:40]!r}: {names}."
        )
        return result(text, {}, is_error=True)
    try:
        return serve(call)
    except Refusal as refusal:
        return result(call.say(refusal.zh, refusal.en), refusal.facts, is_error=True)
    except OverflowError:
        text = call.say("结果超出公元 1 年到 9999 年，请把日期或数量改小。", "The result leaves the years 1 to 9999.")
        return result(text, {}, is_error=True)


if __name__ == "__main__":
    line = sys.stdin.buffer.readline()
    if line:
        sys.stdout.write(json.dumps(main(json.loads(line))) + "\n")
