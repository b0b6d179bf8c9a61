"""The outside services of the demo, answered from recorded bodies."""

from collections.abc import Mapping

from tests.loopback import Answer, Reply, recorded


def routes() -> Mapping[tuple[str, str], Answer]:
    """Give what the demo's loopback server answers."""
    return {
        ("geocoding-api.open-meteo.com", "/v1/search"): recorded("open_meteo", "geocoding_beijing.json"),
        ("api.open-meteo.com", "/v1/forecast"): recorded("open_meteo", "forecast_current_daily_beijing.json"),
        ("air-quality-api.open-meteo.com", "/v1/air-quality"): recorded("open_meteo", "air_quality_london.json"),
        ("notice.example.com", "/send"): Reply(body=b'{"ok": true}'),
    }
