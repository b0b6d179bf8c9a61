"""The datetime tool: the present, the lunar calendar, solar terms, and the program as a process."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.tools.datetime_steps import FOLDER, Message, error, module, run_process, serve, told

SPEC = yaml.safe_load((FOLDER / "specs" / "datetime.tool.yaml").read_text("utf-8"))


@pytest.fixture(autouse=True)
def no_zone_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.delenv("TZ", raising=False)
        yield


def test_the_present_is_told_with_chinas_calendar() -> None:
    assert serve() == {
        "type": "result",
        "content": (
            "现在是 2026年12月1日 星期二 10:30:15（北京时间，UTC+8），第 49 周。\n"
            "农历丙午年（马年）十月廿三。\n"
            "今天：工作日。下一个节气：大雪，12月7日 10:52:32。"
        ),
        "data": {
            "datetime": "2026-12-01T10:30:15+08:00",
            "timezone": "Asia/Shanghai",
            "utc_offset": "UTC+8",
            "weekday": "Tuesday",
            "iso_week": "2026-W49",
            "day_of_year": 335,
            "lunar": {
                "text": "十月廿三",
                "year": 2026,
                "month": 10,
                "day": 23,
                "is_leap_month": False,
                "year_ganzhi": "丙午",
                "month_ganzhi": "己亥",
                "day_ganzhi": "己酉",
                "zodiac": "马",
                "zodiac_en": "Horse",
            },
            "next_solar_term": {"name": "大雪", "name_en": "Major Snow", "datetime": "2026-12-07T10:52:32+08:00"},
            "china_day": "workday",
        },
    }


@pytest.mark.parametrize(
    ("zone", "content"),
    [
        ("东京", "现在是 2026年12月1日 星期二 11:30:15（东京，UTC+9），第 49 周。"),
        ("Asia/Tokyo", "现在是 2026年12月1日 星期二 11:30:15（Asia/Tokyo，UTC+9），第 49 周。"),
        ("asia/tokyo", "现在是 2026年12月1日 星期二 11:30:15（Asia/Tokyo，UTC+9），第 49 周。"),
        ("纽约时间", "现在是 2026年11月30日 星期一 21:30:15（纽约时间，UTC-5），第 49 周。"),
        ("UTC+5:30", "现在是 2026年12月1日 星期二 08:00:15（UTC+5:30），第 49 周。"),
        ("西五区", "现在是 2026年11月30日 星期一 21:30:15（UTC-5），第 49 周。"),
        ("美国纽约", "现在是 2026年11月30日 星期一 21:30:15（美国纽约，UTC-5），第 49 周。"),
        ("中国香港", "现在是 2026年12月1日 星期二 10:30:15（中国香港，UTC+8），第 49 周。"),
        ("京都市", "现在是 2026年12月1日 星期二 11:30:15（京都市，UTC+9），第 49 周。"),
        ("Paris, France", "It is 03:30:15 on Tuesday, 1 December 2026 (Paris, France, UTC+1), week 49."),
        ("London", "It is 02:30:15 on Tuesday, 1 December 2026 (London, UTC+0), week 49."),
        ("new  york", "It is 21:30:15 on Monday, 30 November 2026 (new  york, UTC-5), week 49."),
        ("Kathmandu", "It is 08:15:15 on Tuesday, 1 December 2026 (Kathmandu, UTC+5:45), week 49."),
        ("Tahiti", "It is 16:30:15 on Monday, 30 November 2026 (Tahiti, UTC-10), week 49."),
    ],
)
def test_the_present_is_told_in_any_zone(zone: str, content: str) -> None:
    assert told(timezone=zone) == content


def test_the_zone_of_the_environment_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", ":Europe/Paris")
    assert told() == "现在是 2026年12月1日 星期二 03:30:15（Europe/Paris，UTC+1），第 49 周。"
    monkeypatch.setenv("TZ", "../nowhere")
    assert serve()["data"]["timezone"] == "Asia/Shanghai"


def test_a_holiday_that_is_near_is_told_with_the_present() -> None:
    assert told(datetime(2026, 9, 29, 16, 0, tzinfo=UTC), lang="en").splitlines()[1:] == [
        "No zone is set, so this is China's time: name a city, or set TZ where ias runs.",
        "Chinese calendar: month 8, day 20 of the year of the Horse (丙午).",
        "In China today is a working day. Next solar term: Cold Dew, 8 October 14:29:17 Beijing time.",
        "National Day: 7 days off from 1 October.",
    ]


@pytest.mark.parametrize(
    ("zone", "content", "near"),
    [
        (
            "Toyko",
            (
                "There is no time zone 'Toyko'. Near names: Asia/Tokyo. "
                "Write a city (Tokyo), an IANA name (Asia/Tokyo) or UTC+8."
            ),
            ["Asia/Tokyo"],
        ),
        (
            "美国",
            "'美国' 有多个时区，请写其中一个：纽约、芝加哥、丹佛、洛杉矶。",
            ["纽约", "芝加哥", "丹佛", "洛杉矶"],
        ),
        (
            "../../etc/passwd",
            "不认识时区 '../../etc/passwd'。请写城市名（东京、纽约）、IANA 名称（Asia/Tokyo）或时差（UTC+8）。",
            [],
        ),
        (
            "CST",
            "'CST' fits several time zones: write one of Asia/Shanghai, America/Chicago.",
            ["Asia/Shanghai", "America/Chicago"],
        ),
    ],
)
def test_a_zone_that_is_not_known_is_answered_with_near_ones(zone: str, content: str, near: list[str]) -> None:
    assert serve(timezone=zone) == {"type": "result", "content": content, "data": {"near": near}, "is_error": True}


def test_a_district_of_a_known_city_has_its_zone() -> None:
    assert serve(timezone="北京市海淀区")["data"]["timezone"] == "Asia/Shanghai"
    assert error(timezone="纽约和伦敦之间").startswith("不认识时区 '纽约和伦敦之间'。")


def test_an_offset_that_no_place_has_is_refused() -> None:
    assert error(timezone="UTC+15") == "时差 'UTC+15' 超出范围：请写 UTC-14 到 UTC+14。"
    assert error(timezone="东九十九区") == "时差 '东九十九区' 超出范围：请写 UTC-14 到 UTC+14。"


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({}, "2026年12月1日 星期二 = 农历丙午年（马年）十月廿三，己亥月己酉日。"),
        ({"date": "2025-07-25"}, "2025年7月25日 星期五 = 农历乙巳年（蛇年）闰六月初一，癸未月乙未日。"),
        (
            {"lunar_date": "闰六月初一", "year": 2025},
            "农历乙巳年（蛇年）闰六月初一 = 2025年7月25日 星期五，癸未月乙未日。",
        ),
        (
            {"lunar_date": "2025-6-1", "is_leap": True},
            "农历乙巳年（蛇年）闰六月初一 = 2025年7月25日 星期五，癸未月乙未日。",
        ),
        (
            {"lunar_date": "二\u3007二七年正月初一"},
            "农历丁未年（羊年）正月初一 = 2027年2月6日 星期六，壬寅月丙辰日。",
        ),
        ({"date": "农历八月十五"}, "农历丙午年（马年）八月十五 = 2026年9月25日 星期五，丁酉月壬寅日。"),
        ({"lunar_date": "除夕"}, "农历丙午年（马年）腊月廿九 = 2027年2月5日 星期五，壬寅月乙卯日。"),
        ({"lunar_date": "腊月廿九"}, "农历丙午年（马年）腊月廿九 = 2027年2月5日 星期五，壬寅月乙卯日。"),
        (
            {"date": "2026-12-01", "lang": "en"},
            "Tuesday, 1 December 2026 = Chinese calendar: month 10, day 23 of the year of the Horse (丙午).",
        ),
    ],
)
def test_dates_are_carried_between_the_two_calendars(params: Message, content: str) -> None:
    assert told(action="lunar", **params) == content


@pytest.mark.parametrize(
    ("params", "content"),
    [
        ({"lunar_date": "闰六月初一"}, "农历2026年没有闰六月：没有闰月。"),
        ({"lunar_date": "2025年闰五月初一"}, "农历2025年没有闰五月：闰月是闰六月。"),
        ({"lunar_date": "2026-12-30", "lang": "en"}, "Month 12 of the lunar year 2026 has 29 days, no day 30."),
        (
            {"lunar_date": "十三月初一"},
            "看不懂农历日期 '十三月初一'，请写成 八月十五、2026年正月初一、闰六月初一 或 2026-08-15。",
        ),
        ({"date": "2101-01-01"}, "农历和节气只能算 1900 到 2100 年，不能算 2101 年。"),
        ({"lunar_date": "1899-01-01"}, "农历和节气只能算 1900 到 2100 年，不能算 1899 年。"),
    ],
)
def test_a_lunar_date_that_does_not_exist_is_refused(params: Message, content: str) -> None:
    assert error(action="lunar", **params) == content


@pytest.mark.parametrize(
    ("params", "content"),
    [
        (
            {},
            "下一个节气是大雪 2026-12-07 10:52:32（北京时间）；上一个是小雪 2026-11-22 15:23:21。",
        ),
        ({"festival": "冬至"}, "冬至 2026-12-22 04:50:14（北京时间）。"),
        ({"festival": "立春"}, "立春 2027-02-04 09:46:18（北京时间）。"),
        ({"festival": "立春", "year": 2026}, "立春 2026-02-04 04:02:08（北京时间）。"),
        (
            {"date": "2026-12-07 10:52:32", "lang": "en"},
            (
                "The next solar term is Winter Solstice (冬至) 2026-12-22 04:50:14 Beijing time; "
                "the last was Major Snow (大雪) 2026-12-07 10:52:32."
            ),
        ),
    ],
)
def test_solar_terms_are_told_to_the_second(params: Message, content: str) -> None:
    assert told(action="solar_term", **params) == content


def test_all_solar_terms_of_a_year_are_listed_in_order() -> None:
    message = serve(action="solar_term", year=2026)

    moments = [term["datetime"] for term in message["data"]["terms"]]
    assert (len(moments), moments == sorted(moments)) == (24, True)
    assert message["content"].splitlines()[:2] == [
        "2026 年的二十四节气（北京时间）：",
        "- 小寒 2026-01-05 16:23:10",
    ]


@pytest.mark.parametrize("path", sorted((FOLDER / "specs").iterdir()), ids=lambda path: path.name)
def test_the_examples_of_the_spec_are_answered(path: Path) -> None:
    declared = {param["name"] for param in SPEC["params"]}

    assert path.read_text("utf-8").startswith("# yaml-language-server: $schema=../../../specs/tool.schema.json\n")
    for example in SPEC["examples"]:
        assert set(example["params"]) <= declared
        assert told(**example["params"])


def test_the_spec_offers_the_actions_and_units_that_the_program_has() -> None:
    enums = {param["name"]: param.get("enum") for param in SPEC["params"]}

    assert enums["action"] == list(module("datetime_tool").ACTIONS)
    assert enums["unit"] == list(module("when_count").UNITS)


@pytest.mark.parametrize(
    ("params", "text"),
    [
        ({"date": "昨天"}, "2026年11月30日 星期一，第 49 周。\n农历丙午年（马年）十月廿二；工作日。"),
        ({"date": "今年中秋节"}, "2026年9月25日 星期五，第 39 周。\n农历丙午年（马年）八月十五；放假（中秋节）。"),
        ({"date": "下个月1号"}, "2027年1月1日 星期五，第 53 周。\n农历丙午年（马年）冬月廿四。"),
        ({"date": "明年春节"}, "2027年2月6日 星期六，第 5 周。\n农历丁未年（羊年）正月初一。"),
        ({"date": "Christmas next year"}, "Saturday, 25 December 2027, week 51."),
        ({"date": "2024-02-29", "timezone": "Tokyo"}, "Thursday, 29 February 2024, week 9."),
    ],
)
def test_a_day_is_told_with_its_weekday(params: dict[str, Any], text: str) -> None:
    assert told(action="day", **params) == text


def test_an_action_that_does_not_exist_is_refused() -> None:
    assert error(action="tomorrow") == (
        "没有 action 'tomorrow'，可用：now, day, lunar, solar_term, holiday, diff, add, until, convert。"
    )


def test_the_program_reads_one_line_and_prints_one_line() -> None:
    before = datetime.now(UTC).replace(microsecond=0)

    code, out, err = run_process(json.dumps({"params": {"timezone": "UTC"}}) + "\n")

    assert (code, err, out.count("\n")) == (0, "", 1)
    assert before <= datetime.fromisoformat(json.loads(out)["data"]["datetime"]) <= datetime.now(UTC)


def test_the_program_ends_quietly_without_a_line() -> None:
    assert run_process("") == (0, "", "")


def test_the_lunar_library_is_not_loaded_where_it_is_not_needed() -> None:
    probe = (
        "import sys, datetime_tool\n"
        "for action in ('convert', 'diff', 'add', 'holiday', 'lunar'):\n"
        "    datetime_tool.main({'params': {'action': action, 'date': '2026-10-10', 'amount': 1}})\n"
        "    print(action, 'lunar_python' in sys.modules)\n"
    )
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(FOLDER)}

    done = subprocess.run(
        [sys.executable, "-c", probe], env=environment, capture_output=True, timeout=20, check=True, text=True
    )

    assert done.stdout.splitlines() == ["convert False", "diff False", "add False", "holiday False", "lunar True"]
