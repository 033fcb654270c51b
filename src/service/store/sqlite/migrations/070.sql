-- What an agent may send, where it is not what all may; null where it is.

ALTER TABLE agents ADD COLUMN rate_per_minute INTEGER CHECK (rate_per_minute > 0);
ALTER TABLE agents ADD COLUMN burst INTEGER CHECK (burst > 0);
