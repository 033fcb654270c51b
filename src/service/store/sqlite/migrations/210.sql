-- The entries of a request lie together, so a request changes fewer pages.

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
