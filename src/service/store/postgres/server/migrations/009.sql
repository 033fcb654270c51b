-- Requests and their events carry a seal each, made with the master key by the process that stores them.

ALTER TABLE requests ADD COLUMN seal text NOT NULL DEFAULT '';
ALTER TABLE request_events ADD COLUMN seal text NOT NULL DEFAULT '';

DROP FUNCTION IF EXISTS writ_append;
