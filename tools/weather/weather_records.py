"""What the readers of both services have in common: records in metric units, under the same names."""

import re
from collections.abc import Callable

from weather_failure import QWEATHER, without
from weather_fields import Json, filled, line_of, list_of, object_of, text_of

MAX_DAYS = 10
MAX_HOURS = 72
MAX_ALERTS = 5  # given in full; more are counted
CLOCK = re.compile(r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)")
# What makes a record worth showing.
ESSENTIAL = ("text", "temp_c", "max_c", "min_c", "text_day")


def clock(value: object) -> str:
    """Return a service's time as `YYYY-MM-DD HH:MM`, with " UTC" where it says so, else local; "" for no time."""
    text = text_of(value)
    match = CLOCK.match(text)
    if match is None:
        return ""
    return f"{match[1]} {match[2]}" + (" UTC" if text.endswith("Z") else "")


def record(fields: Json) -> Json:
    """Leave out what is unknown; an empty record where nothing essential is known."""
    known = filled(fields)
    return known if any(name in known for name in ESSENTIAL) else {}


def some(rows: list[Json], service: str, name: str, zh: str) -> Json:
    """Return the rows that say something, under `name`.

    Raises:
        ServiceFailure: There is none.
    """
    kept = [row for row in rows if row]
    if not kept:
        raise without(service, zh, name)
    return {name: kept}


def alert(fields: Json) -> Json:
    """Shorten an alert's texts to what a message can carry, and make sure that it has a headline."""
    headline = line_of(fields.get("headline")) or line_of(fields.get("type")) or line_of(fields.get("text"), limit=80)
    if not headline:
        return {}
    return filled(
        {
            "headline": headline,
            "type": line_of(fields.get("type")),
            "severity": line_of(fields.get("severity")),
            "color": line_of(fields.get("color")),
            "sender": line_of(fields.get("sender")),
            "issued": clock(fields.get("issued")),
            "expires": clock(fields.get("expires")),
            "text": text_of(fields.get("text"), limit=2000),
            "instruction": text_of(fields.get("instruction"), limit=1000),
        }
    )


def alerts(listed: object, read: Callable[[Json], Json | None], *, is_none: bool, credit: object) -> Json:
    """Collect alerts; "none" only where the service says so.

    Args:
        listed: What stands where the list of alerts belongs.
        read: Reads one; None for a cancelled one, empty where it says nothing.
        is_none: The service says that there is none.
        credit: Texts that have to be shown with them.

    Raises:
        ServiceFailure: The answer has no list, or one with an alert that cannot be read and none that can.
    """
    rows = [read(object_of(one)) for one in list_of(listed)]
    kept = [row for row in rows if row]
    if not is_none and not kept and (not isinstance(listed, list) or {} in rows):
        raise without(QWEATHER, "预警", "alerts")
    credits_ = [text for one in list_of(credit) if (text := line_of(one))]
    return {"alerts": kept[:MAX_ALERTS], "more": max(0, len(kept) - MAX_ALERTS), "attributions": credits_[:5]}
