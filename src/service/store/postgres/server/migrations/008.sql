-- Ids of requests are UUIDs: 16 bytes in rows and indices in place of 37.

ALTER TABLE requests ALTER COLUMN id TYPE uuid USING id::uuid;
ALTER TABLE request_events ALTER COLUMN request_id TYPE uuid USING request_id::uuid;
ALTER TABLE meter_entries ALTER COLUMN request_id TYPE uuid USING request_id::uuid;

-- `requests_due` was made anew: this one is to be later.
DROP INDEX requests_open;
CREATE INDEX requests_open ON requests (agent_id, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) = 'pending';

DROP FUNCTION IF EXISTS writ_append;
