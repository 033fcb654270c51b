-- What an agent may come back for: its requests that wait or are approved, and grants by who has taken them.

CREATE INDEX requests_held ON requests (agent_id, action_key, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) IN ('pending', 'approved');

CREATE INDEX request_events_taken ON request_events (detail_json ->> '$.taker') WHERE what = 'taken';
