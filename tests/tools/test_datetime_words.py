"""The datetime tool: dates and times in the words of people."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from tests.tools.datetime_steps import module

TUESDAY = datetime(2026, 12, 1, 10, 30, 15, tzinfo=ZoneInfo("Asia/Shanghai"))


def read(text: str) -> str:
    """Return the day, and the time of day where there is one."""
    when = module("when_words").read_when(text, TUESDAY)
    return when.day.isoformat() if when.at is None else f"{when.day.isoformat()} {when.at.isoformat()}"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("2026-12-01", "2026-12-01"),
        ("2026/2/3", "2026-02-03"),
        ("2026.2.3", "2026-02-03"),
        ("20261225", "2026-12-25"),
        ("2026-W49-2", "2026-12-01"),
        ("2027年2月6日", "2027-02-06"),
        ("\uff12\uff10\uff12\uff17年\uff12月\uff16日", "2027-02-06"),
        ("二\u3007二七年十二月二十五号", "2027-12-25"),
        ("12月25日", "2026-12-25"),
        ("明年3月5号", "2027-03-05"),
        ("3/15", "2026-03-15"),
        ("2月29日", "2028-02-29"),
        ("大后天", "2026-12-04"),
        ("昨天", "2026-11-30"),
        ("the day after tomorrow", "2026-12-03"),
        ("3天后", "2026-12-04"),
        ("两周前", "2026-11-17"),
        ("in 2 weeks", "2026-12-15"),
        ("10 days ago", "2026-11-21"),
        ("周二", "2026-12-01"),
        ("周一", "2026-12-07"),
        ("本周一", "2026-11-30"),
        ("下周五", "2026-12-11"),
        ("下个星期天", "2026-12-13"),
        ("下下周三", "2026-12-16"),
        ("上周日", "2026-11-29"),
        ("周末", "2026-12-05"),
        ("Friday", "2026-12-04"),
        ("next fri", "2026-12-11"),
        ("last Monday", "2026-11-23"),
        ("月底", "2026-12-31"),
        ("年底", "2026-12-31"),
        ("春节", "2027-02-06"),
        ("2026年国庆节", "2026-10-01"),
        ("Christmas 2027", "2027-12-25"),
        ("Dec 25", "2026-12-25"),
        ("December 25th, 2027", "2027-12-25"),
        ("25 December 2027", "2027-12-25"),
        ("the 4th of July", "2026-07-04"),
    ],
)
def test_a_day_is_read(text: str, day: str) -> None:
    assert read(text) == day


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("2026-12-01 15:30", "2026-12-01 15:30:00"),
        ("2026-12-01T15:30:05", "2026-12-01 15:30:05"),
        ("20261201T1530", "2026-12-01 15:30:00"),
        ("15:30", "2026-12-01 15:30:00"),
        ("下午3点", "2026-12-01 15:00:00"),
        ("明天下午三点半", "2026-12-02 15:30:00"),
        ("明晚8点", "2026-12-02 20:00:00"),
        ("早上9点一刻", "2026-12-01 09:15:00"),
        ("12月25日 9时5分", "2026-12-25 09:05:00"),
        ("中午12点", "2026-12-01 12:00:00"),
        ("中午1点", "2026-12-01 13:00:00"),
        ("凌晨12点", "2026-12-01 00:00:00"),
        ("今晚12点", "2026-12-02 00:00:00"),
        ("24:00", "2026-12-02 00:00:00"),
        ("3pm", "2026-12-01 15:00:00"),
        ("3:15 p.m. tomorrow", "2026-12-02 15:15:00"),
        ("12 am", "2026-12-01 00:00:00"),
        ("12pm", "2026-12-01 12:00:00"),
        ("noon", "2026-12-01 12:00:00"),
        ("next Friday at 9:00", "2026-12-11 09:00:00"),
        ("Dec 25, 2026 8:05 am", "2026-12-25 08:05:00"),
        ("now", "2026-12-01 10:30:15"),
    ],
)
def test_a_time_of_day_is_read(text: str, moment: str) -> None:
    assert read(text) == moment


@pytest.mark.parametrize(
    ("text", "instant"),
    [
        ("1700000000", datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)),
        ("1700000000.5", datetime(2023, 11, 14, 22, 13, 20, 500_000, tzinfo=UTC)),
        ("1700000000123", datetime(2023, 11, 14, 22, 13, 20, 123_000, tzinfo=UTC)),
        ("@0", datetime(1970, 1, 1, tzinfo=UTC)),
        ("@-86400", datetime(1969, 12, 31, tzinfo=UTC)),
        ("2026-12-01T10:00:00+08:00", datetime(2026, 12, 1, 2, tzinfo=UTC)),
        ("2026-12-01 10:00Z", datetime(2026, 12, 1, 10, tzinfo=UTC)),
    ],
)
def test_an_instant_is_read(text: str, instant: datetime) -> None:
    assert module("when_words").read_when(text, TUESDAY).instant == instant


@pytest.mark.parametrize(
    "text",
    ["", "someday", "2026-13-01", "2026-02-29", "0000-01-01", "25:00", "13月1日", "周八", "Foo 12", "2026", "x 3pm"],
)
def test_what_is_no_date_is_refused(text: str) -> None:
    with pytest.raises(module("when_call").Refusal):
        read(text)


@pytest.mark.parametrize(
    ("numeral", "number"),
    [
        ("三", 3),
        ("十", 10),
        ("十二", 12),
        ("二十", 20),
        ("廿三", 23),
        ("卅", 30),
        ("九十九", 99),
        ("二\u3007二六", 2026),
    ],
)
def test_a_numeral_is_read(numeral: str, number: int) -> None:
    assert module("when_numerals").number_of(numeral) == number


@pytest.mark.parametrize("numeral", ["", "十十", "二十百", "百", "一二三四五", "x"])
def test_what_is_no_numeral_is_none(numeral: str) -> None:
    assert module("when_numerals").number_of(numeral) is None
