-- Snapshots of meters: the granted entries of a stretch of time in one text, from which a start reads them. `tags_sum` adds up
-- the seals of these entries. A change of an entry deletes the snapshot that holds it, in the same transaction.

CREATE TABLE meter_snapshots (
  definition TEXT NOT NULL,
  from_ms INTEGER NOT NULL,
  until_ms INTEGER NOT NULL,
  entry_count INTEGER NOT NULL,
  entries_json TEXT NOT NULL,
  tags_sum TEXT NOT NULL,
  PRIMARY KEY (definition, until_ms)
) STRICT;
