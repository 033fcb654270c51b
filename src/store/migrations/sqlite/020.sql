-- Requests as people list them: by time, by agent, and by how they stand. Nearly all stand as granted at once, and those
-- are found by time.

CREATE INDEX requests_by_time ON requests (created_ms, id);

CREATE INDEX requests_by_agent ON requests (agent_id, created_ms, id);

CREATE INDEX requests_by_status ON requests (coalesce(now_status, status), created_ms, id)
  WHERE coalesce(now_status, status) <> 'auto_approved';
