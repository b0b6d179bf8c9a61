-- Approvals and the standing rules that they may leave.

-- name: put_approval
INSERT INTO approval(id, num, conversation_id, run_id, no, digest, request, state, expires_at, created_at)
VALUES (:id, :num, :conversation_id, :run_id, :no, :digest, :request, 'pending', :expires_at, :now);

-- name: approval_by_num
SELECT * FROM approval WHERE num = :num;

-- name: approval_by_id
SELECT * FROM approval WHERE id = :id;

-- name: waiting_approval
SELECT a.num FROM approval a JOIN run r ON r.id = a.run_id
WHERE r.turn_id = :turn_id AND a.state = 'pending' ORDER BY a.num LIMIT 1;

-- name: due_approvals
SELECT id FROM approval WHERE state = 'pending' AND expires_at <= :now ORDER BY expires_at LIMIT 100;

-- name: next_expiry
SELECT min(expires_at) AS expires_at FROM approval WHERE state = 'pending';

-- name: approve
UPDATE approval SET state = 'approved', scope = :scope, decided_by = :decided_by, decided_via = :decided_via,
  reason = :reason, decided_at = :now, expires_at = :expires_at WHERE id = :id RETURNING *;

-- name: deny
UPDATE approval SET state = 'denied', decided_by = :decided_by, decided_via = :decided_via, reason = :reason,
  decided_at = :now WHERE id = :id RETURNING *;

-- name: lapse_approval
UPDATE approval SET state = 'expired', decided_at = :now WHERE id = :id RETURNING *;

-- name: consume_approval
UPDATE approval SET state = 'consumed', consumed_at = :now
WHERE run_id = :run_id AND no = :no AND state = 'approved' AND expires_at > :now RETURNING *;

-- name: approval_of_request
SELECT * FROM approval WHERE run_id = :run_id AND no = :no;

-- name: lapse_unused_approval
UPDATE approval SET state = 'expired' WHERE run_id = :run_id AND no = :no AND state = 'approved' RETURNING *;

-- name: cancel_approvals
UPDATE approval SET state = 'cancelled' WHERE run_id = :run_id AND state IN ('pending', 'approved') RETURNING *;

-- name: put_rule
INSERT INTO rule(id, num, conversation_id, user_id, tool, tool_hash, method, host, path, approval_id, created_by, created_at)
VALUES (:id, :num, :conversation_id, :user_id, :tool, :tool_hash, :method, :host, :path, :approval_id, :created_by, :now);

-- name: standing_rule
SELECT id FROM rule WHERE id = :id AND revoked_at IS NULL;

-- name: rule_by_num
SELECT * FROM rule WHERE num = :num;

-- name: rule_by_id
SELECT * FROM rule WHERE id = :id;

-- name: revoke_rule
UPDATE rule SET revoked_at = :now, revoked_by = :revoked_by WHERE id = :id AND revoked_at IS NULL RETURNING *;
