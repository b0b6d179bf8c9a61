"""Festivals by name, and the day of each in a year."""

import difflib
import re
from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass
from datetime import MAXYEAR, MINYEAR, date, timedelta

from when_call import Refusal
from when_lunar import TERMS_EN, month_days, solar_of, terms_of

NEAR_YEARS = {"去年": -1, "今年": 0, "明年": 1, "后年": 2, "last": -1, "this": 0, "next": 1}
NEAR_YEAR = re.compile(r"^[去今明后]年的?|\b(?:last|this|next) year$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Festival:
    """A festival; `day_in` returns its day in a year, a lunar festival's in the lunar year that begins in it."""

    zh: str
    en: str
    other_names: tuple[str, ...]
    day_in: Callable[[int], date]

    def next_from(self, day: date) -> date:
        """Return the first day of the festival on or after a day.

        Raises:
            OverflowError: It leaves the years 1 to 9999.
            Refusal: A lunar festival leaves the years of the lunar calendar.
        """
        first, last = max(day.year - 1, MINYEAR), min(day.year + 1, MAXYEAR)
        years = range(first, last + 1)  # the last days of a lunar year lie in the next common one
        coming = [found for found in map(self.day_in, years) if found >= day]
        if not coming:
            raise OverflowError(f"no {self.en} after {day}")
        return min(coming)

    def within(self, year: int) -> date:
        """Return the day of the festival that lies in a year of the common calendar, the later one of two."""
        this = self.day_in(year)
        return this if this.year == year else self.day_in(year - 1)


def find_festival(name: str) -> Festival:
    """Return the festival or solar term of a name, in either language.

    Raises:
        Refusal: There is none; it says which names are near.
    """
    found = known_festival(name)
    if found:
        return found
    word, names = _word(name), _by_name()
    close = difflib.get_close_matches(word, list(names), n=3)
    near = list(dict.fromkeys(names[other].zh for other in close))
    near_en = list(dict.fromkeys(names[other].en for other in close))
    raise Refusal(
        f"不认识节日 {name[:60]!r}。"
        + (f"相近的有：{'、'.join(near)}。" if near else "")
        + "请写节日或节气名（春节、国庆节、冬至），或用 date 写日期。",
        f"There is no festival {name[:60]!r}. "
        + (f"Near names: {', '.join(near_en)}. " if near else "")
        + "Write a festival or solar term (Spring Festival, Christmas, Winter Solstice), or a date in `date`.",
        near=near,
    )


def known_festival(name: str) -> Festival | None:
    """Return the festival or solar term of a name, None where there is none."""
    word, names = _word(name), _by_name()
    return names.get(word) or names.get(word.removesuffix("节")) or names.get(f"{word}节")


def festival_day(text: str, today: date) -> date | None:
    """Return the day of a festival written with or without a year (春节, 2027年春节, 明年的春节, Christmas 2027)."""
    near = NEAR_YEAR.search(text)
    if near:
        text = (text[: near.start()] + text[near.end() :]).strip()
    match = re.fullmatch(r"(?:(?P<before>\d{4})年?的?)?\s*(?P<name>\D+?)\s*(?P<after>\d{4})?", text)
    festival = known_festival(match["name"]) if match else None
    if match is None or festival is None:
        return None
    if near:
        return festival.within(today.year + NEAR_YEARS[near[0].removesuffix("的").removesuffix(" year")])
    year = match["before"] or match["after"]
    return festival.within(int(year)) if year else festival.next_from(today)


def _by_name() -> dict[str, Festival]:
    return {_word(other): festival for festival in FESTIVALS for other in _names(festival)}


def _names(festival: Festival) -> tuple[str, ...]:
    return (festival.zh, festival.en, *festival.other_names)


def _word(name: str) -> str:
    return " ".join(name.casefold().replace("'", "").replace("’", "").replace("-", " ").split())


def _fixed(month: int, day: int) -> Callable[[int], date]:
    return lambda year: date(year, month, day)


def _lunar(month: int, day: int) -> Callable[[int], date]:
    return lambda year: solar_of(year, month, day, is_leap=False)


def _eve(year: int) -> date:
    return solar_of(year, 12, month_days(year, 12, is_leap=False), is_leap=False)


def _term(name: str) -> Callable[[int], date]:
    return lambda year: next(term.moment.date() for term in terms_of(year) if term.zh == name)


def _nth(month: int, weekday: int, number: int) -> Callable[[int], date]:
    """Return the rule of the `number`-th weekday (Monday is 0) of a month."""
    return lambda year: date(year, month, 1 + (weekday - monthrange(year, month)[0]) % 7 + 7 * (number - 1))


def _easter(year: int) -> date:
    """Return Easter Sunday of the Gregorian calendar (the computus of Meeus, Jones and Butcher)."""
    century, rest = divmod(year, 100)
    moon = (19 * (year % 19) + century - century // 4 - (century - (century + 8) // 25 + 1) // 3 + 15) % 30
    sunday = (32 + 2 * (century % 4) + 2 * (rest // 4) - moon - rest % 4) % 7
    late = (year % 19 + 11 * moon + 22 * sunday) // 451
    return date(year, 3, 22) + timedelta(days=moon + sunday - 7 * late)


def _festival(names: str, day_in: Callable[[int], date]) -> Festival:
    """Read `zh, en, other names…`."""
    zh, en, *others = names.split(", ")
    return Festival(zh=zh, en=en, other_names=tuple(others), day_in=day_in)


FESTIVALS = (
    _festival("元旦, New Year's Day, 新年, 阳历年, new year", _fixed(1, 1)),
    _festival(
        "春节, Spring Festival, 过年, 大年初一, 正月初一, 农历新年, 中国新年, 新春, chinese new year, lunar new year",
        _lunar(1, 1),
    ),
    _festival("除夕, Chinese New Year's Eve, 年三十, 大年三十, 年夜饭, lunar new years eve, spring festival eve", _eve),
    _festival("元宵节, Lantern Festival, 正月十五", _lunar(1, 15)),
    _festival("龙抬头, Dragon Head-Raising Day, 二月二", _lunar(2, 2)),
    _festival(
        "清明节, Qingming Festival, 扫墓, qingming, pure brightness, tomb sweeping day, tomb sweeping festival",
        _term("清明"),
    ),
    _festival("端午节, Dragon Boat Festival, 端阳, 五月初五, dragon boat, duanwu", _lunar(5, 5)),
    _festival("七夕, Qixi Festival, 乞巧节, 七夕情人节, qixi, chinese valentines day", _lunar(7, 7)),
    _festival("中元节, Ghost Festival, 鬼节, 七月半", _lunar(7, 15)),
    _festival(
        "中秋节, Mid-Autumn Festival, 八月十五, 团圆节, mid autumn, moon festival, mooncake festival", _lunar(8, 15)
    ),
    _festival("重阳节, Double Ninth Festival, 老人节, 九月初九, chongyang", _lunar(9, 9)),
    _festival("腊八节, Laba Festival, laba", _lunar(12, 8)),
    _festival("小年, Little New Year, 北方小年", _lunar(12, 23)),
    _festival("情人节, Valentine's Day", _fixed(2, 14)),
    _festival("妇女节, Women's Day, 三八, 三八妇女节, 女神节, international womens day", _fixed(3, 8)),
    _festival("植树节, Arbor Day", _fixed(3, 12)),
    _festival("愚人节, April Fools' Day, april fools", _fixed(4, 1)),
    _festival("劳动节, Labour Day, 五一, 五一劳动节, 五一节, labor day, may day", _fixed(5, 1)),
    _festival("青年节, Youth Day, 五四, 五四青年节", _fixed(5, 4)),
    _festival("母亲节, Mother's Day", _nth(5, 6, 2)),
    _festival("儿童节, Children's Day, 六一, 六一儿童节", _fixed(6, 1)),
    _festival("父亲节, Father's Day", _nth(6, 6, 3)),
    _festival("建党节, CPC Founding Day, 七一", _fixed(7, 1)),
    _festival("建军节, Army Day, 八一", _fixed(8, 1)),
    _festival("教师节, Teachers' Day", _fixed(9, 10)),
    _festival("国庆节, National Day, 十一, 国庆, 十一黄金周, golden week, china national day", _fixed(10, 1)),
    _festival("万圣节, Halloween, 万圣夜", _fixed(10, 31)),
    _festival("双十一, Singles' Day, 双11, 光棍节, double eleven", _fixed(11, 11)),
    _festival("感恩节, Thanksgiving, thanksgiving day", _nth(11, 3, 4)),
    _festival("双十二, Double Twelve, 双12", _fixed(12, 12)),
    _festival("平安夜, Christmas Eve", _fixed(12, 24)),
    _festival("圣诞节, Christmas, 圣诞, christmas day, xmas", _fixed(12, 25)),
    _festival("跨年夜, New Year's Eve, 跨年", _fixed(12, 31)),
    _festival("复活节, Easter, easter sunday", _easter),
    *(_festival(f"{zh}, {en}", _term(zh)) for zh, en in TERMS_EN.items() if zh != "清明"),
)
