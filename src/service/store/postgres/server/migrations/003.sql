-- The first tables of a store in PostgreSQL. Times are milliseconds since 1970-01-01T00:00Z; columns that end in `_json` hold
-- JSON; texts compare by their bytes.

-- The active policy set and the number of its activation; no set before the first.
CREATE TABLE control (
  id int2 PRIMARY KEY CHECK (id = 1),
  schema_version int4 NOT NULL,
  policy_epoch int8 NOT NULL,
  policy_digest text COLLATE "C"
);

INSERT INTO control VALUES (1, 3, 0, NULL);

-- The sets that are active or were, for replicas that have not read them from a directory.
CREATE TABLE policy_sets (
  digest text COLLATE "C" PRIMARY KEY,
  files_json text NOT NULL
);

-- Who serves, a slot each. A process that claims a slot raises its epoch, and nothing is stored under an earlier one. Each
-- batch counts, so that after a broken connection the row says whether the last one was stored. `wants` is the digest of the
-- set that the process has read, `is_ready` whether it can decide by the active one, `about_json` what it says of itself.
CREATE TABLE replicas (
  slot int2 PRIMARY KEY,
  epoch int8 NOT NULL,
  batch int8 NOT NULL,
  instance text COLLATE "C",
  seen_at timestamptz NOT NULL,
  wants text COLLATE "C",
  is_ready bool NOT NULL,
  about_json text
) WITH (fillfactor = 10);

INSERT INTO replicas SELECT slot, 0, 0, NULL, '-infinity', NULL, false, NULL FROM generate_series(0, 63) AS slot;

-- The last record. Its row is locked by each write, so that no two give out the same number, and so that what a write looks
-- for cannot change before it commits.
CREATE TABLE chain_end (
  id int2 PRIMARY KEY CHECK (id = 1),
  sequence int8 NOT NULL,
  hash text COLLATE "C" NOT NULL
) WITH (fillfactor = 10);

INSERT INTO chain_end VALUES (1, 0, repeat('0', 64));

CREATE TABLE agents (
  id text COLLATE "C" PRIMARY KEY,
  name text COLLATE "C" NOT NULL,
  risk_tier text NOT NULL CHECK (risk_tier IN ('low', 'medium', 'high', 'critical')),
  control_owner text NOT NULL,
  tags_json text NOT NULL,
  status text NOT NULL CHECK (status IN ('active', 'disabled', 'revoked')),
  signing text NOT NULL CHECK (signing IN ('off', 'optional', 'required')),
  sealed_signing_secret text,
  created_ms int8 NOT NULL,
  changed_ms int8 NOT NULL,
  rate_per_minute int8 CHECK (rate_per_minute > 0),
  burst int8 CHECK (burst > 0),
  tells_change int8 NOT NULL CHECK (tells_change IN (0, 1)),
  version int8 NOT NULL
);

CREATE UNIQUE INDEX agents_by_name ON agents (lower(name));
CREATE INDEX agents_by_time ON agents (created_ms, id);

CREATE TABLE keys (
  id text COLLATE "C" PRIMARY KEY,
  agent_id text COLLATE "C" NOT NULL REFERENCES agents (id),
  digest text NOT NULL,
  created_ms int8 NOT NULL,
  not_after_ms int8,
  last_used_ms int8
);

CREATE INDEX keys_by_agent ON keys (agent_id, created_ms);

-- What never changes of a request, the process that has recorded it (here and below no part of the record), and how it stands since its last event: null until there is one.
CREATE TABLE requests (
  sequence int8 PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  agent_id text COLLATE "C" NOT NULL,
  action_key text COLLATE "C" NOT NULL,
  outcome text NOT NULL,
  status text NOT NULL,
  created_ms int8 NOT NULL,
  decided_ms int8,
  expires_ms int8 NOT NULL,
  idempotency_key text COLLATE "C",
  idempotency_digest text,
  idempotency_until_ms int8,
  record_json text NOT NULL,
  hash text NOT NULL,
  slot int2,
  now_status text,
  now_decided_ms int8,
  now_expires_ms int8
);

CREATE INDEX requests_by_agent ON requests (agent_id, sequence);
CREATE INDEX requests_by_time ON requests (created_ms, id);
CREATE INDEX requests_by_idempotency_key ON requests (agent_id, idempotency_key, idempotency_until_ms)
  WHERE idempotency_key IS NOT NULL;
CREATE INDEX requests_held ON requests (agent_id, action_key, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) IN ('pending', 'approved');
CREATE INDEX requests_open ON requests (agent_id, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) = 'pending';
CREATE INDEX requests_due ON requests (coalesce(now_expires_ms, expires_ms), id)
  WHERE coalesce(now_status, status) = 'pending';
CREATE INDEX requests_by_status ON requests (coalesce(now_status, status), sequence)
  WHERE coalesce(now_status, status) <> 'auto_approved';

CREATE TABLE refusals (
  sequence int8 PRIMARY KEY,
  id text COLLATE "C" NOT NULL UNIQUE,
  agent_id text COLLATE "C" NOT NULL,
  key_id text NOT NULL,
  at_ms int8 NOT NULL,
  http_status int4 NOT NULL,
  code text NOT NULL,
  detail text NOT NULL,
  client_address text NOT NULL,
  body_digest text,
  hash text NOT NULL,
  slot int2
);

CREATE INDEX refusals_by_agent ON refusals (agent_id, sequence);

CREATE TABLE changes (
  sequence int8 PRIMARY KEY,
  at_ms int8 NOT NULL,
  who text NOT NULL,
  what text NOT NULL,
  subject text NOT NULL,
  before_json text,
  after_json text,
  hash text NOT NULL
);

CREATE TABLE request_events (
  sequence int8 PRIMARY KEY,
  request_id text COLLATE "C" NOT NULL,
  at_ms int8 NOT NULL,
  who text NOT NULL,
  what text NOT NULL,
  status text NOT NULL,
  decided_ms int8,
  expires_ms int8 NOT NULL,
  detail_json text,
  hash text NOT NULL,
  slot int2
);

CREATE INDEX request_events_by_request ON request_events (request_id, sequence);
CREATE INDEX request_events_taken ON request_events ((detail_json::json ->> 'taker')) WHERE what = 'taken';

-- `end`: the chain had this record. `pruned`: all records up to this one were deleted, the chain goes on from here.
CREATE TABLE checkpoints (
  sequence int8 NOT NULL,
  hash text NOT NULL,
  at_ms int8 NOT NULL,
  purpose text NOT NULL CHECK (purpose IN ('end', 'pruned')),
  signature text NOT NULL,
  PRIMARY KEY (purpose, sequence, at_ms)
);

-- `owner` is the process that has accepted the signature: a nonce is good once, whichever process it comes to.
CREATE TABLE nonces (
  nonce text COLLATE "C" PRIMARY KEY,
  owner text COLLATE "C" NOT NULL,
  kept_until_ms int8 NOT NULL,
  used_ms int8 NOT NULL
);

CREATE INDEX nonces_by_end ON nonces (kept_until_ms);

CREATE TABLE plants (
  id int8 PRIMARY KEY,
  name text NOT NULL,
  tag text
);

CREATE TABLE settings (
  name text COLLATE "C" PRIMARY KEY,
  value text NOT NULL
);

CREATE TABLE documents (
  kind text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  version int8 NOT NULL,
  name text COLLATE "C",
  parent text COLLATE "C",
  created_ms int8 NOT NULL,
  ends_ms int8,
  document_json text NOT NULL,
  PRIMARY KEY (kind, id)
);

CREATE UNIQUE INDEX documents_by_name ON documents (kind, lower(name)) WHERE name IS NOT NULL;
CREATE INDEX documents_by_time ON documents (kind, created_ms, id);
CREATE INDEX documents_by_parent ON documents (kind, parent, created_ms, id) WHERE parent IS NOT NULL;
CREATE INDEX documents_by_end ON documents (kind, ends_ms) WHERE ends_ms IS NOT NULL;

CREATE TABLE document_kinds (
  kind text COLLATE "C" PRIMARY KEY,
  generation int8 NOT NULL
);

-- `granted_ms` is null while the request is pending. `version` is the number of the record that has put the entry as it
-- stands, and `slot` the process that has it in memory so; null where each has yet to hear of it. One that is gone counts no
-- more; its time is that of its grant, or else of its end.
CREATE TABLE meter_entries (
  definition text COLLATE "C" NOT NULL,
  request_id text COLLATE "C" NOT NULL,
  meter_key text COLLATE "C" NOT NULL,
  granted_ms int8,
  is_certain bool NOT NULL,
  value text,
  version int8 NOT NULL,
  slot int2,
  is_gone bool NOT NULL DEFAULT false,
  PRIMARY KEY (request_id, definition)
);

CREATE INDEX meter_entries_by_time ON meter_entries (definition, granted_ms, request_id);
CREATE INDEX meter_entries_by_key ON meter_entries (definition, meter_key, version);
CREATE INDEX meter_entries_by_version ON meter_entries (version);

-- `is_whole`: what was pending when the meter was new has entered it too.
CREATE TABLE meters (
  definition text COLLATE "C" PRIMARY KEY,
  since_ms int8 NOT NULL,
  is_whole bool NOT NULL
);

-- Each process counts what it records itself; -1 where it does not serve.
CREATE TABLE statistics (
  at_ms int8 NOT NULL,
  span_ms int8 NOT NULL,
  slot int2 NOT NULL,
  cell_json text NOT NULL,
  PRIMARY KEY (at_ms, span_ms, slot)
);

CREATE TABLE rule_hits (
  rule text COLLATE "C" PRIMARY KEY,
  decided int8 NOT NULL,
  met int8 NOT NULL,
  last_ms int8
);

CREATE TABLE shadow_changes (
  rule text COLLATE "C" NOT NULL,
  from_outcome text COLLATE "C" NOT NULL,
  to_outcome text COLLATE "C" NOT NULL,
  count int8 NOT NULL,
  PRIMARY KEY (rule, from_outcome, to_outcome)
);

CREATE TABLE statistics_mark (
  slot int2 PRIMARY KEY,
  through_ms int8 NOT NULL,
  after_sequence int8 NOT NULL,
  since_ms int8 NOT NULL
);
