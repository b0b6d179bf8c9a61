"""Durations and sizes as people write them."""

import pytest

from ias.config.units import seconds, size_bytes


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0.0), (20, 20.0), (1.5, 1.5), ("500ms", 0.5), ("20s", 20.0), ("15m", 900.0), ("2h", 7200.0),
     ("30d", 2_592_000.0), ("1w", 604_800.0), ("1.5h", 5400.0), ("5 m", 300.0)],
)  # fmt: skip
def test_durations_are_seconds(value: object, expected: float) -> None:
    assert seconds(value) == expected


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0, 0), (512, 512), ("512B", 512), ("2KB", 2000), ("2KiB", 2048), ("2MiB", 2_097_152), ("1.5 MB", 1_500_000),
     ("1gib", 1_073_741_824)],
)  # fmt: skip
def test_sizes_are_bytes(value: object, expected: int) -> None:
    assert size_bytes(value) == expected


@pytest.mark.parametrize("value", [True, -1, None, [], "15", "15 minutes", "1h30m", "m", "-5m", "1e3s"])
def test_other_durations_are_refused_with_what_to_write(value: object) -> None:
    with pytest.raises(ValueError, match=r"^must be seconds or a duration like 20s, 15m, 2h or 30d, not "):
        seconds(value)


@pytest.mark.parametrize("value", [True, -1, 1.5, None, "2", "2Mi", "2TiB", "MiB", "two MB"])
def test_other_sizes_are_refused_with_what_to_write(value: object) -> None:
    with pytest.raises(ValueError, match=r"^must be bytes or a size like 500KB, 2MiB or 1GiB, not "):
        size_bytes(value)
