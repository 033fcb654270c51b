-- Requests as people list them, the latest first: all by their numbers, and by agent and by how they stand. Nearly all
-- stand as granted at once, and those are found among all.

CREATE INDEX requests_by_agent ON requests (agent_id);

CREATE INDEX requests_by_status ON requests (coalesce(now_status, status))
  WHERE coalesce(now_status, status) <> 'auto_approved';
