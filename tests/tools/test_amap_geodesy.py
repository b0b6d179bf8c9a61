"""The map tool's coordinates: reading them, and moving them between datums."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.tools.host import module

geodesy: Any = module("amap", "geodesy")


def point(lon: float, lat: float) -> Any:
    return geodesy.Point(lon=lon, lat=lat)


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("116.397428,39.90923", "116.397428,39.90923"),
        (" (116.4，39.9) ", "116.4,39.9"),
        ("116.4 39.9", "116.4,39.9"),
        ("39.9,116.4", "116.4,39.9"),
        ("-0.0,51.5", "-0,51.5"),
        ("116.12345678,39.1", "116.123457,39.1"),
    ],
)
def test_a_pair_of_numbers_is_read_as_longitude_and_latitude(text: str, read: str) -> None:
    assert str(geodesy.read_point(text)) == read


@pytest.mark.parametrize("text", ["", "天安门", "12 34", "100号", "1,2,3", "1e3,2", "nan,nan"])
def test_other_texts_are_no_coordinates(text: str) -> None:
    assert geodesy.read_point(text) is None


def test_gcj02_is_shifted_as_the_published_algorithm_says() -> None:
    # The pair of the test suites of several public converters (Shanghai).
    shifted = geodesy.gcj02_of(point(121.5272106, 31.1774276))

    assert (shifted.lon, shifted.lat) == pytest.approx((121.531541859215, 31.17530398364597), abs=1e-9)


def test_a_point_outside_china_is_not_shifted() -> None:
    assert geodesy.gcj02_of(point(13.4, 52.5)) == point(13.4, 52.5)


@given(lon=st.floats(74, 135), lat=st.floats(4, 54))
def test_moving_to_gcj02_and_back_returns_to_the_place(lon: float, lat: float) -> None:
    back = geodesy.wgs84_of(geodesy.gcj02_of(point(lon, lat)))

    assert (back.lon, back.lat) == pytest.approx((lon, lat), abs=1e-7)


@given(lon=st.floats(-180, 180), lat=st.floats(-90, 90))
def test_the_far_side_of_the_earth_is_half_a_circle_away(lon: float, lat: float) -> None:
    across = geodesy.straight_line(point(lon, lat), point(lon + 180, -lat))

    assert across == pytest.approx(20_015_115, abs=10)
