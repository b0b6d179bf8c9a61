-- What is read beside the transactions; each statement sees one committed state. A parameter in a CAST may be left out.

-- name: turn
SELECT * FROM turn WHERE id = :id;

-- name: run
SELECT * FROM run WHERE id = :id;

-- name: conversation
SELECT * FROM conversation WHERE id = :id;

-- name: conversation_at
SELECT * FROM conversation WHERE channel = :channel AND address = :address AND closed_at IS NULL;

-- name: conversations
SELECT c.*,
  (SELECT max(t.created_at) FROM turn t WHERE t.conversation_id = c.id) AS last_turn_at,
  (SELECT count(*) FROM turn t WHERE t.conversation_id = c.id) AS turns
FROM conversation c WHERE c.user_id = coalesce(CAST(:user_id AS TEXT), c.user_id)
ORDER BY coalesce((SELECT max(t.created_at) FROM turn t WHERE t.conversation_id = c.id), c.created_at) DESC, c.id
LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: turns
SELECT * FROM turn WHERE conversation_id = :conversation_id ORDER BY seq DESC LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: turn_by_prefix
SELECT * FROM turn WHERE substr(id, 1, length(:ref)) = :ref ORDER BY id LIMIT 10;

-- name: history
SELECT m.turn_id, t.seq, m.pos, m.role, m.content, m.run_id, m.created_at
FROM message m JOIN turn t ON t.id = m.turn_id
WHERE t.conversation_id = :conversation_id AND t.kind = 'chat' AND t.state <> 'queued' AND t.seq <= :seq
ORDER BY t.seq, m.pos;

-- name: messages
SELECT m.turn_id, t.seq, t.kind, m.pos, m.role, m.content, m.run_id, m.created_at
FROM message m JOIN turn t ON t.id = m.turn_id
WHERE t.conversation_id = :conversation_id AND t.seq > coalesce(CAST(:after_seq AS BIGINT), 0)
ORDER BY t.seq, m.pos LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: runs_of_turn
SELECT * FROM run WHERE turn_id = :turn_id ORDER BY pos;

-- name: runs
SELECT r.*, c.user_id, c.channel FROM run r JOIN conversation c ON c.id = r.conversation_id
WHERE r.conversation_id = coalesce(CAST(:conversation_id AS TEXT), r.conversation_id)
ORDER BY r.created_at DESC, r.id DESC LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: run_by_prefix
SELECT * FROM run WHERE substr(id, 1, length(:ref)) = :ref ORDER BY id LIMIT 10;

-- name: steps
SELECT * FROM step WHERE run_id = :run_id ORDER BY no, item;

-- name: approvals
SELECT a.*, r.tool, r.tool_hash, r.args, r.turn_id, c.user_id, c.channel, c.address
FROM approval a JOIN run r ON r.id = a.run_id JOIN conversation c ON c.id = a.conversation_id
WHERE coalesce(CAST(:state AS TEXT), 'all') IN ('all', a.state)
ORDER BY a.num DESC LIMIT coalesce(CAST(:limit AS BIGINT), 100);

-- name: approval
SELECT a.*, r.tool, r.tool_hash, r.args, r.turn_id, c.user_id, c.channel, c.address
FROM approval a JOIN run r ON r.id = a.run_id JOIN conversation c ON c.id = a.conversation_id
WHERE a.id = :ref OR upper(:ref) IN ('A' || a.num, CAST(a.num AS TEXT));

-- name: approval_for_user
SELECT a.*, r.tool, r.tool_hash, r.args, r.turn_id, c.user_id, c.channel, c.address
FROM approval a JOIN run r ON r.id = a.run_id JOIN conversation c ON c.id = a.conversation_id
WHERE c.user_id = :user_id AND (a.id = :ref OR upper(:ref) IN ('A' || a.num, CAST(a.num AS TEXT)));

-- name: approval_of_run
SELECT a.*, r.tool, r.tool_hash, r.args, r.turn_id, c.user_id, c.channel, c.address
FROM approval a JOIN run r ON r.id = a.run_id JOIN conversation c ON c.id = a.conversation_id
WHERE a.run_id = :run_id ORDER BY a.num DESC LIMIT 1;

-- name: approvals_of_run
SELECT id, num, state, decided_by, created_at, decided_at FROM approval WHERE run_id = :run_id ORDER BY num;

-- name: pending_approvals
SELECT count(*) AS n, min(expires_at) AS expires_at FROM approval WHERE state = 'pending';

-- name: rules
SELECT * FROM rule WHERE revoked_at IS NULL ORDER BY num;

-- name: all_rules
SELECT * FROM rule ORDER BY num;

-- name: rules_for_tool
SELECT * FROM rule
WHERE tool = :tool AND tool_hash = :tool_hash AND revoked_at IS NULL
  AND (conversation_id IS NULL OR conversation_id = :conversation_id) AND (user_id IS NULL OR user_id = :user_id)
ORDER BY num;

-- name: met_hosts
SELECT DISTINCT s.host FROM step s JOIN run r ON r.id = s.run_id
WHERE r.conversation_id = :conversation_id AND s.kind = 'http' AND s.sent_at IS NOT NULL ORDER BY s.host;

-- name: events
SELECT seq, turn_id, name, body, created_at FROM event
WHERE conversation_id = :conversation_id AND seq > coalesce(CAST(:after AS BIGINT), 0) ORDER BY seq LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: last_event
SELECT next_event AS seq FROM conversation WHERE id = :conversation_id;

-- name: queue_stats
SELECT queue, state, count(*) AS n, min(run_at) AS run_at, max(attempts) AS attempts FROM job
GROUP BY queue, state ORDER BY queue, state;

-- name: dead_jobs
SELECT * FROM job WHERE state = 'dead' ORDER BY created_at DESC, id LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: dead_job_by_prefix
SELECT * FROM job WHERE state = 'dead' AND substr(id, 1, length(:ref)) = :ref ORDER BY id LIMIT 10;

-- name: job_of_owner
SELECT * FROM job WHERE owner_id = :owner_id ORDER BY created_at, id;

-- name: deliveries
SELECT * FROM delivery WHERE conversation_id = :conversation_id ORDER BY seq DESC, repeat DESC LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: usage
SELECT CASE CAST(:by AS TEXT) WHEN 'user' THEN user_id WHEN 'conversation' THEN conversation_id WHEN 'model' THEN model
    ELSE day END AS of,
  currency, count(*) AS calls, sum(tokens_in) AS tokens_in, sum(tokens_out) AS tokens_out,
  sum(tokens_cached) AS tokens_cached, sum(tokens_reasoning) AS tokens_reasoning, sum(cost) AS cost
FROM usage
WHERE day >= coalesce(CAST(:since AS TEXT), '') AND user_id = coalesce(CAST(:user_id AS TEXT), user_id)
GROUP BY 1, currency ORDER BY 1, currency;

-- name: usage_of_day
SELECT currency, sum(tokens_in + tokens_out) AS tokens, sum(cost) AS cost FROM usage WHERE day = :day GROUP BY currency;

-- name: memories
SELECT id, user_id, body, tags, created_at, updated_at FROM memory
WHERE user_id = coalesce(CAST(:user_id AS TEXT), user_id) ORDER BY updated_at DESC, id DESC LIMIT coalesce(CAST(:limit AS BIGINT), 1000);

-- name: cursor
SELECT value FROM meta WHERE key = 'cursor:' || :channel;

-- name: pending_counts
SELECT
  (SELECT count(*) FROM turn WHERE state <> 'ended') AS turns,
  (SELECT count(*) FROM run WHERE state <> 'done') AS runs,
  (SELECT count(*) FROM approval WHERE state = 'pending') AS approvals,
  (SELECT count(*) FROM delivery WHERE state IN ('prepared', 'sending')) AS deliveries,
  (SELECT count(*) FROM job WHERE state = 'dead') AS dead_letters;
