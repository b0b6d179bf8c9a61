"""The world outside a simulated store: what really happened there, and whether the rows say so."""

import json
import random
import sqlite3
from collections import Counter
from typing import Any

from ias.domain.approvals import Safety
from ias.domain.jobs import Job
from ias.store.base import Row
from ias.store.connection import BACKEND
from ias.store.progress import StepRow
from ias.store.statements import load_statements
from tests.store.invariants import JOURNAL


class Outside:
    """Effects by (run, no, item), arrivals by delivery, messages acknowledged, answers that won."""

    def __init__(self, database: sqlite3.Connection, luck: random.Random) -> None:
        self.database = database
        self.random = luck
        self.has_faults = True
        self.effects: Counter[tuple[str, int, int]] = Counter()
        self.arrivals: Counter[str] = Counter()
        self.latest: dict[tuple[str, str, str], int] = {}
        self.acknowledged: dict[str, str] = {}
        self.sources: dict[tuple[str, str], str] = {}
        self.decisions: dict[int, tuple[str, bool]] = {}

    def rows(self, sql: str, *params: Any) -> list[Row]:
        return self.database.execute(sql, params).fetchall()

    def check_history(self, job: Job) -> None:
        """A model call's history ends with a user or tool message; every call in it is answered once, in place."""
        turn = self.rows("SELECT seq FROM turn WHERE id = ?", job.owner_id)[0]
        statement = load_statements(BACKEND)["history"]
        params = {"conversation_id": job.conversation_id, "seq": turn["seq"]}
        rows = self.database.execute(statement, params).fetchall()
        if not self.rows("SELECT 1 AS x FROM job WHERE id = ? AND lease_token = ?", job.id, job.lease_token):
            return
        open_calls: list[str] = []
        for row in rows:
            content = json.loads(row["content"])
            if row["role"] == "tool":
                assert open_calls.pop(0) == content["call_id"]
            else:
                assert open_calls == []
                open_calls = [call["id"] for call in content.get("calls", [])]
        assert (open_calls, rows[-1]["role"] in ("user", "tool")) == ([], True)

    def act(self, step: StepRow) -> str:
        """Carry out an effect in the outside world, under the eyes of the ledger."""
        row = self.rows("SELECT * FROM step WHERE run_id = ? AND no = ? AND item = ?", step.run_id, step.no, step.item)[
            0
        ]
        asked = self.rows("SELECT * FROM approval WHERE run_id = ? AND no = ?", step.run_id, step.no)
        assert all(approval["state"] == "consumed" for approval in asked)
        assert all(step.request in approval["request"] for approval in asked)
        key = (step.run_id, step.no, step.item)
        assert row["state"] in ("sending", "unknown") or (row["state"], step.safety) == ("void", Safety.REPEAT)
        self.effects[key] += 1
        assert step.safety is Safety.REPEAT or self.effects[key] == 1, "an effect left twice"
        return self.random.choice(["ok", "ok", "ok", "cut"]) if self.has_faults else "ok"

    def deliver(self, delivery: Row) -> str:
        fate = self.random.choice(["ok", "ok", "cut", "no"]) if self.has_faults else "ok"
        if fate != "no":
            self.arrivals[delivery["id"]] += 1
            if delivery["repeat"] == 0 and delivery["safety"] == Safety.ONCE:
                place = (delivery["conversation_id"], delivery["channel"], delivery["address"])
                assert self.latest.get(place, 0) < delivery["seq"], "a delivery overtook another"
                self.latest[place] = delivery["seq"]
            is_new = self.arrivals[delivery["id"]] == 1
            assert is_new or delivery["safety"] == Safety.REPEAT, "a delivery arrived twice"
        return fate

    def compare(self) -> None:
        """Compare the rows with what really happened."""
        for turn_id, channel in self.acknowledged.items():
            assert self.rows("SELECT channel, state FROM turn WHERE id = ?", turn_id) == [
                {"channel": channel, "state": "ended"}
            ]
        for step in self.rows("SELECT * FROM step WHERE safety = 'once' AND kind = 'http'"):
            happened = self.effects[step["run_id"], step["no"], step["item"]]
            assert happened == 0 or step["state"] in ("done", "unknown"), dict(step)
            assert happened == 1 or step["state"] != "done", dict(step)
        for approval in self.rows("SELECT * FROM approval WHERE state IN ('denied', 'expired', 'cancelled')"):
            assert not any(key[:2] == (approval["run_id"], approval["no"]) for key in self.effects)
        for num, (who, is_yes) in self.decisions.items():
            approval = self.rows("SELECT state, decided_by FROM approval WHERE num = ?", num)[0]
            assert (approval["decided_by"], approval["state"] != "denied") == (who, is_yes)
        for delivery in self.rows("SELECT * FROM delivery"):
            arrived = self.arrivals[delivery["id"]]
            assert arrived or delivery["state"] != "sent"
            assert not arrived or delivery["state"] in ("sent", "unknown") or delivery["safety"] == "repeat"
        broken = {name: rows for name, sql in JOURNAL.items() if (rows := self.rows(sql))}
        assert broken == {}
