-- The hash tree over the records, in tiles of 256 hashes. `hashes` is base64; `runs_json` has the numbers of the records of a
-- tile of level 0.

CREATE TABLE tree_tiles (
  level int4 NOT NULL,
  position int8 NOT NULL,
  hashes text NOT NULL,
  runs_json text NOT NULL,
  first_sequence int8,
  PRIMARY KEY (level, position)
);

CREATE INDEX tree_tiles_by_sequence ON tree_tiles (first_sequence) WHERE level = 0;
