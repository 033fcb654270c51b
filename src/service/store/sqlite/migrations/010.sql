-- What people set up, as small documents that a store does not look into.

CREATE TABLE documents (
  kind TEXT NOT NULL,
  id TEXT NOT NULL,
  version INTEGER NOT NULL,
  name TEXT COLLATE NOCASE,
  parent TEXT,
  created_ms INTEGER NOT NULL,
  ends_ms INTEGER,
  document_json TEXT NOT NULL,
  PRIMARY KEY (kind, id)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX documents_by_name ON documents (kind, name) WHERE name IS NOT NULL;

CREATE INDEX documents_by_time ON documents (kind, created_ms, id);

CREATE INDEX documents_by_parent ON documents (kind, parent, created_ms, id) WHERE parent IS NOT NULL;

CREATE INDEX documents_by_end ON documents (kind, ends_ms) WHERE ends_ms IS NOT NULL;
