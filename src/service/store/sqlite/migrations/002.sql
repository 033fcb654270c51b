-- One chain through requests, refusals and changes of management: they are numbered together, and each carries a hash
-- over the one before it and over itself. The rows that are here already are numbered in the order of their ids, which
-- rise with time; their hashes are filled in after this file.

ALTER TABLE requests ADD COLUMN hash TEXT NOT NULL DEFAULT '';
ALTER TABLE refusals ADD COLUMN hash TEXT NOT NULL DEFAULT '';

CREATE TABLE changes (
  sequence INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  who TEXT NOT NULL,
  what TEXT NOT NULL,
  subject TEXT NOT NULL,
  before_json TEXT,
  after_json TEXT,
  hash TEXT NOT NULL
) STRICT;

-- `end`: the chain had this record. `pruned`: all records up to this one were deleted, the chain goes on from here.
CREATE TABLE checkpoints (
  sequence INTEGER NOT NULL,
  hash TEXT NOT NULL,
  at_ms INTEGER NOT NULL,
  purpose TEXT NOT NULL CHECK (purpose IN ('end', 'pruned')),
  signature TEXT NOT NULL,
  PRIMARY KEY (purpose, sequence, at_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE nonces (
  kept_until_ms INTEGER NOT NULL,
  used_ms INTEGER NOT NULL,
  nonce TEXT NOT NULL
) STRICT;

CREATE INDEX nonces_by_end ON nonces (kept_until_ms);

CREATE TEMP TABLE numbers (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (kind, id)
) WITHOUT ROWID;

INSERT INTO numbers
SELECT kind, id, row_number() OVER (ORDER BY id, kind)
FROM (SELECT 'request' AS kind, id FROM requests UNION ALL SELECT 'refusal', id FROM refusals);

-- By way of negative numbers, since a new number may still be the old one of another row.
UPDATE requests SET sequence = -(SELECT sequence FROM numbers WHERE kind = 'request' AND id = requests.id);
UPDATE requests SET sequence = -sequence;
UPDATE refusals SET sequence = -(SELECT sequence FROM numbers WHERE kind = 'refusal' AND id = refusals.id);
UPDATE refusals SET sequence = -sequence;

DROP TABLE numbers;
