-- Memories and the key-value space of each tool group; every row belongs to a user.

-- name: put_memory
INSERT INTO memory(id, user_id, body, tags, words, run_id, created_at, updated_at)
VALUES (:id, :user_id, :body, :tags, :words, :run_id, :now, :now) RETURNING *;

-- name: memories_like
SELECT * FROM memory WHERE user_id = :user_id AND substr(id, 1, length(:prefix)) = :prefix ORDER BY id LIMIT 5;

-- name: newest_memories
SELECT * FROM memory WHERE user_id = :user_id ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- name: older_memories
SELECT * FROM memory WHERE user_id = :user_id AND (updated_at < :updated_at OR (updated_at = :updated_at AND id < :id))
ORDER BY updated_at DESC, id DESC LIMIT :limit;

-- name: search_memories@sqlite
SELECT m.id, m.user_id, m.body, m.tags, m.created_at, m.updated_at, sum(json_extract(w.value, '$[1]')) AS score
FROM memory m JOIN json_each(:words) w ON instr(m.words, ' ' || json_extract(w.value, '$[0]') || ' ') > 0
WHERE m.user_id = :user_id GROUP BY m.id ORDER BY score DESC, m.updated_at DESC, m.id DESC LIMIT :limit;

-- name: change_memory
UPDATE memory SET body = :body, tags = :tags, words = :words, updated_at = :now
WHERE id = :id AND user_id = :user_id RETURNING *;

-- name: delete_memory
DELETE FROM memory WHERE id = :id AND user_id = :user_id RETURNING id;

-- name: kv_get
SELECT key, value, updated_at FROM kv WHERE user_id = :user_id AND space = :space AND key = :key;

-- name: kv_list
SELECT key, value, updated_at FROM kv
WHERE user_id = :user_id AND space = :space AND substr(key, 1, length(:prefix)) = :prefix ORDER BY key LIMIT :limit;

-- name: kv_put
INSERT INTO kv(user_id, space, key, value, updated_at) VALUES (:user_id, :space, :key, :value, :now)
ON CONFLICT (user_id, space, key) DO UPDATE SET value = excluded.value, updated_at = excluded.updated_at;

-- name: kv_delete
DELETE FROM kv WHERE user_id = :user_id AND space = :space AND key = :key RETURNING key;

-- name: memory_of_user
SELECT * FROM memory WHERE user_id = :user_id AND id = :id;
