-- Deliveries: what goes out to people, one lane per conversation and address.

-- name: put_delivery
INSERT INTO delivery(id, conversation_id, lane, channel, address, seq, repeat, kind, about, body, safety, state,
  expires_at, created_at)
VALUES (:id, :conversation_id, :lane, :channel, :address, :seq, :repeat, :kind, :about, :body, :safety, 'prepared',
  :expires_at, :now);

-- name: delivery_by_id
SELECT * FROM delivery WHERE id = :id;

-- name: first_open_delivery
SELECT id FROM delivery WHERE lane = :lane AND state IN ('prepared', 'sending') ORDER BY seq, repeat LIMIT 1;

-- name: send_delivery
UPDATE delivery SET state = 'sending', send_token = :token WHERE id = :id RETURNING *;

-- name: put_delivery_back
UPDATE delivery SET state = 'prepared', last_error = :last_error WHERE id = :id;

-- name: end_delivery
UPDATE delivery SET state = :state, last_error = :last_error, ended_at = :now WHERE id = :id;

-- name: drop_delivery
UPDATE delivery SET last_error = 'dropped' WHERE id = :id;

-- name: last_repeat
SELECT max(repeat) AS n FROM delivery WHERE conversation_id = :conversation_id AND seq = :seq;
