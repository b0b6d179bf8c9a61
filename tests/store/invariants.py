"""What holds in every committed state, as queries that return offenders, and the allowed moves, as triggers."""

INVARIANTS = {
    "a turn in llm has one live job": """SELECT id FROM turn t WHERE state = 'llm' AND (SELECT count(*) FROM job j
        WHERE j.queue = 'llm' AND j.lane = t.conversation_id AND j.owner_id = t.id AND j.state <> 'dead') <> 1""",
    "a live llm job has its turn": """SELECT id FROM job j WHERE queue = 'llm' AND j.state <> 'dead'
        AND NOT EXISTS (SELECT 1 FROM turn t WHERE t.id = j.owner_id AND t.state = 'llm')""",
    "a turn in tools has an open run": """SELECT id FROM turn t WHERE state = 'tools'
        AND NOT EXISTS (SELECT 1 FROM run r WHERE r.turn_id = t.id AND r.state <> 'done')""",
    "a run is open only while its turn is in tools": """SELECT r.id FROM run r JOIN turn t ON t.id = r.turn_id
        WHERE r.state <> 'done' AND t.state <> 'tools'""",
    "an open run has one live job": """SELECT id FROM run r WHERE state = 'open' AND (SELECT count(*) FROM job j
        WHERE j.queue = 'tool' AND j.lane = r.id AND j.state <> 'dead') <> 1""",
    "a live tool job has an open run": """SELECT id FROM job j WHERE queue = 'tool' AND j.state <> 'dead'
        AND NOT EXISTS (SELECT 1 FROM run r WHERE r.id = j.owner_id AND r.state = 'open')""",
    "a parked run has one pending approval": """SELECT id FROM run r WHERE state = 'parked' AND (SELECT count(*)
        FROM approval a WHERE a.run_id = r.id AND a.no = r.no AND a.state = 'pending') <> 1""",
    "a pending approval has a parked run": """SELECT a.id FROM approval a JOIN run r ON r.id = a.run_id
        WHERE a.state = 'pending' AND (r.state <> 'parked' OR r.no <> a.no)""",
    "an approved approval has an open run": """SELECT a.id FROM approval a JOIN run r ON r.id = a.run_id
        WHERE a.state = 'approved' AND (r.state <> 'open' OR r.no <> a.no)""",
    "a call has one result once it is done": """SELECT r.id FROM run r WHERE r.turn_id IS NOT NULL AND (SELECT count(*)
        FROM message m WHERE m.run_id = r.id AND m.turn_id = r.turn_id AND m.pos = r.pos AND m.role = 'tool')
        <> (CASE WHEN r.state = 'done' THEN 1 ELSE 0 END)""",
    "a done run has code and result": "SELECT id FROM run WHERE state = 'done' AND (code IS NULL OR result IS NULL)",
    "a queued turn waits behind an active one": """SELECT id FROM turn t WHERE state = 'queued' AND NOT EXISTS (SELECT 1
        FROM turn a WHERE a.conversation_id = t.conversation_id AND a.state IN ('llm', 'tools') AND a.seq < t.seq)""",
    "turns start in order": """SELECT id FROM turn t WHERE kind = 'chat'
        AND (state IN ('llm', 'tools') OR (state = 'ended' AND llm_steps > 0)) AND EXISTS (SELECT 1 FROM turn q
        WHERE q.conversation_id = t.conversation_id AND q.kind = 'chat' AND q.seq < t.seq AND q.state <> 'ended')""",
    "an ended turn has closing words": """SELECT id FROM turn t WHERE state = 'ended'
        AND (SELECT role FROM message m WHERE m.turn_id = t.id ORDER BY pos DESC LIMIT 1) <> 'assistant'""",
    "messages have no gap": """SELECT id FROM turn t WHERE state <> 'tools'
        AND (SELECT count(*) FROM message m WHERE m.turn_id = t.id) <> next_pos""",
    "an ended turn has one reply": """SELECT c.id FROM conversation c WHERE
        (SELECT count(*) FROM turn t WHERE t.conversation_id = c.id AND t.kind = 'chat' AND t.state = 'ended')
        <> (SELECT count(*) FROM delivery d WHERE d.conversation_id = c.id AND d.kind = 'reply' AND d.repeat = 0)""",
    "a lane with an open delivery has one job": """SELECT lane FROM delivery d WHERE state IN ('prepared', 'sending')
        GROUP BY lane HAVING (SELECT count(*) FROM job j
        WHERE j.queue = 'send' AND j.lane = d.lane AND j.state <> 'dead') <> 1""",
    "a lane's job is for its first delivery": """SELECT d.id FROM job j JOIN delivery d ON d.id = j.owner_id
        WHERE j.queue = 'send' AND j.state <> 'dead' AND EXISTS (SELECT 1 FROM delivery e
        WHERE e.lane = d.lane AND e.repeat = 0 AND e.state IN ('prepared', 'sending')
        AND (e.seq < d.seq OR (e.seq = d.seq AND e.repeat < d.repeat)))""",
    "one delivery of a lane is sending": """SELECT lane FROM delivery WHERE state = 'sending'
        GROUP BY lane HAVING count(*) > 1""",
    "a live send job has an open delivery": """SELECT id FROM job j WHERE queue = 'send' AND j.state <> 'dead'
        AND NOT EXISTS (SELECT 1 FROM delivery d WHERE d.id = j.owner_id AND d.state IN ('prepared', 'sending'))""",
    "a step is sending only in an open run's last request": """SELECT s.run_id FROM step s JOIN run r ON r.id = s.run_id
        WHERE s.state = 'sending' AND (r.state <> 'open' OR r.no <> s.no)""",
    "a prepared step waits for a decision": """SELECT s.run_id FROM step s JOIN run r ON r.id = s.run_id
        WHERE s.state = 'prepared' AND NOT EXISTS (SELECT 1 FROM approval a WHERE a.run_id = s.run_id AND a.no = s.no
        AND a.state IN ('pending', 'approved'))""",
    "an asked step left only by a consumed approval": """SELECT s.run_id FROM step s JOIN approval a
        ON a.run_id = s.run_id AND a.no = s.no
        WHERE s.state IN ('sending', 'done', 'unknown') AND a.state <> 'consumed'""",
    "a step that left was granted": """SELECT run_id FROM step
        WHERE state IN ('sending', 'done', 'unknown') AND granted_by IS NULL""",
    "an unknown step is told": """SELECT s.run_id FROM step s JOIN run r ON r.id = s.run_id WHERE s.state = 'unknown'
        AND (NOT EXISTS (SELECT 1 FROM delivery d WHERE d.kind = 'notice' AND d.body LIKE '%' || r.id || '%')
        OR (r.state = 'done' AND r.code <> 'outcome_unknown'))""",
    "an approval is consumed in time": """SELECT id FROM approval
        WHERE state = 'consumed' AND (consumed_at >= expires_at OR decided_by IS NULL)""",
    "a saved memory comes from a done step": """SELECT r.id FROM run r WHERE
        (SELECT count(*) FROM memory m WHERE m.run_id = r.id) > (SELECT count(*) FROM step s
        WHERE s.run_id = r.id AND s.kind = 'db' AND s.state = 'done' AND s.request LIKE '%"save_memory"%'
        AND s.response LIKE '{"rows"%')""",
    "a closed conversation is quiet": """SELECT t.id FROM turn t JOIN conversation c ON c.id = t.conversation_id
        WHERE c.closed_at IS NOT NULL AND t.state <> 'ended'""",
    "a delivery that did not arrive can be seen": """SELECT d.id FROM delivery d WHERE d.state IN ('failed', 'unknown')
        AND d.last_error NOT IN ('no longer needed', 'dropped')
        AND NOT EXISTS (SELECT 1 FROM job j WHERE j.owner_id = d.id AND j.state = 'dead')
        AND NOT EXISTS (SELECT 1 FROM delivery e WHERE e.conversation_id = d.conversation_id AND e.seq = d.seq
        AND e.repeat > d.repeat)""",
    "a dead job's owner is over": """SELECT j.id FROM job j WHERE j.state = 'dead' AND (
        EXISTS (SELECT 1 FROM turn t WHERE t.id = j.owner_id AND t.state <> 'ended')
        OR EXISTS (SELECT 1 FROM run r WHERE r.id = j.owner_id AND r.state <> 'done')
        OR EXISTS (SELECT 1 FROM delivery d WHERE d.id = j.owner_id AND d.state IN ('prepared', 'sending')))""",
}

# The same of events; a look at each of them takes longer.
JOURNAL = {
    "events have no gap": """SELECT id FROM conversation c WHERE next_event <> (SELECT count(*) FROM event e
        WHERE e.conversation_id = c.id AND e.seq BETWEEN 1 AND c.next_event)""",
    "an ended turn said so once": """SELECT id FROM turn t WHERE (SELECT count(*) FROM event e WHERE e.turn_id = t.id
        AND e.name = 'TurnComplete' AND e.body NOT LIKE '%"tool_calls"%')
        <> (CASE WHEN t.state = 'ended' THEN 1 ELSE 0 END)""",
    "a run started and completed once": """SELECT id FROM run r WHERE
        (SELECT count(*) FROM event e WHERE e.name = 'ToolExecutionStarted' AND e.body LIKE '%' || r.id || '%') <> 1
        OR (SELECT count(*) FROM event e WHERE e.name = 'ToolExecutionCompleted' AND e.body LIKE '%' || r.id || '%')
        <> (CASE WHEN r.state = 'done' THEN 1 ELSE 0 END)""",
    "an approval was asked for once and resolved once": """SELECT id FROM approval a WHERE
        (SELECT count(*) FROM event e WHERE e.name = 'ApprovalRequested' AND e.body LIKE '%' || a.id || '%') <> 1
        OR (SELECT count(*) FROM event e WHERE e.name = 'ApprovalResolved' AND e.body LIKE '%' || a.id || '%')
        NOT IN (CASE WHEN a.state = 'pending' THEN 0 ELSE 1 END,
          CASE WHEN a.state IN ('expired', 'cancelled') AND a.decided_by IS NOT NULL THEN 2 ELSE 1 END)""",
}

MOVES = {
    "turn": "queued>llm queued>ended llm>tools llm>ended tools>llm tools>ended",
    "run": "open>parked open>done parked>open parked>done",
    "step": "prepared>sending prepared>done prepared>void sending>done sending>unknown sending>void",
    "approval": "pending>approved pending>denied pending>expired pending>cancelled "
    "approved>consumed approved>expired approved>cancelled",
    "job": "ready>leased leased>ready leased>dead",
    "delivery": "prepared>sending sending>prepared sending>sent sending>unknown sending>failed prepared>failed",
}


def triggers() -> str:
    """Give a script that makes every move which is not allowed fail."""
    script = [
        f"""CREATE TRIGGER {table}_moves BEFORE UPDATE OF state ON {table}
        WHEN OLD.state <> NEW.state AND instr(' {moves} ', ' ' || OLD.state || '>' || NEW.state || ' ') = 0
        BEGIN SELECT RAISE(ABORT, 'illegal move of {table}'); END;"""
        for table, moves in MOVES.items()
    ]
    script.append(
        """CREATE TRIGGER approval_same BEFORE UPDATE OF digest, num, run_id, no, request ON approval
        BEGIN SELECT RAISE(ABORT, 'an approval changed what it is about'); END;"""
    )
    script.append(
        """CREATE TRIGGER request_same BEFORE UPDATE OF request, digest, safety, idem_key ON step
        BEGIN SELECT RAISE(ABORT, 'a request changed'); END;"""
    )
    return "\n".join(script)
