"""Random schedules with crashes and lost answers; `tests/store/simulation.py` says what is asserted."""

from collections import Counter

import pytest

from tests.store.simulation import Schedule, template

GROUPS, EACH = 4, 50
MUST_HAPPEN = {
    "process died",
    "answer lost",
    "bury str",
    "cancel_run str",
    "consume_approval Ended",
    "consume_approval Send",
    "expire_approval str",
    "finish_delivery str",
    "finish_effect Ended",
    "finish_run Lost",
    "queue_retry str",
    "resume_run Ended",
    "resume_run Send",
    "start_delivery DeliveryEnded",
    "start_step Parked",
}


@pytest.mark.parametrize("group", range(GROUPS))
def test_whatever_happens_the_invariants_hold(group: int) -> None:
    empty, seen = template(), Counter[str]()
    for seed in range(group * EACH, (group + 1) * EACH):
        schedule = Schedule(seed, empty)
        try:
            schedule.run()
        except AssertionError as error:
            error.add_note(f"in the schedule with seed {seed}")
            raise
        seen += schedule.seen
    empty.close()
    assert MUST_HAPPEN - seen.keys() == set()
