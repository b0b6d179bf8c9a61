"""Weather codes, winds and air quality levels as a person says them, in Chinese and English."""

# WMO weather interpretation codes. Source: open-meteo.com/en/docs, "Weather variable documentation".
WMO = {
    0: ("晴", "clear sky"),
    1: ("大部晴朗", "mainly clear"),
    2: ("局部多云", "partly cloudy"),
    3: ("阴", "overcast"),
    45: ("雾", "fog"),
    48: ("雾凇", "depositing rime fog"),
    51: ("小毛毛雨", "light drizzle"),
    53: ("毛毛雨", "moderate drizzle"),
    55: ("大毛毛雨", "dense drizzle"),
    56: ("小冻毛毛雨", "light freezing drizzle"),
    57: ("冻毛毛雨", "dense freezing drizzle"),
    61: ("小雨", "slight rain"),
    63: ("中雨", "moderate rain"),
    65: ("大雨", "heavy rain"),
    66: ("小冻雨", "light freezing rain"),
    67: ("冻雨", "heavy freezing rain"),
    71: ("小雪", "slight snow"),
    73: ("中雪", "moderate snow"),
    75: ("大雪", "heavy snow"),
    77: ("米雪", "snow grains"),
    80: ("小阵雨", "slight rain showers"),
    81: ("阵雨", "moderate rain showers"),
    82: ("强阵雨", "violent rain showers"),
    85: ("小阵雪", "slight snow showers"),
    86: ("大阵雪", "heavy snow showers"),
    95: ("雷阵雨", "thunderstorm"),
    96: ("雷阵雨伴小冰雹", "thunderstorm with slight hail"),
    99: ("雷阵雨伴大冰雹", "thunderstorm with heavy hail"),
}
WINDS = (
    ("北风", "N"),
    ("东北风", "NE"),
    ("东风", "E"),
    ("东南风", "SE"),
    ("南风", "S"),
    ("西南风", "SW"),
    ("西风", "W"),
    ("西北风", "NW"),
)
# Upper limits in m/s of the Beaufort forces 0 to 11, which are also the levels of Chinese forecasts.
# Source: WMO-No. 8; GB/T 28591-2012.
BEAUFORT = (0.3, 1.6, 3.4, 5.5, 8.0, 10.8, 13.9, 17.2, 20.8, 24.5, 28.5, 32.7)
# Sources: HJ 633-2012 (China); US EPA AQI, with the limits of the first five levels.
CHINESE_LEVELS = (
    ("优", "Excellent"),
    ("良", "Good"),
    ("轻度污染", "Lightly polluted"),
    ("中度污染", "Moderately polluted"),
    ("重度污染", "Heavily polluted"),
    ("严重污染", "Severely polluted"),
)
US_LEVELS = (
    ("优", "Good"),
    ("中等", "Moderate"),
    ("对敏感人群不健康", "Unhealthy for sensitive groups"),
    ("不健康", "Unhealthy"),
    ("非常不健康", "Very unhealthy"),
    ("危险", "Hazardous"),
)
US_LIMITS = (50, 100, 150, 200, 300)
LEVELS = {"cn-mee": CHINESE_LEVELS, "cn-mee-1h": CHINESE_LEVELS, "us-epa": US_LEVELS}


def sky(code: int | None, lang: str) -> str:
    """Name a WMO code; "" for an unknown one."""
    names = WMO.get(-1 if code is None else code)
    return "" if names is None else names[lang != "zh"]


def wind_name(degrees: int | None, lang: str) -> str:
    """Name the direction that wind comes from, one of eight; "" where it is unknown."""
    return "" if degrees is None else WINDS[round(degrees / 45) % 8][lang != "zh"]


def beaufort(speed: float) -> int:
    """Return the Beaufort force, 0 to 12, of a speed in m/s."""
    return sum(speed >= limit for limit in BEAUFORT)


def level_name(standard: str, level: int | None, lang: str) -> str:
    """Name a level, counted from 1, of a known standard; "" for others."""
    names = LEVELS.get(standard, ())
    return names[level - 1][lang != "zh"] if level is not None and 1 <= level <= len(names) else ""


def us_level(aqi: float) -> int:
    """Return the level, 1 to 6, of a US AQI."""
    return 1 + sum(aqi > limit for limit in US_LIMITS)
