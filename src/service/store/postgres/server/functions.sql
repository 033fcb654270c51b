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
    PERFORM FROM (
      SELECT DISTINCT definition COLLATE "C" AS definition, key COLLATE "C" AS key
      FROM unnest(p_definitions, p_keys) AS places(definition, key) ORDER BY 1, 2) AS place,
      LATERAL (SELECT FROM meter_locks
        WHERE meter_locks.definition = place.definition AND meter_key = place.key FOR UPDATE) AS held;
    GET DIAGNOSTICS found = ROW_COUNT;
    EXIT WHEN found = wanted;
    INSERT INTO meter_locks SELECT DISTINCT * FROM unnest(p_definitions COLLATE "C", p_keys COLLATE "C") ORDER BY 1, 2
      ON CONFLICT DO NOTHING;
  END LOOP;
END $$;

-- One batch is one statement: fence, what each decision rests on, the lane, rows, entries of meters, nonces. Each request is
-- judged by itself, and those that are refused leave no trace; the answer has a word for each. The caller sends no two
-- requests together of which one could be the reason to refuse the other.
--
-- It is planned once for a connection, perhaps while tables are empty, for planning takes longer than the rest of a small batch.
-- So each row that is looked for has a query of its own that finds it by an index: LATERAL with a lock, OFFSET 0 or IS TRUE keeps
-- the planner from making a join of it.
CREATE OR REPLACE FUNCTION writ_append(
  p_slot int2, p_epoch int8, p_batch int8, p_switch_kind text,
  -- Who accepts nonces here; the moment up to which this process knows where meters stand.
  p_owner text, p_seen pg_snapshot,
  -- Of each nonce.
  n_kept_until int8[], n_used int8[], n_nonce text[],
  -- Of each request; `head`, `before` and `after` are its canonical JSON around what it follows and its number.
  r_id uuid[], r_agent text[], r_action text[], r_outcome text[], r_status text[],
  r_created int8[], r_decided int8[], r_expires int8[],
  r_key text[], r_digest text[], r_until int8[], r_record text[], r_seal text[], r_head text[], r_before text[], r_after text[],
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
) LANGUAGE plpgsql
SET plan_cache_mode = force_generic_plan SET enable_seqscan = off AS $$
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
  -- Requests that were decided before another process has entered one of their meters, or has changed a document.
  moved int4[] := '{}';
  outdated int4[] := '{}';
BEGIN
  IF p_slot IS NULL THEN
    PERFORM writ_in_turn();
    PERFORM writ_alone();
    SELECT greatest(chain_end.sequence, (SELECT max(lane_sequence) FROM replicas)), chain_end.sequence, chain_end.hash
      INTO number, last, link FROM chain_end WHERE id = 1;
  ELSE
    PERFORM writ_fence(p_slot, p_epoch, p_batch);
    IF cardinality(m_request) > 0 THEN PERFORM writ_lock_meters(m_definition, m_key); END IF;
    -- Before it is beside others: who changes one of these agents holds its row while this waits, and is alone then.
    IF 'pending' = ANY (r_status) THEN
      PERFORM FROM (
        SELECT DISTINCT agent COLLATE "C" AS agent FROM unnest(r_agent, r_status) AS r(agent, status)
        WHERE status = 'pending' ORDER BY 1) AS asking,
        LATERAL (SELECT FROM agents WHERE id = asking.agent FOR NO KEY UPDATE) AS held;
    END IF;
    PERFORM writ_beside();
    SELECT lane_sequence, lane_hash INTO last, link FROM replicas WHERE slot = p_slot;
  END IF;
  -- After the locks, so that what was changed while this waited is seen.
  SELECT coalesce((SELECT generation FROM document_kinds WHERE kind = p_switch_kind), 0), policy_digest
    INTO switches, active FROM control WHERE id = 1;
  IF cardinality(n_nonce) > 0 THEN
    INSERT INTO nonces (kept_until_ms, used_ms, nonce, owner)
      SELECT n.kept_until, n.used, n.nonce, p_owner
      FROM unnest(n_kept_until, n_used, n_nonce) AS n(kept_until, used, nonce) ORDER BY n.nonce COLLATE "C"
      ON CONFLICT DO NOTHING;
    DELETE FROM nonces WHERE ctid = ANY (ARRAY(
      SELECT ctid FROM nonces WHERE kept_until_ms < n_used[cardinality(n_used)] FOR UPDATE SKIP LOCKED));
  END IF;
  IF p_seen IS NOT NULL AND cardinality(m_request) > 0 THEN
    moved := ARRAY(
      SELECT m.request FROM unnest(m_request, m_definition, m_key) AS m(request, definition, key)
      WHERE ((m.definition, m.key) IN (
        SELECT definition, meter_key FROM meter_entries
        WHERE written >= pg_snapshot_xmin(p_seen) AND written < pg_snapshot_xmax(pg_current_snapshot())
          AND NOT pg_visible_in_snapshot(written, p_seen) AND slot IS DISTINCT FROM p_slot)) IS TRUE);
  END IF;
  IF cardinality(d_request) > 0 THEN
    outdated := ARRAY(
      SELECT d.request FROM unnest(d_request, d_kind, d_id, d_version) AS d(request, kind, id, version)
      WHERE d.version <> coalesce(
        (SELECT version FROM documents WHERE documents.kind = d.kind AND documents.id = d.id), 0));
  END IF;
  SELECT array_agg(CASE
      WHEN b_nonce[at] IS NOT NULL
        AND EXISTS (SELECT 1 FROM nonces WHERE nonces.nonce = b_nonce[at] AND nonces.owner <> p_owner OFFSET 0)
      THEN 'nonce-used'
      WHEN active IS NOT NULL AND b_policies[at] <> active THEN 'policies-changed'
      WHEN b_version[at] IS NOT NULL AND (
        b_version[at] = 0 OR b_switches[at] <> switches OR r_created[at] >= b_key_end[at]
        OR (SELECT version FROM agents WHERE agents.id = b_agent[at]) IS DISTINCT FROM b_version[at]
        OR at = ANY (outdated)
      ) THEN 'precondition-failed'
      WHEN r_key[at] IS NOT NULL AND EXISTS (
        SELECT 1 FROM requests WHERE requests.agent_id = r_agent[at] AND requests.idempotency_key = r_key[at]
          AND idempotency_until_ms + greatest(0, coalesce(now_expires_ms, expires_ms) - expires_ms) > r_created[at] OFFSET 0
      ) THEN 'duplicate-key'
      WHEN r_status[at] = 'pending' AND r_open_max[at] <= (
        SELECT count(*) FROM requests WHERE coalesce(now_status, requests.status) = 'pending'
          AND requests.agent_id = r_agent[at] AND coalesce(now_expires_ms, expires_ms) > r_created[at]
      ) THEN 'too-many-open'
      WHEN at = ANY (moved) THEN 'meters-moved'
      ELSE 'stored'
    END ORDER BY at),
    -- In one look with the comparison: who has stored the key since is met by the index.
    array_agg(CASE WHEN r_key[at] IS NOT NULL THEN coalesce((
      SELECT max(idempotency_turn) + 1 FROM requests WHERE requests.agent_id = r_agent[at] AND idempotency_key = r_key[at]), 0)
    END ORDER BY at)
  INTO results, turns
  FROM generate_series(1, cardinality(r_id)) AS at;
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
      idempotency_key, idempotency_digest, idempotency_until_ms, record_json, seal, slot, lane, idempotency_turn)
    SELECT numbers[at], follows[at], hashes[at], r_id[at], r_agent[at], r_action[at], r_outcome[at], r_status[at],
      r_created[at], r_decided[at], r_expires[at], r_key[at], r_digest[at], r_until[at], r_record[at], r_seal[at], p_slot,
      coalesce(p_slot + 1, 0), turns[at]
    FROM generate_series(1, cardinality(r_id)) AS at
    WHERE numbers[at] IS NOT NULL
    ORDER BY CASE WHEN r_key[at] IS NOT NULL THEN r_agent[at] COLLATE "C" END, r_key[at] COLLATE "C", at;
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
