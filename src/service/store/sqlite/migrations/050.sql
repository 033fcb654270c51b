-- What requests came to, by minutes and, when these are older, by hours; how often each rule took part; and how far both
-- go: all records before `through_ms` are in, and those numbered up to `after_sequence` are all from before it.

CREATE TABLE statistics (
  at_ms INTEGER NOT NULL,
  span_ms INTEGER NOT NULL,
  cell_json TEXT NOT NULL,
  PRIMARY KEY (at_ms, span_ms)
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_hits (
  rule TEXT PRIMARY KEY,
  decided INTEGER NOT NULL,
  met INTEGER NOT NULL,
  last_ms INTEGER
) STRICT, WITHOUT ROWID;

CREATE TABLE shadow_changes (
  rule TEXT NOT NULL,
  from_outcome TEXT NOT NULL,
  to_outcome TEXT NOT NULL,
  count INTEGER NOT NULL,
  PRIMARY KEY (rule, from_outcome, to_outcome)
) STRICT, WITHOUT ROWID;

CREATE TABLE statistics_mark (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  through_ms INTEGER NOT NULL,
  after_sequence INTEGER NOT NULL,
  since_ms INTEGER NOT NULL
) STRICT;
