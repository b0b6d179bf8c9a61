"""The datetime tool: China's days off and make-up workdays, and how the notices are kept."""

import importlib
from collections.abc import Iterator
from datetime import date, timedelta
from typing import Any

import pytest

from tests.tools.datetime_steps import FOLDER, Message, error, module, serve, told

YEARS = range(2020, 2027)


@pytest.fixture(autouse=True)
def no_zone_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.delenv("TZ", raising=False)
        yield


def days(year: int) -> list[date]:
    return [
        date(year, 1, 1) + timedelta(days=number) for number in range((date(year, 12, 31) - date(year, 1, 1)).days + 1)
    ]


def test_there_is_a_notice_for_every_year_of_a_run_of_years() -> None:
    assert sorted(path.name for path in (FOLDER / "holidays").iterdir()) == [f"{year}.json" for year in YEARS]


@pytest.mark.parametrize("year", YEARS)
def test_the_notices_agree_with_an_independent_table(year: int) -> None:
    table: Any = importlib.import_module("lunar_python.util").HolidayUtil
    status_of = module("when_holidays").status_of

    for day in days(year):
        row = table.getHoliday(day.isoformat())
        status, _ = status_of(day)
        expected = {True: {"makeup_workday"}, False: {"holiday"}, None: {"workday", "weekend"}}
        assert status in expected[row.isWork() if row else None], day


@pytest.mark.parametrize("year", YEARS)
def test_a_notice_works_on_weekend_days_outside_the_holidays(year: int) -> None:
    for holiday in module("when_holidays").arrangement(year):
        assert (1 <= holiday.days <= 10, holiday.first.year in (year, year - 1)) == (True, True)
        assert [day.weekday() >= 5 and not holiday.first <= day <= holiday.last for day in holiday.workdays] == (
            [True] * len(holiday.workdays)
        )


@pytest.mark.parametrize(
    ("day", "status", "is_workday", "content"),
    [
        ("2026-12-01", "workday", True, "2026年12月1日 星期二：工作日。"),
        ("2026-12-05", "weekend", False, "2026年12月5日 星期六：周末休息日。"),
        ("2026-10-10", "makeup_workday", True, "2026年10月10日 星期六：调休上班日（国庆节）。"),
        (
            "2026-10-03",
            "holiday",
            False,
            (
                "2026年10月3日 星期六：放假（国庆节）。\n"
                "国庆节：10月1日（周四）至10月7日（周三）放假 7 天，9月20日（周日）、10月10日（周六）上班。"
            ),
        ),
        (
            "2022-12-31",
            "holiday",
            False,
            "2022年12月31日 星期六：放假（元旦）。\n元旦：12月31日（周六）至1月2日（周一）放假 3 天。",
        ),
        (
            "2027-01-02",
            "unknown",
            None,
            "2027年1月2日 星期六：是否上班未知（国务院关于 2027 年放假的通知不在本版本中）。",
        ),
    ],
)
def test_a_day_is_told_to_be_worked_or_off_or_unknown(
    day: str, status: str, is_workday: bool | None, content: str
) -> None:
    message = serve(action="holiday", date=day)

    assert (message["data"]["status"], message["data"]["is_workday"], message["content"]) == (
        status,
        is_workday,
        content,
    )


def test_today_comes_with_the_next_holiday_where_it_is_known() -> None:
    assert told(
        module("datetime_tool").datetime(2026, 9, 20, 2, tzinfo=module("datetime_tool").UTC), action="holiday"
    ) == (
        "2026年9月20日 星期日：调休上班日（国庆节）。\n下一个假期：中秋节：9月25日（周五）至9月27日（周日）放假 3 天。"
    )
    assert told(action="holiday") == "2026年12月1日 星期二：工作日。"


def test_a_year_is_listed_as_the_notice_arranges_it() -> None:
    message = serve(action="holiday", year=2026, lang="en")

    assert message["content"] == (
        "China's public holidays in 2026 (State Council):\n"
        "- New Year's Day: Thu 1 January to Sat 3 January, 3 days off; worked: Sun 4 January.\n"
        "- Spring Festival: Sun 15 February to Mon 23 February, 9 days off; worked: Sat 14 February, Sat 28 February.\n"
        "- Qingming Festival: Sat 4 April to Mon 6 April, 3 days off.\n"
        "- Labour Day: Fri 1 May to Tue 5 May, 5 days off; worked: Sat 9 May.\n"
        "- Dragon Boat Festival: Fri 19 June to Sun 21 June, 3 days off.\n"
        "- Mid-Autumn Festival: Fri 25 September to Sun 27 September, 3 days off.\n"
        "- National Day: Thu 1 October to Wed 7 October, 7 days off; worked: Sun 20 September, Sat 10 October."
    )
    assert message["data"]["holidays"][0] == {
        "name": "元旦",
        "name_en": "New Year's Day",
        "first": "2026-01-01",
        "last": "2026-01-03",
        "days": 3,
        "workdays": ["2026-01-04"],
    }


@pytest.mark.parametrize(
    ("params", "content"),
    [
        (
            {"festival": "国庆", "year": 2025},
            "国庆节、中秋节：10月1日（周三）至10月8日（周三）放假 8 天，9月28日（周日）、10月11日（周六）上班。",
        ),
        (
            {"festival": "中秋", "year": 2023},
            "国庆节、中秋节：9月29日（周五）至10月6日（周五）放假 8 天，10月7日（周六）、10月8日（周日）上班。",
        ),
        ({"festival": "清明", "year": 2026}, "清明节：4月4日（周六）至4月6日（周一）放假 3 天。"),
        ({"festival": "元旦", "year": 2025}, "元旦：1月1日（周三）放假 1 天。"),
        ({"festival": "情人节", "year": 2026}, "情人节不在 2026 年国务院的放假安排里。"),
        ({"festival": "春节"}, "2027 年的放假调休安排未知：国务院的通知不在本版本中（有 2020 到 2026 年）。"),
        ({"year": 2027}, "2027 年的放假调休安排未知：国务院的通知不在本版本中（有 2020 到 2026 年）。"),
        (
            {"year": 2019, "lang": "en"},
            "Unknown: the State Council's notice for 2019 is not in this version (it has 2020 to 2026).",
        ),
    ],
)
def test_the_days_off_of_a_holiday_are_told_and_never_guessed(params: Message, content: str) -> None:
    assert told(action="holiday", **params) == content


def test_a_year_that_is_no_year_is_refused() -> None:
    assert error(action="holiday", year="next") == "参数 year 要写 1 到 9999 的整数，不能是 'next'。"
    assert error(action="solar_term", year=2200) == "参数 year 要写 1900 到 2100 的整数，不能是 2200。"
