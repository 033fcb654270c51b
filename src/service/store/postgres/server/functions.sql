-- The statements that store. A process that serves stores its batches in its own lane, beside those of others. Every other
-- write is in turn, beside batches while it looks and changes, and alone from where its records are put at the end of lane 0.
-- Locks are taken in this order: the slot, meters, the turn, agents, all others' writes, nonces, idempotency keys.

-- Why this server does not keep what it acknowledges as the session's `writ.durability` promises: the end of a sentence; null
-- where it does.
CREATE OR REPLACE FUNCTION writ_fault() RETURNS text LANGUAGE sql STABLE AS $$
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
CREATE OR REPLACE FUNCTION writ_fence(p_slot int2, p_epoch int8, p_batch int8) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  fault text;
BEGIN
  IF p_slot IS NULL THEN RETURN; END IF;
  UPDATE replicas SET batch = p_batch, seen_at = clock_timestamp()
    WHERE slot = p_slot AND epoch = p_epoch AND batch = p_batch - 1;
  IF NOT FOUND THEN RAISE EXCEPTION 'another process has this slot' USING ERRCODE = 'WR001'; END IF;
  fault := writ_fault();
  IF fault IS NOT NULL THEN RAISE EXCEPTION '%', fault USING ERRCODE = 'WR006'; END IF;
END $$;

-- Until its transaction ends nobody else stores, and all that was stored before is seen.
CREATE OR REPLACE FUNCTION writ_alone() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(1465012566) $$;

-- Until its transaction ends nobody is alone.
CREATE OR REPLACE FUNCTION writ_beside() RETURNS void LANGUAGE sql AS $$
  SELECT pg_advisory_xact_lock_shared(1465012566)
$$;

-- Until its transaction ends no other write than batches is carried out.
CREATE OR REPLACE FUNCTION writ_in_turn() RETURNS void LANGUAGE sql AS $$ SELECT pg_advisory_xact_lock(1465012567) $$;

-- Begins a write that is no batch. What other such writes change stays as it is until it ends; batches go on.
CREATE OR REPLACE FUNCTION writ_begin(p_slot int2, p_epoch int8, p_batch int8) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM writ_fence(p_slot, p_epoch, p_batch);
  PERFORM writ_in_turn();
END $$;

-- Puts records at the end of lane 0, each into its table: `row` is what stands there, `head`, `between` and `tail` are its
-- canonical JSON around what it follows and its number. Alone where batches look at what is recorded here, for then those
-- before have seen nothing of it and those after all; else beside them, one such writer after the other.
CREATE OR REPLACE FUNCTION writ_records(
  p_is_alone bool, p_table text[], p_row text[], p_head text[], p_between text[], p_tail text[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  number int8;
  last int8;
  link text;
  ends jsonb[] := '{}';
  name text;
BEGIN
  IF p_is_alone THEN PERFORM writ_alone(); ELSE PERFORM writ_beside(); END IF;
  SELECT sequence, hash INTO last, link FROM chain_end FOR UPDATE;
  FOR i IN 1..cardinality(p_row) LOOP
    number := nextval('record_numbers');
    link := encode(sha256(convert_to(
      link || p_head[i] || CASE WHEN last = number - 1 THEN '' ELSE '"follows":' || last || ',' END
        || p_between[i] || number || p_tail[i], 'UTF8')), 'hex');
    ends := ends || jsonb_build_object('sequence', number, 'hash', link,
      'follows', CASE WHEN last <> number - 1 THEN last END);
    last := number;
  END LOOP;
  FOR name IN SELECT DISTINCT unnest(p_table) LOOP
    EXECUTE format('INSERT INTO %1$I SELECT filled.* FROM unnest($1, $2, $3) AS one(at, record, place),
      jsonb_populate_record(NULL::%1$I, record::jsonb || place) AS filled WHERE at = %1$L', name)
      USING p_table, p_row, ends;
  END LOOP;
  UPDATE chain_end SET sequence = last, hash = link;
END $$;

-- Ends a write that has put records into lane 0 by itself, alone.
CREATE OR REPLACE FUNCTION writ_end(p_sequence int8, p_hash text) RETURNS void LANGUAGE sql AS $$
  UPDATE chain_end SET sequence = p_sequence, hash = p_hash;
  SELECT setval('record_numbers', p_sequence);
$$;

-- Holds the rows of meters, in one order for all who do.
CREATE OR REPLACE FUNCTION writ_lock_meters(p_definitions text[], p_keys text[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  wanted int8 := (SELECT count(*) FROM (SELECT DISTINCT * FROM unnest(p_definitions, p_keys)) AS places);
  found int8;
BEGIN
  LOOP
    PERFORM FROM meter_locks
      WHERE (definition, meter_key) IN (SELECT * FROM unnest(p_definitions, p_keys))
      ORDER BY definition, meter_key FOR UPDATE;
    GET DIAGNOSTICS found = ROW_COUNT;
    EXIT WHEN found = wanted;
    INSERT INTO meter_locks SELECT DISTINCT * FROM unnest(p_definitions COLLATE "C", p_keys COLLATE "C") ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- One batch is one statement: fence, what each decision rests on, the lane, rows, entries of meters, nonces. Each request is
-- judged by itself, and those that are refused leave no trace; the answer has a word for each. The caller sends no two
-- requests together of which one could be the reason to refuse the other.
CREATE OR REPLACE FUNCTION writ_append(
  p_slot int2, p_epoch int8, p_batch int8, p_switch_kind text,
  -- Who accepts nonces here; the moment up to which this process knows where meters stand.
  p_owner text, p_seen pg_snapshot,
  -- Of each nonce.
  n_kept_until int8[], n_used int8[], n_nonce text[],
  -- Of each request; `head`, `before` and `after` are its canonical JSON around what it follows and its number.
  r_id text[], r_agent text[], r_action text[], r_outcome text[], r_status text[],
  r_created int8[], r_decided int8[], r_expires int8[],
  r_key text[], r_digest text[], r_until int8[], r_record text[], r_head text[], r_before text[], r_after text[],
  r_open_max int8[],
  -- What its decision rests on; no agent's version where that is not judged.
  b_agent text[], b_version int8[], b_key_end int8[], b_switches int8[], b_policies text[], b_nonce text[],
  -- Of each document that a decision rests on: whose decision.
  d_request int4[], d_kind text[], d_id text[], d_version int8[],
  -- Of each entry of a meter: whose entry.
  e_request int4[], e_definition text[], e_key text[], e_certain bool[], e_value text[],
  -- Of each meter that a decision has read or enters: whose decision.
  m_request int4[], m_definition text[], m_key text[],
  -- A word for each request; the server's time.
  OUT results text[], OUT server_ms int8
) LANGUAGE plpgsql AS $$
DECLARE
  number int8;
  -- Of the record before in the lane.
  last int8;
  link text;
  hashes text[] := array_fill(NULL::text, ARRAY[cardinality(r_id)]);
  numbers int8[] := array_fill(NULL::int8, ARRAY[cardinality(r_id)]);
  turns int8[];
  follows int8[] := array_fill(NULL::int8, ARRAY[cardinality(r_id)]);
  switches int8;
  active text;
  -- Requests that were decided before another process has entered one of their meters.
  moved int4[] := '{}';
BEGIN
  IF p_slot IS NULL THEN
    PERFORM writ_in_turn();
    PERFORM writ_alone();
    SELECT greatest(chain_end.sequence, (SELECT max(lane_sequence) FROM replicas)), chain_end.sequence, chain_end.hash
      INTO number, last, link FROM chain_end;
  ELSE
    PERFORM writ_fence(p_slot, p_epoch, p_batch);
    IF cardinality(m_request) > 0 THEN PERFORM writ_lock_meters(m_definition, m_key); END IF;
    -- Before it is beside others: who changes one of these agents holds its row while this waits, and is alone then.
    IF 'pending' = ANY (r_status) THEN
      PERFORM FROM agents WHERE id IN (SELECT agent FROM unnest(r_agent, r_status) AS r(agent, status) WHERE status = 'pending')
        ORDER BY id FOR NO KEY UPDATE;
    END IF;
    PERFORM writ_beside();
    SELECT lane_sequence, lane_hash INTO last, link FROM replicas WHERE slot = p_slot;
  END IF;
  -- After the locks, so that what was changed while this waited is seen.
  switches := coalesce((SELECT generation FROM document_kinds WHERE kind = p_switch_kind), 0);
  active := (SELECT policy_digest FROM control);
  IF cardinality(n_nonce) > 0 THEN
    INSERT INTO nonces (kept_until_ms, used_ms, nonce, owner)
      SELECT n.kept_until, n.used, n.nonce, p_owner
      FROM unnest(n_kept_until, n_used, n_nonce) AS n(kept_until, used, nonce) ORDER BY n.nonce COLLATE "C"
      ON CONFLICT DO NOTHING;
    DELETE FROM nonces WHERE nonce IN (
      SELECT nonce FROM nonces WHERE kept_until_ms < n_used[cardinality(n_used)] FOR UPDATE SKIP LOCKED);
  END IF;
  IF p_seen IS NOT NULL AND cardinality(m_request) > 0 THEN
    moved := ARRAY(
      SELECT m.request FROM unnest(m_request, m_definition, m_key) AS m(request, definition, key)
      WHERE EXISTS (
        SELECT 1 FROM meter_entries AS entry
        WHERE entry.definition = m.definition AND entry.meter_key = m.key
          AND entry.written >= pg_snapshot_xmin(p_seen) AND entry.written < pg_snapshot_xmax(pg_current_snapshot())
          AND NOT pg_visible_in_snapshot(entry.written, p_seen) AND entry.slot IS DISTINCT FROM p_slot));
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
    END ORDER BY r.at),
    -- In one look with the comparison: who has stored the key since is met by the index.
    array_agg(CASE WHEN r.key IS NOT NULL THEN coalesce((
      SELECT max(idempotency_turn) + 1 FROM requests WHERE requests.agent_id = r.agent AND idempotency_key = r.key), 0)
    END ORDER BY r.at)
  INTO results, turns
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
    IF p_slot IS NULL THEN number := number + 1; ELSE number := nextval('record_numbers'); END IF;
    IF p_slot IS NOT NULL OR last <> number - 1 THEN follows[i] := last; END IF;
    link := encode(sha256(convert_to(
      link || r_head[i] || coalesce('"follows":' || follows[i] || ',', '') || r_before[i] || number || r_after[i] || r_record[i],
      'UTF8')), 'hex');
    last := number;
    numbers[i] := number;
    hashes[i] := link;
  END LOOP;
  -- By idempotency key, so that two processes that use the same ones do not wait for each other.
  INSERT INTO requests (sequence, follows, hash, id, agent_id, action_key, outcome, status, created_ms, decided_ms, expires_ms,
      idempotency_key, idempotency_digest, idempotency_until_ms, record_json, slot, lane, idempotency_turn)
    SELECT r.number, r.follows, r.hash, r.id, r.agent, r.action, r.outcome, r.status, r.created, r.decided, r.expires,
      r.key, r.digest, r.until, r.record, p_slot, coalesce(p_slot + 1, 0), r.turn
    FROM unnest(numbers, follows, hashes, r_id, r_agent, r_action, r_outcome, r_status, r_created, r_decided, r_expires,
      r_key, r_digest, r_until, r_record, turns)
      AS r(number, follows, hash, id, agent, action, outcome, status, created, decided, expires, key, digest, until, record, turn)
    WHERE r.number IS NOT NULL
    ORDER BY CASE WHEN r.key IS NOT NULL THEN r.agent COLLATE "C" END, r.key COLLATE "C", r.number;
  IF cardinality(e_request) > 0 THEN
    INSERT INTO meter_entries (definition, request_id, meter_key, granted_ms, is_certain, value, written, slot)
      SELECT e.definition, r_id[e.request], e.key, r_decided[e.request], e.certain, e.value, pg_current_xact_id(), p_slot
      FROM unnest(e_request, e_definition, e_key, e_certain, e_value) AS e(request, definition, key, certain, value)
      WHERE results[e.request] = 'stored' ON CONFLICT DO NOTHING;
  END IF;
  IF p_slot IS NOT NULL THEN
    UPDATE replicas SET lane_sequence = last, lane_hash = link WHERE slot = p_slot;
  ELSIF last = number THEN
    PERFORM writ_end(last, link);
  END IF;
  server_ms := extract(epoch FROM clock_timestamp()) * 1000;
END $$;
