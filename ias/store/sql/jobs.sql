-- Jobs: tokens that exist while their owner has work.

-- name: put_job
INSERT INTO job(id, queue, lane, conversation_id, owner_id, state, run_at, attempts, max_attempts, created_at)
VALUES (:id, :queue, :lane, :conversation_id, :owner_id, 'ready', :now, 0, :max_attempts, :now);

-- name: own_job
UPDATE job SET lease_until = :lease_until WHERE id = :id AND state = 'leased' AND lease_token = :token RETURNING *;

-- name: ack_job
DELETE FROM job WHERE id = :id AND state = 'leased' AND lease_token = :token RETURNING *;

-- name: drop_live_job
DELETE FROM job WHERE queue = :queue AND lane = :lane AND state <> 'dead';

-- name: live_job
SELECT id FROM job WHERE queue = :queue AND lane = :lane AND state <> 'dead';

-- name: claimed_job
SELECT * FROM job WHERE state = 'leased' AND lease_token = :token;

-- name: claim@sqlite
UPDATE job SET state = 'leased', attempts = attempts + 1, lease_token = :token, lease_until = :lease_until, worker = :worker
WHERE state = 'ready' AND id = (
  SELECT id FROM job WHERE queue = :queue AND state = 'ready' AND run_at <= :now ORDER BY run_at, id LIMIT 1)
RETURNING *;

-- name: claim_owned
UPDATE job SET state = 'leased', attempts = attempts + 1, lease_token = :token, lease_until = :lease_until, worker = :worker
WHERE state = 'ready' AND owner_id = :owner_id RETURNING *;

-- name: next_run_at
SELECT min(run_at) AS run_at FROM job WHERE queue = :queue AND state = 'ready';

-- name: put_job_back
UPDATE job SET state = 'ready', run_at = :run_at, lease_token = NULL, last_error = :last_error WHERE id = :id;

-- name: forget_attempts
UPDATE job SET attempts = 0 WHERE id = :id;

-- name: bury_job
UPDATE job SET state = 'dead', lease_token = NULL, last_error = :last_error WHERE id = :id;

-- name: hand_back_job
UPDATE job SET state = 'ready', attempts = attempts - 1, lease_token = NULL
WHERE id = :id AND state = 'leased' AND lease_token = :token RETURNING id, queue;

-- name: job_by_id
SELECT * FROM job WHERE id = :id;

-- name: drop_dead_job
DELETE FROM job WHERE id = :id AND state = 'dead' RETURNING *;

-- name: renew_leases@sqlite
UPDATE job SET lease_until = :lease_until WHERE state = 'leased' AND worker = :worker RETURNING id;

-- name: sweep_leases@sqlite
UPDATE job SET state = 'ready', lease_token = NULL WHERE state = 'leased' AND lease_until <= :now RETURNING id;

-- name: void_leases@sqlite
UPDATE job SET state = 'ready', lease_token = NULL WHERE state = 'leased' RETURNING id;

-- name: clamp_run_at@sqlite
UPDATE job SET run_at = :far WHERE state = 'ready' AND run_at > :far RETURNING id;

-- name: clamp_leases@sqlite
UPDATE job SET lease_until = :far WHERE state = 'leased' AND lease_until > :far RETURNING id;

-- name: clamp_approvals@sqlite
UPDATE approval SET expires_at = :far WHERE state IN ('pending', 'approved') AND expires_at > :far RETURNING id;

-- name: clamp_deliveries@sqlite
UPDATE delivery SET expires_at = :far WHERE state IN ('prepared', 'sending') AND expires_at > :far RETURNING id;

-- name: found_at_start
SELECT
  (SELECT count(*) FROM step WHERE state = 'sending' AND safety = 'repeat') AS steps_repeat,
  (SELECT count(*) FROM step WHERE state = 'sending' AND safety = 'once') AS steps_once,
  (SELECT count(*) FROM delivery WHERE state = 'sending' AND safety = 'repeat') AS deliveries_repeat,
  (SELECT count(*) FROM delivery WHERE state = 'sending' AND safety = 'once') AS deliveries_once,
  (SELECT count(*) FROM approval WHERE state = 'pending' AND expires_at > :now) AS approvals_pending,
  (SELECT count(*) FROM approval WHERE state = 'approved') AS approvals_approved,
  (SELECT count(*) FROM approval WHERE state = 'pending' AND expires_at <= :now) AS approvals_expired,
  (SELECT count(*) FROM turn WHERE state = 'queued') AS turns_queued,
  (SELECT count(*) FROM job WHERE state = 'dead') AS dead_letters;
