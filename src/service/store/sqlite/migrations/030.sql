-- Agents by the time at which they were registered, for lists by pages.

CREATE INDEX agents_by_time ON agents (created_ms, id);
