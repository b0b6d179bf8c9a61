"""Properties of the datetime tool: calendars that invert, counts that invert, no input that breaks it."""

import json
from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.tools.datetime_steps import module, run_process, serve

DAYS = st.dates(date(1900, 2, 1), date(2100, 12, 31))
ZONES = st.sampled_from(["Asia/Shanghai", "America/New_York", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia"])
WORDS = st.one_of(
    st.text(max_size=20),
    st.sampled_from(
        ["今天", "下周五", "2026-12-01", "24:00", "99:99", "二月三十日", "0000-00-00", "1e999", "-999999999999"]
    ),
    st.from_regex(r"[0-9]{1,5}[-年/.][0-9]{1,3}[-月/.][0-9]{1,3}日?( [0-9]{1,2}[:点][0-9]{2})?", fullmatch=True),
)
ANYTHING: st.SearchStrategy[Any] = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), WORDS),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=5), inner, max_size=3)),
    max_leaves=5,
)
ACTIONS = ("now", "lunar", "solar_term", "holiday", "diff", "add", "until", "convert")
UNITS = ("seconds", "minutes", "hours", "days", "business_days", "weeks", "months", "years")


@pytest.fixture(autouse=True)
def no_zone_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.delenv("TZ", raising=False)
        yield


@settings(deadline=None)
@given(day=DAYS)
@example(day=date(2025, 7, 25))
def test_a_lunar_date_leads_back_to_its_day(day: date) -> None:
    lunar = serve(action="lunar", date=day.isoformat())["data"]["lunar"]
    back = f"{lunar['year']}年{lunar['text']}"

    if lunar["year"] >= 1900:
        assert serve(action="lunar", lunar_date=back)["data"] == {
            "date": day.isoformat(),
            "weekday": day.strftime("%A"),
            "lunar": lunar,
        }


@settings(deadline=None)
@given(day=DAYS)
def test_the_next_day_is_the_next_lunar_day_or_the_first_of_a_month(day: date) -> None:
    lunar_of = module("when_lunar").lunar_of
    if day < date(2100, 12, 31):
        here, there = lunar_of(day), lunar_of(day + timedelta(days=1))
        assert there.day == here.day + 1 or (there.day == 1 and here.day in (29, 30))


@settings(deadline=None)
@given(day=DAYS, amount=st.integers(-3000, 3000))
def test_what_was_added_is_the_difference(day: date, amount: int) -> None:
    for unit, key in (("days", "days"), ("business_days", "business_days")):
        end = serve(action="add", date=day.isoformat(), amount=amount, unit=unit)["data"]["result"]["date"]
        assert serve(action="diff", date=day.isoformat(), end=end)["data"][key] == amount


@settings(deadline=None)
@given(start=DAYS, end=DAYS)
def test_working_days_are_those_that_are_worked(start: date, end: date) -> None:
    holidays = module("when_holidays")
    end = min(end, start + timedelta(days=800))
    counted = holidays.working_days(start, end)

    if start <= end:
        worked = [holidays.works(start + timedelta(days=number + 1)) for number in range((end - start).days)]
        assert counted == sum(worked)


@settings(deadline=None)
@given(start=DAYS, end=DAYS)
def test_years_months_and_days_add_up_to_the_later_day(start: date, end: date) -> None:
    count = module("when_count")
    start, end = sorted((start, end))
    years, months, days = count.calendar_span(start, end)

    assert (0 <= months < 12, 0 <= days < 31) == (True, True)
    assert count.add_months(start, years * 12 + months) + timedelta(days=days) == end


@settings(deadline=None)
@given(wall=st.datetimes(datetime(1990, 1, 1), datetime(2037, 1, 1)), key=ZONES)  # noqa: DTZ001  a wall clock has no zone
@example(wall=datetime(2011, 12, 30, 12), key="Pacific/Apia")  # noqa: DTZ001  a day that the clock skipped there
def test_a_wall_clock_time_is_kept_or_the_change_is_said(wall: datetime, key: str) -> None:
    zones = module("when_zones")
    wall = wall.replace(microsecond=0)
    placed = zones.place(wall, zones.Zone(rules=ZoneInfo(key), label=key, key=key))

    is_kept = placed.moment.replace(tzinfo=None) == wall
    assert is_kept or "不存在" in placed.zh
    assert bool(placed.zh) == bool(placed.en)


@settings(deadline=None)
@given(stamp=st.integers(100_000_000, 4_000_000_000), key=ZONES)
def test_a_timestamp_leads_back_to_itself(stamp: int, key: str) -> None:
    there = serve(action="convert", date=str(stamp), to_timezone=key)["data"]["to"]["datetime"]

    assert serve(action="convert", date=there)["data"]["unix_seconds"] == stamp


@settings(max_examples=400, deadline=None)
@given(
    action=st.sampled_from(ACTIONS),
    params=st.fixed_dictionaries(
        {},
        optional={
            "date": ANYTHING,
            "end": ANYTHING,
            "timezone": ANYTHING,
            "to_timezone": ANYTHING,
            "festival": ANYTHING,
            "year": ANYTHING,
            "lunar_date": ANYTHING,
            "is_leap": ANYTHING,
            "amount": ANYTHING,
            "unit": st.one_of(st.sampled_from(UNITS), ANYTHING),
            "lang": ANYTHING,
        },
    ),
)
@example(action="until", params={"date": "2月29日"})
@example(action="until", params={"date": "9999-12-31 24:00"})
@example(action="convert", params={"date": "9999-12-31 23:59", "timezone": "UTC-12"})
@example(action="solar_term", params={"date": "1900-01-01"})
@example(action="solar_term", params={"date": "2100-12-31"})
@example(action="lunar", params={"date": "1900-01-01"})
@example(action="add", params={"date": "0001-01-01 00:00", "timezone": "东京", "amount": -1, "unit": "hours"})
def test_any_parameters_get_an_answer(action: str, params: dict[str, Any]) -> None:
    message = serve(action=action, **params)

    assert (message["type"], bool(message["content"])) == ("result", True)


@given(day=st.dates(), festival=st.sampled_from(["春节", "腊八", "冬至", "感恩节", "2月29日", "Easter"]))
@settings(max_examples=60, deadline=None)
@example(day=date(1, 1, 1), festival="感恩节")
@example(day=date(9999, 12, 31), festival="感恩节")
def test_any_clock_gets_an_answer(day: date, festival: str) -> None:
    now = datetime(day.year, day.month, day.day, 12, tzinfo=ZoneInfo("UTC"))

    for params in ({}, {"action": "until", "festival": festival}, {"action": "holiday"}, {"action": "solar_term"}):
        assert serve(now, **params)["type"] == "result"


@pytest.mark.parametrize(
    "envelope", [{}, [], None, "x", {"params": []}, {"params": {"date": "\ud800", "action": "diff"}}]
)
def test_an_envelope_of_any_shape_gets_one_line(envelope: Any) -> None:
    code, out, err = run_process(json.dumps(envelope) + "\n")

    assert (code, err, out.count("\n"), json.loads(out)["type"]) == (0, "", 1, "result")
