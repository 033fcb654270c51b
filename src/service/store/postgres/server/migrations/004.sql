-- A lane of the chain for each process that serves: its records follow each other, and all lanes have one order by number.
-- Lane 0 is that of every other write, and of what was copied from a file; lane 1 that of slot 0, and so on.

DROP FUNCTION IF EXISTS writ_append;
DROP FUNCTION IF EXISTS writ_begin;

-- Numbers of batches that were rolled back are missing in the order, and in no lane.
CREATE SEQUENCE record_numbers MINVALUE 0;
SELECT setval('record_numbers', sequence) FROM chain_end;

-- `chain_end` is the end of lane 0 from here on. The end of a slot's lane is written with each batch, as the row is.
ALTER TABLE replicas
  ADD COLUMN lane_sequence int8 NOT NULL DEFAULT 0,
  ADD COLUMN lane_hash text COLLATE "C" NOT NULL DEFAULT repeat('0', 64);

-- `follows`: the record before in the lane; null in lane 0 where that is the one with the number before.
-- `idempotency_turn`: counts the requests for which an agent has used a key, so that no two processes use it at once.
ALTER TABLE requests
  ADD COLUMN lane int2 NOT NULL DEFAULT 0,
  ADD COLUMN follows int8,
  ADD COLUMN idempotency_turn int8;
DROP INDEX requests_by_idempotency_key;
CREATE UNIQUE INDEX requests_by_idempotency_key ON requests (agent_id, idempotency_key, idempotency_turn)
  WHERE idempotency_key IS NOT NULL;
ALTER TABLE refusals ADD COLUMN follows int8;
ALTER TABLE changes ADD COLUMN follows int8;
ALTER TABLE request_events ADD COLUMN follows int8;

-- A record of lane 0 that names the end of each other lane: `[[lane, sequence, hash], ...]`.
CREATE TABLE knots (
  sequence int8 PRIMARY KEY,
  at_ms int8 NOT NULL,
  ends_json text NOT NULL,
  hash text NOT NULL,
  follows int8
);

-- Where each lane stood there; null where there was none but lane 0.
ALTER TABLE checkpoints ADD COLUMN lanes_json text;

-- `written`: the transaction that has put the entry as it stands.
ALTER TABLE meter_entries ADD COLUMN written xid8 NOT NULL DEFAULT '0';
DROP INDEX meter_entries_by_key;
DROP INDEX meter_entries_by_version;
ALTER TABLE meter_entries DROP COLUMN version;
CREATE INDEX meter_entries_by_key ON meter_entries (definition, meter_key, written);
CREATE INDEX meter_entries_by_written ON meter_entries (written, request_id, definition);

-- Who decides on a meter holds its row: two batches that read or enter the same one are stored one after the other.
CREATE TABLE meter_locks (
  definition text COLLATE "C",
  meter_key text COLLATE "C",
  PRIMARY KEY (definition, meter_key)
);
