"""Random schedules with crashes and lost answers; `tests/store/simulation.py` says what is asserted."""

from collections import Counter

import pytest

from tests.store.simulation import Schedule, template

SCHEDULES = 200
MUST_HAPPEN = {
    "process died",
    "answer lost",
    "bury str",
    "cancel_run str",
    "close_turn Lost",
    "close_turn TurnReason",
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


@pytest.mark.timeout(300)
def test_whatever_happens_the_invariants_hold() -> None:
    empty, seen = template(), Counter[str]()
    for seed in range(SCHEDULES):
        schedule = Schedule(seed, empty)
        try:
            schedule.run()
        except AssertionError as error:
            error.add_note(f"in the schedule with seed {seed}")
            raise
        seen += schedule.seen
    empty.close()
    assert MUST_HAPPEN - seen.keys() == set()
