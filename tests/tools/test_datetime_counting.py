"""The datetime tool: time between dates, dates after others, days until festivals, zones and timestamps."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.tools.datetime_steps import Message, error, module, serve, told


@pytest.fixture(autouse=True)
def no_zone_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.delenv("TZ", raising=False)
        yield


def test_the_days_between_two_dates_are_counted() -> None:
    assert serve(action="diff", date="2026-09-01", end="2026-10-31") == {
        "type": "result",
        "content": (
            "从 2026年9月1日 星期二 到 2026年10月31日 星期六：\n"
            "相差 60 天（1 个月 30 天）。\n"
            "其中工作日 39 天（不算 2026-09-01 当天）。"
        ),
        "data": {
            "start": {"date": "2026-09-01", "weekday": "Tuesday"},
            "end": {"date": "2026-10-31", "weekday": "Saturday"},
            "days": 60,
            "business_days": 39,
            "calendar": {"years": 0, "months": 1, "days": 30},
            "unknown_years": [],
        },
    }


def test_years_without_a_known_notice_are_said_to_be_counted_by_weekends() -> None:
    assert told(action="diff", date="2019-12-31", end="2028-01-01").splitlines()[-1] == (
        "注意：国务院关于 2019、2027-2028 年放假的通知不在本版本中，这些年的工作日只除去周末。"
    )
    assert serve(action="add", date="2026-12-31", amount=3, unit="business_days", lang="en") == {
        "type": "result",
        "content": (
            "3 working days after Thursday, 31 December 2026 is Tuesday, 5 January 2027.\n"
            "Note: the State Council's notice is not known for 2027: only weekends are left out there."
        ),
        "data": {
            "start": {"date": "2026-12-31", "weekday": "Thursday"},
            "amount": 3,
            "unit": "business_days",
            "result": {"date": "2027-01-05", "weekday": "Tuesday"},
            "unknown_years": ["2027"],
        },
    }


def test_times_differ_by_real_time_across_a_change_of_the_clock() -> None:
    message = serve(action="diff", date="2026-03-08 00:00", end="2026-03-09 00:00", timezone="New York")

    assert (message["data"]["days"], message["data"]["seconds"]) == (1, 23 * 3600)
    assert message["content"].splitlines()[1] == "That is 23 hours."


def test_an_earlier_second_date_is_said_to_be_earlier() -> None:
    assert told(action="diff", end="2026-11-01") == (
        "从 2026年12月1日 星期二 到 2026年11月1日 星期日：\n"
        "相差 30 天（1 个月）（后者更早）。\n"
        "其中工作日 21 天（不算 2026-12-01 当天）。"
    )


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({"amount": 3, "unit": "business_days"}, "2026年12月1日 星期二 的 3 个工作日后是 2026年12月4日 星期五。"),
        (
            {"date": "2026-09-30", "amount": 1, "unit": "business_days"},
            "2026年9月30日 星期三 的 1 个工作日后是 2026年10月8日 星期四。",
        ),
        (
            {"date": "2026-10-11", "amount": -1, "unit": "business_days"},
            "2026年10月11日 星期日 的 1 个工作日前是 2026年10月10日 星期六。",
        ),
        (
            {"date": "2026-01-31", "amount": 1, "unit": "months"},
            "2026年1月31日 星期六 的 1 个月后是 2026年2月28日 星期六。\n那个月没有 31 日，取月末。",
        ),
        (
            {"date": "2024-02-29", "amount": -1, "unit": "years", "lang": "en"},
            (
                "1 year before Thursday, 29 February 2024 is Tuesday, 28 February 2023.\n"
                "That month has no day 29: its last day."
            ),
        ),
        (
            {"amount": 90, "unit": "minutes"},
            "2026年12月1日 星期二 10:30:15 的 90 分钟后是 2026年12月1日 星期二 12:00:15。",
        ),
        (
            {"date": "today", "amount": -2, "unit": "weeks"},
            "2 weeks before Tuesday, 1 December 2026 is Tuesday, 17 November 2026.",
        ),
        (
            {"date": "2026-03-07 02:30", "amount": 1, "timezone": "New York"},
            (
                "1 day after Saturday, 7 March 2026 02:30 is Sunday, 8 March 2026 03:30.\n"
                "Note: 02:30 does not exist in New York that day (the clock is put forward); 03:30 is meant."
            ),
        ),
    ],
)
def test_an_amount_of_a_unit_is_added(params: Message, content: str) -> None:
    assert told(action="add", **params) == content


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({"festival": "春节"}, "离春节（2027年2月6日 星期六）还有 67 天。"),
        ({"festival": "清明"}, "离清明节（2027年4月5日 星期一）还有 125 天。"),
        ({"festival": "中秋"}, "离中秋节（2027年9月15日 星期三）还有 288 天。"),
        ({"festival": "除夕"}, "离除夕（2027年2月5日 星期五）还有 66 天。"),
        ({"festival": "端午节", "year": 2026}, "端午节（2026年6月19日 星期五）已经过去 165 天。"),
        ({"festival": "腊八", "year": 2027}, "离腊八节（2027年1月15日 星期五）还有 45 天。"),
        ({"festival": "冬至"}, "离冬至（2026年12月22日 星期二）还有 21 天。"),
        ({"festival": "Christmas"}, "24 days until Christmas (Friday, 25 December 2026)."),
        ({"festival": "new years day"}, "31 days until New Year's Day (Friday, 1 January 2027)."),
        ({"festival": "Mother’s Day"}, "159 days until Mother's Day (Sunday, 9 May 2027)."),
        ({"festival": "Thanksgiving", "year": 2026}, "Thanksgiving (Thursday, 26 November 2026) was 5 days ago."),
        ({"festival": "复活节"}, "离复活节（2027年3月28日 星期日）还有 117 天。"),
        ({"date": "12月1日"}, "今天就是2026年12月1日 星期二。"),
        ({"date": "11月30日"}, "离2027年11月30日 星期二还有 364 天。"),
        ({"date": "2026-11-01"}, "2026年11月1日 星期日已经过去 30 天。"),
        ({"date": "18:00"}, "离2026年12月1日 星期二 18:00还有 7小时29分钟45秒。"),
        ({"date": "9点"}, "离2026年12月2日 星期三 09:00还有 22小时29分钟45秒。"),
        ({"date": "tomorrow"}, "1 day until Wednesday, 2 December 2026."),
    ],
)
def test_the_time_until_a_festival_or_a_date_is_told(params: Message, content: str) -> None:
    assert told(action="until", **params) == content


def test_a_festival_is_today_on_its_day() -> None:
    assert told(datetime(2027, 2, 5, 16, 0, tzinfo=UTC), action="until", festival="过年") == (
        "今天就是春节（2027年2月6日 星期六）。"
    )


@pytest.mark.parametrize(
    ("year", "day"), [(1961, "1961-04-02"), (2000, "2000-04-23"), (2024, "2024-03-31"), (2038, "2038-04-25")]
)
def test_easter_is_computed(year: int, day: str) -> None:
    assert serve(action="until", festival="Easter", year=year)["data"]["target"]["date"] == day


def test_the_names_of_festivals_do_not_collide() -> None:
    festivals = module("when_festivals")
    spoken = [(festivals._word(name), one.zh) for one in festivals.FESTIVALS for name in festivals._names(one)]

    assert len({word for word, _ in spoken}) == len(spoken)


@pytest.mark.parametrize(
    ("params", "lines"),
    [
        (
            {"date": "15:00", "timezone": "东京", "to_timezone": "北京"},
            [
                "东京 2026年12月1日 星期二 15:00（UTC+9） = 北京 2026年12月1日 星期二 14:00（UTC+8）",
                "Unix 时间戳：1796104800 秒。",
            ],
        ),
        (
            {"date": "1700000000"},
            ["时间戳 1700000000 = 北京时间 2023年11月15日 星期三 06:13:20（UTC+8）", "Unix 时间戳：1700000000 秒。"],
        ),
        (
            {"date": 1700000000000, "to_timezone": "New York"},
            [
                "Timestamp 1700000000000 = Tuesday, 14 November 2023 17:13:20 in New York (UTC-5)",
                "Unix timestamp: 1700000000 s.",
            ],
        ),
        (
            {"date": "@0", "timezone": "UTC"},
            ["时间戳 0 = UTC 1970年1月1日 星期四 00:00（UTC+0）", "Unix 时间戳：0 秒。"],
        ),
        (
            {"date": "2026-12-01T10:00:00Z", "to_timezone": "北京"},
            [
                "2026年12月1日 星期二 10:00（UTC+0） = 北京 2026年12月1日 星期二 18:00（UTC+8）",
                "Unix 时间戳：1796119200 秒。",
            ],
        ),
        (
            {"date": "2026-03-08 02:30", "timezone": "纽约", "to_timezone": "北京"},
            [
                "纽约 2026年3月8日 星期日 03:30（UTC-4） = 北京 2026年3月8日 星期日 15:30（UTC+8）",
                "Unix 时间戳：1772955000 秒。",
                "注意：纽约当天 02:30 不存在（夏令时拨快时钟），按 03:30 计算。",
            ],
        ),
        (
            {"date": "2026-11-01 01:30", "timezone": "New York", "to_timezone": "London"},
            [
                "Sunday, 1 November 2026 01:30 in New York (UTC-4) = Sunday, 1 November 2026 05:30 in London (UTC+0)",
                "Unix timestamp: 1793511000 s.",
                (
                    "Note: 01:30 comes twice in New York that day (the clock is put back); "
                    "this is the first (UTC-4), the second is UTC-5."
                ),
            ],
        ),
        ({}, ["北京时间 2026年12月1日 星期二 10:30:15（UTC+8）", "Unix 时间戳：1796092215 秒。"]),
    ],
)
def test_times_and_timestamps_are_converted(params: Message, lines: list[str]) -> None:
    assert told(action="convert", **params).splitlines() == lines


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({"action": "diff"}, "请用 date 和 end 给出两个日期，例如 2026-12-01 和 2027-02-06。"),
        (
            {"action": "diff", "date": "2026-02-30", "end": "今天"},
            "没有 '2026-02-30' 这个日期或时间，请检查后重写，例如 2026-12-01 或 2026-12-01 15:30。",
        ),
        (
            {"action": "convert", "date": "someday"},
            (
                "The date 'someday' is not understood: write 2026-12-01, 2026-12-01 15:30, 1 December, tomorrow, "
                "next Friday or a Unix timestamp."
            ),
        ),
        (
            {"action": "add"},
            "请用 amount 给出数量（之前写负数），用 unit 给出单位，例如 amount=3, unit=business_days。",
        ),
        ({"action": "add", "amount": 1.5}, "参数 amount 要写 -1000000 到 1000000 的整数，不能是 1.5。"),
        (
            {"action": "add", "amount": 20001, "unit": "business_days"},
            "参数 amount 要写 -20000 到 20000 的整数，不能是 20001。",
        ),
        (
            {"action": "add", "amount": 1, "unit": "moons", "lang": "en"},
            "No unit 'moons': seconds, minutes, hours, days, business_days, weeks, months, years.",
        ),
        (
            {"action": "add", "amount": 1000000, "unit": "years"},
            "结果超出公元 1 年到 9999 年，请把日期或数量改小。",
        ),
        ({"action": "add", "date": "0001-01-01", "amount": -1, "lang": "en"}, "The result leaves the years 1 to 9999."),
        (
            {"action": "until"},
            "请用 festival 给出节日（如 春节）或用 date 给出日期（如 2027-02-06）。",
        ),
        (
            {"action": "until", "festival": "圣蛋节"},
            "不认识节日 '圣蛋节'。相近的有：圣诞节、万圣节。请写节日或节气名（春节、国庆节、冬至），或用 date 写日期。",
        ),
        (
            {"action": "until", "festival": "Chrismas"},
            (
                "There is no festival 'Chrismas'. Near names: Christmas, Christmas Eve. "
                "Write a festival or solar term (Spring Festival, Christmas, Winter Solstice), or a date in `date`."
            ),
        ),
        (
            {"action": "solar_term", "festival": "Christmas"},
            "Christmas is no solar term. There are: " + ", ".join(module("when_lunar").TERMS_EN.values()) + ".",
        ),
    ],
)
def test_a_wrong_call_is_told_what_to_write_instead(params: Message, content: str) -> None:
    assert error(**params) == content
