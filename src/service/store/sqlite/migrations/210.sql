-- A request changes fewer pages: its entries of meters lie together, and the nonces of one commit are one row.

ALTER TABLE meter_entries RENAME TO meter_entries_before;

CREATE TABLE meter_entries (
  definition TEXT NOT NULL,
  request_id TEXT NOT NULL,
  meter_key TEXT NOT NULL,
  granted_ms INTEGER,
  is_certain INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (request_id, definition)
) STRICT, WITHOUT ROWID;

INSERT INTO meter_entries SELECT * FROM meter_entries_before ORDER BY request_id;

DROP TABLE meter_entries_before;

CREATE INDEX meter_entries_by_time ON meter_entries (definition, granted_ms, request_id);

-- `uses_json` has an array for each nonce: the nonce, when it was used, and until when it is kept; `kept_until_ms` is the
-- latest of these.
CREATE TABLE nonce_batches (
  id INTEGER PRIMARY KEY,
  kept_until_ms INTEGER NOT NULL,
  uses_json TEXT NOT NULL
) STRICT;

INSERT INTO nonce_batches (kept_until_ms, uses_json)
SELECT kept_until_ms, json_array(json_array(nonce, used_ms, kept_until_ms)) FROM nonces ORDER BY kept_until_ms;

DROP TABLE nonces;

CREATE VIEW nonces AS
SELECT value ->> '$[2]' AS kept_until_ms, value ->> '$[1]' AS used_ms, value ->> '$[0]' AS nonce
FROM nonce_batches, json_each(uses_json);
