-- Turns and their messages.

-- name: turn_of_source
SELECT * FROM turn WHERE channel = :channel AND address = :address AND source_id = :source_id;

-- name: active_turn
SELECT * FROM turn WHERE conversation_id = :conversation_id AND state IN ('llm', 'tools');

-- name: queued_turns
SELECT * FROM turn WHERE conversation_id = :conversation_id AND state = 'queued' ORDER BY seq DESC;

-- name: next_queued_turn
SELECT id FROM turn WHERE conversation_id = :conversation_id AND state = 'queued' ORDER BY seq LIMIT 1;

-- name: count_queued_turns
SELECT count(*) AS n FROM turn WHERE conversation_id = :conversation_id AND state = 'queued';

-- name: count_open_turns
SELECT count(*) AS n FROM turn WHERE state <> 'ended';

-- name: put_turn
INSERT INTO turn(id, conversation_id, seq, kind, channel, address, source_id, state, reason, llm_steps, next_pos, lapsed,
  event_cursor, created_at, ended_at)
VALUES (:id, :conversation_id, :seq, :kind, :channel, :address, :source_id, :state, :reason, 0, :next_pos, 0,
  :event_cursor, :now, :ended_at);

-- name: start_turn
UPDATE turn SET state = 'llm' WHERE id = :id;

-- name: turn_waits_for_tools
UPDATE turn SET state = 'tools' WHERE id = :id;

-- name: count_llm_step
UPDATE turn SET llm_steps = :llm_steps, next_pos = :next_pos WHERE id = :id;

-- name: next_pos
UPDATE turn SET next_pos = next_pos + 1 WHERE id = :id RETURNING next_pos;

-- name: end_turn
UPDATE turn SET state = 'ended', reason = :reason, ended_at = :now WHERE id = :id;

-- name: set_lapsed
UPDATE turn SET lapsed = :lapsed WHERE id = :id;

-- name: put_message
INSERT INTO message(turn_id, pos, role, content, run_id, created_at)
VALUES (:turn_id, :pos, :role, :content, :run_id, :now);

-- name: message_at
SELECT content FROM message WHERE turn_id = :turn_id AND pos = :pos;

-- name: put_usage
INSERT INTO usage(id, conversation_id, turn_id, user_id, day, model, tokens_in, tokens_out, tokens_cached,
  tokens_reasoning, cost, currency, created_at)
VALUES (:id, :conversation_id, :turn_id, :user_id, :day, :model, :tokens_in, :tokens_out, :tokens_cached,
  :tokens_reasoning, :cost, :currency, :now)
ON CONFLICT (id) DO NOTHING;
