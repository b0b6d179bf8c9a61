-- Runs (one call each) and their steps (one effect each).

-- name: put_run
INSERT INTO run(id, conversation_id, turn_id, pos, wire_id, wire_name, tool, tool_hash, args, digest, state, no, used_ms,
  code, result, event_cursor, created_at, ended_at)
VALUES (:id, :conversation_id, :turn_id, :pos, :wire_id, :wire_name, :tool, :tool_hash, :args, :digest, :state, 0, 0,
  :code, :result, :event_cursor, :now, :ended_at);

-- name: open_runs
SELECT * FROM run WHERE turn_id = :turn_id AND state <> 'done' ORDER BY pos;

-- name: count_open_runs
SELECT count(*) AS n FROM run WHERE turn_id = :turn_id AND state <> 'done';

-- name: count_open_calls
SELECT count(*) AS n FROM run WHERE turn_id IS NULL AND state <> 'done';

-- name: begin_request
UPDATE run SET no = :no, tool_state = :tool_state, used_ms = :used_ms WHERE id = :id RETURNING *;

-- name: park_run
UPDATE run SET state = 'parked' WHERE id = :id;

-- name: unpark_run
UPDATE run SET state = 'open' WHERE id = :id;

-- name: end_run
UPDATE run SET state = 'done', code = :code, result = :result, ended_at = :now WHERE id = :id;

-- name: put_step
INSERT INTO step(run_id, no, item, kind, line, request, digest, safety, method, host, path, space, idem_key, state,
  granted_by, created_at)
VALUES (:run_id, :no, :item, :kind, :line, :request, :digest, :safety, :method, :host, :path, :space, :idem_key,
  'prepared', :granted_by, :now);

-- name: steps_of_request
SELECT * FROM step WHERE run_id = :run_id AND no = :no ORDER BY item;

-- name: grant_steps
UPDATE step SET granted_by = :granted_by WHERE run_id = :run_id AND no = :no;

-- name: send_step
UPDATE step SET state = 'sending', sent_at = :now, send_token = :token
WHERE run_id = :run_id AND no = :no AND item = :item;

-- name: finish_inner_step
UPDATE step SET state = 'done', response = :response, done_at = :now
WHERE run_id = :run_id AND no = :no AND item = :item;

-- name: finish_sent_step
UPDATE step SET state = :state, response = :response, done_at = :now
WHERE run_id = :run_id AND no = :no AND item = :item AND state = 'sending' RETURNING *;

-- name: keep_late_response
UPDATE step SET late = :response
WHERE run_id = :run_id AND no = :no AND item = :item AND state = 'unknown' AND send_token = :token;

-- name: resend_steps
UPDATE step SET send_token = :token WHERE run_id = :run_id AND no = :no AND state = 'sending';

-- name: steps_still_out
SELECT item FROM step WHERE run_id = :run_id AND no = :no AND state = 'sending';

-- name: doubt_open_steps
UPDATE step SET state = 'unknown', done_at = :now
WHERE run_id = :run_id AND state = 'sending' AND safety = 'once' RETURNING *;

-- name: void_open_steps
UPDATE step SET state = 'void', done_at = :now WHERE run_id = :run_id AND state IN ('prepared', 'sending');

-- name: unknown_steps
SELECT * FROM step WHERE run_id = :run_id AND state = 'unknown' ORDER BY no, item;
