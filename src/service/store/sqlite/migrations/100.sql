-- What is stored, sealed with the master key: a sum over the rows of each table that is no part of the chain, and the
-- last record. Rows by which the service decides have a tag each, so that one that was changed can be named.

CREATE TABLE row_seals (
  table_name TEXT NOT NULL,
  row_key TEXT NOT NULL,
  tag TEXT NOT NULL,
  PRIMARY KEY (table_name, row_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE state_seal (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sequence INTEGER NOT NULL,
  hash TEXT NOT NULL,
  sums_json TEXT NOT NULL,
  mac TEXT NOT NULL
) STRICT;
