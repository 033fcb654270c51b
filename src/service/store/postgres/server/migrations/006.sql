-- Other writes than batches are in turn, and alone only at their end.

DROP FUNCTION IF EXISTS writ_begin;
