-- The hash tree over the records, in tiles of 256 hashes. `hashes` is base64; `runs_json` has the numbers of the records of a
-- tile of level 0. Not sealed: `writ audit verify` compares the tree with the records and with its signed checkpoints.

CREATE TABLE tree_tiles (
  level INTEGER NOT NULL,
  position INTEGER NOT NULL,
  hashes TEXT NOT NULL,
  runs_json TEXT NOT NULL,
  first_sequence INTEGER,
  PRIMARY KEY (level, position)
) STRICT, WITHOUT ROWID;

CREATE INDEX tree_tiles_by_sequence ON tree_tiles (first_sequence) WHERE level = 0;
