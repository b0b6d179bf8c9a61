-- The conversation row is the one lock: nearly every transaction begins with one of the first three statements.

-- name: lock_conversation
UPDATE conversation SET rev = rev + 1 WHERE id = :id RETURNING *;

-- name: open_conversation
INSERT INTO conversation(id, user_id, channel, address, next_seq, next_delivery, next_event, rev, created_at)
VALUES (:id, :user_id, :channel, :address, 0, 0, 0, 0, :now)
ON CONFLICT (channel, address) WHERE closed_at IS NULL DO UPDATE SET rev = conversation.rev + 1
RETURNING *;

-- name: close_conversation
UPDATE conversation SET closed_at = :now WHERE id = :id;

-- name: next_seq
UPDATE conversation SET next_seq = next_seq + 1 WHERE id = :id RETURNING next_seq;

-- name: next_delivery
UPDATE conversation SET next_delivery = next_delivery + 1 WHERE id = :id RETURNING next_delivery;

-- name: next_event
UPDATE conversation SET next_event = next_event + 1 WHERE id = :id RETURNING next_event;

-- name: put_event
INSERT INTO event(conversation_id, seq, turn_id, name, body, created_at)
VALUES (:conversation_id, :seq, :turn_id, :name, :body, :now);

-- name: next_number
UPDATE meta SET num = num + 1 WHERE key = :key RETURNING num;

-- name: put_meta
INSERT INTO meta(key, num, value) VALUES (:key, 0, :value)
ON CONFLICT (key) DO UPDATE SET value = excluded.value;
