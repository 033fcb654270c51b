-- What requests that were granted, or are pending, add to meters; and since when every request has entered a meter.
-- `granted_ms` is null while the request is pending; `value` is an amount, or a text, null where it was not known.
-- `is_whole`: what was pending when the meter was new has entered it too.

CREATE TABLE meter_entries (
  definition TEXT NOT NULL,
  request_id TEXT NOT NULL,
  meter_key TEXT NOT NULL,
  granted_ms INTEGER,
  is_certain INTEGER NOT NULL,
  value TEXT,
  PRIMARY KEY (definition, request_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX meter_entries_by_time ON meter_entries (definition, granted_ms, request_id);

CREATE INDEX meter_entries_by_request ON meter_entries (request_id);

CREATE TABLE meters (
  definition TEXT PRIMARY KEY,
  since_ms INTEGER NOT NULL,
  is_whole INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
