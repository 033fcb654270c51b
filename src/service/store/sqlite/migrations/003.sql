-- What becomes of a request after it was recorded: each change is a record of its own at the end of the chain, and the
-- row of the request keeps a copy of the latest, by which queries find it. Both are null until something has changed.

CREATE TABLE request_events (
  sequence INTEGER PRIMARY KEY,
  request_id TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  status TEXT NOT NULL,
  decided_ms INTEGER,
  expires_ms INTEGER NOT NULL,
  detail_json TEXT,
  hash TEXT NOT NULL
) STRICT;

CREATE INDEX request_events_by_request ON request_events (request_id, sequence);

ALTER TABLE requests ADD COLUMN now_status TEXT;
ALTER TABLE requests ADD COLUMN now_decided_ms INTEGER;
ALTER TABLE requests ADD COLUMN now_expires_ms INTEGER;

DROP INDEX requests_open;

CREATE INDEX requests_open ON requests (agent_id, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) = 'pending';

CREATE INDEX requests_due ON requests (coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) = 'pending';
