-- The tables of a store in PostgreSQL, and the one statement that stores a batch of requests. Times are milliseconds since
-- 1970-01-01T00:00Z; columns that end in `_json` hold JSON; texts compare by their bytes.

-- The active policy set and the number of its activation; no set before the first.
CREATE TABLE control (
  id int2 PRIMARY KEY CHECK (id = 1),
  schema_version int4 NOT NULL,
  policy_epoch int8 NOT NULL,
  policy_digest text COLLATE "C"
);

INSERT INTO control VALUES (1, 4, 0, NULL);

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

-- Why this server does not keep what it acknowledges as the session's `writ.durability` promises: the end of a sentence; null
-- where it does.
CREATE FUNCTION writ_fault() RETURNS text LANGUAGE sql STABLE AS $$
  SELECT CASE
    WHEN current_setting('fsync') <> 'on' THEN 'runs with fsync off, and may lose what it has acknowledged: set it on'
    WHEN current_setting('full_page_writes') <> 'on'
      THEN 'runs with full_page_writes off, and may lose what it has acknowledged: set it on'
    WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply')
      THEN 'acknowledges what is not on disk: a pooler has set synchronous_commit to ' || current_setting('synchronous_commit')
        || ', leave it on'
    WHEN current_setting('writ.durability', true) = 'replicated' AND current_setting('synchronous_standby_names') = ''
      THEN 'keeps no second copy of what it has acknowledged: name a standby in synchronous_standby_names, or set store.durability'
        || ' to managed or single'
  END
$$;

-- The first step of every write. WR001 where another process has claimed the slot since, or this one has sent a batch of
-- which it does not know, WR006 where the server would not keep what it stores: nothing is stored then. A process that does not
-- serve writes under no slot.
CREATE FUNCTION writ_begin(p_slot int2, p_epoch int8, p_batch int8) RETURNS chain_end LANGUAGE plpgsql AS $$
DECLARE
  last chain_end;
  fault text;
BEGIN
  IF p_slot IS NOT NULL THEN
    UPDATE replicas SET batch = p_batch, seen_at = clock_timestamp()
      WHERE slot = p_slot AND epoch = p_epoch AND batch = p_batch - 1;
    IF NOT FOUND THEN RAISE EXCEPTION 'another process has this slot' USING ERRCODE = 'WR001'; END IF;
    fault := writ_fault();
    IF fault IS NOT NULL THEN RAISE EXCEPTION '%', fault USING ERRCODE = 'WR006'; END IF;
  END IF;
  SELECT * INTO last FROM chain_end WHERE id = 1 FOR UPDATE;
  RETURN last;
END $$;

-- One batch is one statement: fence, what each decision rests on, the chain, rows, entries of meters, nonces. Each request is
-- judged by itself, and those that are refused leave no trace; the answer has a word for each. The caller sends no two
-- requests together of which one could be the reason to refuse the other.
CREATE FUNCTION writ_append(
  p_slot int2, p_epoch int8, p_batch int8, p_switch_kind text,
  -- Who accepts nonces here; up to which record this process knows where meters stand.
  p_owner text, p_seen int8,
  -- Of each nonce.
  n_kept_until int8[], n_used int8[], n_nonce text[],
  -- Of each request; `before` and `after` are its canonical JSON around the number of its record.
  r_id text[], r_agent text[], r_action text[], r_outcome text[], r_status text[],
  r_created int8[], r_decided int8[], r_expires int8[],
  r_key text[], r_digest text[], r_until int8[], r_record text[], r_before text[], r_after text[],
  r_open_max int8[],
  -- What its decision rests on; no agent's version where that is not judged.
  b_agent text[], b_version int8[], b_key_end int8[], b_switches int8[], b_policies text[], b_nonce text[],
  -- Of each document that a decision rests on: whose decision.
  d_request int4[], d_kind text[], d_id text[], d_version int8[],
  -- Of each entry of a meter: whose entry.
  e_request int4[], e_definition text[], e_key text[], e_certain bool[], e_value text[],
  -- Of each meter that a decision has read or enters: whose decision.
  m_request int4[], m_definition text[], m_key text[],
  -- A word for each request; the numbers of the record before the batch, and of its last; the server's time.
  OUT results text[], OUT first_sequence int8, OUT last_sequence int8, OUT server_ms int8
) LANGUAGE plpgsql AS $$
DECLARE
  last chain_end := writ_begin(p_slot, p_epoch, p_batch);
  hashes text[] := array_fill(NULL::text, ARRAY[cardinality(r_id)]);
  numbers int8[] := array_fill(NULL::int8, ARRAY[cardinality(r_id)]);
  -- After the lock, so that what was changed while this waited is seen.
  switches int8 := coalesce((SELECT generation FROM document_kinds WHERE kind = p_switch_kind), 0);
  active text := (SELECT policy_digest FROM control);
  -- Requests that were decided before another process has entered one of their meters.
  moved int4[] := '{}';
BEGIN
  first_sequence := last.sequence;
  IF cardinality(n_nonce) > 0 THEN
    INSERT INTO nonces (kept_until_ms, used_ms, nonce, owner)
      SELECT n.kept_until, n.used, n.nonce, p_owner
      FROM unnest(n_kept_until, n_used, n_nonce) AS n(kept_until, used, nonce) ON CONFLICT DO NOTHING;
    DELETE FROM nonces WHERE kept_until_ms < n_used[cardinality(n_used)];
  END IF;
  IF p_seen IS NOT NULL AND cardinality(m_request) > 0 THEN
    moved := ARRAY(
      SELECT m.request FROM unnest(m_request, m_definition, m_key) AS m(request, definition, key)
      WHERE EXISTS (
        SELECT 1 FROM meter_entries AS entry
        WHERE entry.definition = m.definition AND entry.meter_key = m.key AND entry.version > p_seen
          AND entry.slot IS DISTINCT FROM p_slot));
  END IF;
  SELECT array_agg(CASE
      WHEN r.b_nonce IS NOT NULL
        AND EXISTS (SELECT 1 FROM nonces WHERE nonces.nonce = r.b_nonce AND nonces.owner <> p_owner)
      THEN 'nonce-used'
      WHEN active IS NOT NULL AND r.b_policies <> active THEN 'policies-changed'
      WHEN r.b_version IS NOT NULL AND (
        r.b_version = 0 OR r.b_switches <> switches OR r.created >= r.b_key_end
        OR NOT EXISTS (SELECT 1 FROM agents WHERE agents.id = r.b_agent AND agents.version = r.b_version)
        OR EXISTS (
          SELECT 1 FROM unnest(d_request, d_kind, d_id, d_version) AS d(request, kind, id, version)
          WHERE d.request = r.at AND d.version <> coalesce(
            (SELECT version FROM documents WHERE documents.kind = d.kind AND documents.id = d.id), 0))
      ) THEN 'basis-changed'
      WHEN r.key IS NOT NULL AND EXISTS (
        SELECT 1 FROM requests WHERE requests.agent_id = r.agent AND requests.idempotency_key = r.key
          AND idempotency_until_ms + greatest(0, coalesce(now_expires_ms, expires_ms) - expires_ms) > r.created
      ) THEN 'duplicate-key'
      WHEN r.status = 'pending' AND r.open_max <= (
        SELECT count(*) FROM requests WHERE coalesce(now_status, requests.status) = 'pending'
          AND requests.agent_id = r.agent AND coalesce(now_expires_ms, expires_ms) > r.created
      ) THEN 'too-many-open'
      WHEN EXISTS (SELECT 1 FROM requests WHERE requests.id = r.id) THEN 'duplicate-id'
      WHEN r.at = ANY (moved) THEN 'meters-moved'
      ELSE 'stored'
    END ORDER BY r.at)
  INTO results
  FROM unnest(r_id, r_agent, r_status, r_created, r_key, r_open_max, b_agent, b_version, b_key_end, b_switches,
      b_policies, b_nonce)
    WITH ORDINALITY AS r(id, agent, status, created, key, open_max, b_agent, b_version, b_key_end, b_switches,
      b_policies, b_nonce, at);
  -- One that was decided on what an earlier one has entered falls with it.
  IF cardinality(e_request) > 0 AND NOT 'stored' = ALL (results) THEN
    FOR i IN 2..cardinality(r_id) LOOP
      IF results[i] = 'stored' AND EXISTS (
        SELECT 1 FROM unnest(e_request, e_definition, e_key) AS e(request, definition, key)
        JOIN unnest(m_request, m_definition, m_key) AS m(request, definition, key)
          ON m.definition = e.definition AND m.key = e.key
        WHERE m.request = i AND e.request < i AND results[e.request] <> 'stored')
      THEN
        results[i] := 'meters-moved';
      END IF;
    END LOOP;
  END IF;
  FOR i IN 1..cardinality(r_id) LOOP
    CONTINUE WHEN results[i] <> 'stored';
    last.sequence := last.sequence + 1;
    last.hash := encode(sha256(convert_to(
      last.hash || r_before[i] || last.sequence::text || r_after[i] || r_record[i], 'UTF8')), 'hex');
    numbers[i] := last.sequence;
    hashes[i] := last.hash;
  END LOOP;
  INSERT INTO requests (sequence, hash, id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
      idempotency_key, idempotency_digest, idempotency_until_ms, record_json, slot)
    SELECT *, p_slot FROM unnest(numbers, hashes, r_id, r_agent, r_action, r_outcome, r_status, r_created, r_decided, r_expires,
      r_key, r_digest, r_until, r_record) AS r(number) WHERE number IS NOT NULL;
  IF cardinality(e_request) > 0 THEN
    INSERT INTO meter_entries (definition, request_id, meter_key, granted_ms, is_certain, value, version, slot)
      SELECT e.definition, r_id[e.request], e.key, r_decided[e.request], e.certain, e.value, numbers[e.request], p_slot
      FROM unnest(e_request, e_definition, e_key, e_certain, e_value) AS e(request, definition, key, certain, value)
      WHERE results[e.request] = 'stored' ON CONFLICT DO NOTHING;
  END IF;
  UPDATE chain_end SET sequence = last.sequence, hash = last.hash WHERE id = 1;
  last_sequence := last.sequence;
  server_ms := extract(epoch FROM clock_timestamp()) * 1000;
END $$;
