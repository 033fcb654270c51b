-- Nothing asks for requests by their time any more.

DROP INDEX requests_by_time;

-- Made after `requests_due`: of indices that look the same while a table is empty the planner takes the one made last, and a
-- batch is planned once.

DROP INDEX requests_open;
CREATE INDEX requests_open ON requests (agent_id, coalesce(now_expires_ms, expires_ms))
  WHERE coalesce(now_status, status) = 'pending';
