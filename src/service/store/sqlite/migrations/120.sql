-- Whether refusals of an agent say what would pass.

ALTER TABLE agents ADD COLUMN tells_change INTEGER NOT NULL DEFAULT 0 CHECK (tells_change IN (0, 1));
