-- The tables of the durable core. Times are epoch milliseconds, truth is 0 or 1, free text is JSON text with escapes.

CREATE TABLE meta(
  key TEXT PRIMARY KEY,
  num BIGINT NOT NULL,
  value TEXT);
INSERT INTO meta(key, num, value) VALUES ('epoch', 0, NULL), ('approval_no', 0, NULL), ('rule_no', 0, NULL);

CREATE TABLE conversation(
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  next_seq BIGINT NOT NULL,
  next_delivery BIGINT NOT NULL,
  next_event BIGINT NOT NULL,
  rev BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  closed_at BIGINT);
CREATE UNIQUE INDEX conversation_open ON conversation(channel, address) WHERE closed_at IS NULL;

CREATE TABLE turn(
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  seq BIGINT NOT NULL,
  kind TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  source_id TEXT,
  state TEXT NOT NULL,
  reason TEXT,
  llm_steps INTEGER NOT NULL,
  next_pos INTEGER NOT NULL,
  lapsed INTEGER NOT NULL,
  event_cursor BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  UNIQUE(conversation_id, seq));
CREATE UNIQUE INDEX turn_source ON turn(channel, address, source_id) WHERE source_id IS NOT NULL;
CREATE UNIQUE INDEX turn_active ON turn(conversation_id) WHERE state IN ('llm', 'tools');
CREATE INDEX turn_queued ON turn(conversation_id, seq) WHERE state = 'queued';
CREATE INDEX turn_open ON turn(conversation_id) WHERE state <> 'ended';

CREATE TABLE run(
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  turn_id TEXT REFERENCES turn(id),
  pos INTEGER,
  wire_id TEXT NOT NULL,
  wire_name TEXT NOT NULL,
  tool TEXT NOT NULL,
  tool_hash TEXT NOT NULL,
  args TEXT NOT NULL,
  digest TEXT NOT NULL,
  state TEXT NOT NULL,
  no INTEGER NOT NULL,
  tool_state TEXT,
  used_ms BIGINT NOT NULL,
  code TEXT,
  result TEXT,
  event_cursor BIGINT NOT NULL,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  UNIQUE(turn_id, pos));
CREATE INDEX run_open ON run(turn_id) WHERE state <> 'done';
CREATE INDEX run_digest ON run(conversation_id, digest);

CREATE TABLE message(
  turn_id TEXT NOT NULL REFERENCES turn(id),
  pos INTEGER NOT NULL,
  role TEXT NOT NULL,
  content TEXT NOT NULL,
  run_id TEXT REFERENCES run(id),
  created_at BIGINT NOT NULL,
  PRIMARY KEY(turn_id, pos));
CREATE UNIQUE INDEX message_run ON message(run_id) WHERE run_id IS NOT NULL;

CREATE TABLE step(
  run_id TEXT NOT NULL REFERENCES run(id),
  no INTEGER NOT NULL,
  item INTEGER NOT NULL,
  kind TEXT NOT NULL,
  line TEXT,
  request TEXT NOT NULL,
  digest TEXT NOT NULL,
  safety TEXT NOT NULL,
  method TEXT NOT NULL,
  host TEXT NOT NULL,
  path TEXT NOT NULL,
  space TEXT NOT NULL,
  idem_key TEXT,
  state TEXT NOT NULL,
  granted_by TEXT,
  send_token TEXT,
  response TEXT,
  late TEXT,
  created_at BIGINT NOT NULL,
  sent_at BIGINT,
  done_at BIGINT,
  PRIMARY KEY(run_id, no, item));
CREATE INDEX step_open ON step(run_id) WHERE state IN ('prepared', 'sending');

CREATE TABLE approval(
  id TEXT PRIMARY KEY,
  num BIGINT NOT NULL UNIQUE,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  run_id TEXT NOT NULL REFERENCES run(id),
  no INTEGER NOT NULL,
  digest TEXT NOT NULL,
  request TEXT NOT NULL,
  state TEXT NOT NULL,
  scope TEXT,
  expires_at BIGINT NOT NULL,
  decided_by TEXT,
  decided_via TEXT,
  reason TEXT,
  created_at BIGINT NOT NULL,
  decided_at BIGINT,
  consumed_at BIGINT,
  UNIQUE(run_id, no));
CREATE INDEX approval_pending ON approval(expires_at) WHERE state = 'pending';
CREATE INDEX approval_usable ON approval(expires_at) WHERE state = 'approved';

CREATE TABLE rule(
  id TEXT PRIMARY KEY,
  num BIGINT NOT NULL UNIQUE,
  conversation_id TEXT REFERENCES conversation(id),
  user_id TEXT,
  tool TEXT NOT NULL,
  tool_hash TEXT NOT NULL,
  method TEXT NOT NULL,
  host TEXT NOT NULL,
  path TEXT NOT NULL,
  approval_id TEXT REFERENCES approval(id),
  created_by TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  revoked_at BIGINT,
  revoked_by TEXT);
CREATE INDEX rule_tool ON rule(tool) WHERE revoked_at IS NULL;

CREATE TABLE job(
  id TEXT PRIMARY KEY,
  queue TEXT NOT NULL,
  lane TEXT NOT NULL,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  owner_id TEXT NOT NULL,
  state TEXT NOT NULL,
  run_at BIGINT NOT NULL,
  attempts INTEGER NOT NULL,
  max_attempts INTEGER NOT NULL,
  lease_token TEXT,
  lease_until BIGINT,
  worker TEXT,
  last_error TEXT,
  created_at BIGINT NOT NULL);
CREATE UNIQUE INDEX job_live ON job(queue, lane) WHERE state <> 'dead';
CREATE INDEX job_ready ON job(queue, run_at, id) WHERE state = 'ready';
CREATE INDEX job_leased ON job(lease_until) WHERE state = 'leased';
CREATE INDEX job_conversation ON job(conversation_id);

CREATE TABLE delivery(
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  lane TEXT NOT NULL,
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  seq BIGINT NOT NULL,
  repeat INTEGER NOT NULL,
  kind TEXT NOT NULL,
  about TEXT,
  body TEXT NOT NULL,
  safety TEXT NOT NULL,
  state TEXT NOT NULL,
  send_token TEXT,
  expires_at BIGINT NOT NULL,
  last_error TEXT,
  created_at BIGINT NOT NULL,
  ended_at BIGINT,
  UNIQUE(conversation_id, seq, repeat));
CREATE INDEX delivery_open ON delivery(lane, seq, repeat) WHERE state IN ('prepared', 'sending');

CREATE TABLE event(
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  seq BIGINT NOT NULL,
  turn_id TEXT NOT NULL,
  name TEXT NOT NULL,
  body TEXT NOT NULL,
  created_at BIGINT NOT NULL,
  PRIMARY KEY(conversation_id, seq));

CREATE TABLE memory(
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  body TEXT NOT NULL,
  tags TEXT NOT NULL,
  words TEXT NOT NULL,
  run_id TEXT,
  created_at BIGINT NOT NULL,
  updated_at BIGINT NOT NULL);
CREATE INDEX memory_user ON memory(user_id, updated_at);

CREATE TABLE kv(
  user_id TEXT NOT NULL,
  space TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  updated_at BIGINT NOT NULL,
  PRIMARY KEY(user_id, space, key));

CREATE TABLE usage(
  id TEXT PRIMARY KEY,
  conversation_id TEXT NOT NULL REFERENCES conversation(id),
  turn_id TEXT,
  user_id TEXT NOT NULL,
  day TEXT NOT NULL,
  model TEXT NOT NULL,
  tokens_in BIGINT NOT NULL,
  tokens_out BIGINT NOT NULL,
  tokens_cached BIGINT NOT NULL,
  tokens_reasoning BIGINT NOT NULL,
  cost BIGINT,
  created_at BIGINT NOT NULL);
CREATE INDEX usage_user ON usage(user_id, day);
