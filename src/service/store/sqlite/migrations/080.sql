-- What a grant rests on, as numbers that a write can compare: one version for an agent with its keys, and one generation
-- for each kind of document, which grows with every change of such a document that is on record.

ALTER TABLE agents ADD COLUMN version INTEGER NOT NULL DEFAULT 1;

CREATE TABLE document_kinds (
  kind TEXT PRIMARY KEY,
  generation INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
