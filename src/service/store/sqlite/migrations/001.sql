-- The first schema. Times are milliseconds since 1970-01-01T00:00Z, columns that end in `_json` hold JSON.

PRAGMA application_id = 0x57524954; -- "WRIT"

CREATE TABLE agents (
  id TEXT PRIMARY KEY,
  name TEXT NOT NULL COLLATE NOCASE UNIQUE,
  risk_tier TEXT NOT NULL CHECK (risk_tier IN ('low', 'medium', 'high', 'critical')),
  control_owner TEXT NOT NULL,
  tags_json TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('active', 'disabled', 'revoked')),
  signing TEXT NOT NULL CHECK (signing IN ('off', 'optional', 'required')),
  sealed_signing_secret TEXT,
  created_ms INTEGER NOT NULL,
  changed_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE keys (
  id TEXT PRIMARY KEY,
  agent_id TEXT NOT NULL REFERENCES agents (id),
  digest TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  not_after_ms INTEGER,
  last_used_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX keys_by_agent ON keys (agent_id, created_ms);

-- What a request's life may change stands in columns; the rest of the record never changes.
CREATE TABLE requests (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  action_key TEXT NOT NULL,
  outcome TEXT NOT NULL,
  status TEXT NOT NULL,
  created_ms INTEGER NOT NULL,
  decided_ms INTEGER,
  expires_ms INTEGER NOT NULL,
  idempotency_key TEXT,
  idempotency_digest TEXT,
  idempotency_until_ms INTEGER,
  record_json TEXT NOT NULL
) STRICT;

CREATE INDEX requests_open ON requests (agent_id, expires_ms) WHERE status = 'pending';

CREATE INDEX requests_by_idempotency_key ON requests (agent_id, idempotency_key, idempotency_until_ms)
  WHERE idempotency_key IS NOT NULL;

CREATE TABLE refusals (
  sequence INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  agent_id TEXT NOT NULL,
  key_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  http_status INTEGER NOT NULL,
  code TEXT NOT NULL,
  detail TEXT NOT NULL,
  client_address TEXT NOT NULL,
  body_digest TEXT
) STRICT;

CREATE INDEX refusals_by_agent ON refusals (agent_id, sequence);

CREATE TABLE plants (
  id INTEGER PRIMARY KEY,
  name TEXT NOT NULL,
  tag TEXT
) STRICT;

CREATE TABLE settings (
  name TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
