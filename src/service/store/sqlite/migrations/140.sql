-- What was granted is shown, taken and proved only as the service wrote it. Requests and their events carry a seal each, made
-- with the master key; and while a request may still be granted, a sealed row says how many events it has, so that none of
-- them can be left out. `until_ms`: from then on nothing can be granted, whichever of its events are looked at. `swept_ms`: up
-- to then requests have lost their row.

ALTER TABLE requests ADD COLUMN seal TEXT NOT NULL DEFAULT '';
ALTER TABLE request_events ADD COLUMN seal TEXT NOT NULL DEFAULT '';

CREATE TABLE request_heads (
  request_id TEXT PRIMARY KEY,
  event_count INTEGER NOT NULL,
  until_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX request_heads_by_end ON request_heads (until_ms);

CREATE TABLE heads_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  swept_ms INTEGER NOT NULL
) STRICT;

INSERT INTO heads_mark VALUES (1, 0);
