-- Snapshots of meters: the granted entries of a stretch of time in one text, from which a start reads them. A change of an
-- entry deletes the snapshot that holds it, in the same transaction.

CREATE TABLE meter_snapshots (
  definition text COLLATE "C" NOT NULL,
  from_ms int8 NOT NULL,
  until_ms int8 NOT NULL,
  entries_json text NOT NULL,
  PRIMARY KEY (definition, until_ms)
);

-- By the first and the last moment of what changes: most that changes together was granted at about the same time.
CREATE FUNCTION writ_forget_snapshots() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  meter record;
BEGIN
  FOR meter IN SELECT definition, min(granted_ms) AS first, max(granted_ms) AS last FROM changed GROUP BY definition LOOP
    DELETE FROM meter_snapshots
      WHERE definition = meter.definition AND until_ms > meter.first AND from_ms <= meter.last;
  END LOOP;
  RETURN NULL;
END $$;

CREATE TRIGGER snapshots_of_added AFTER INSERT ON meter_entries
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION writ_forget_snapshots();
CREATE TRIGGER snapshots_of_earlier AFTER UPDATE ON meter_entries
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION writ_forget_snapshots();
CREATE TRIGGER snapshots_of_later AFTER UPDATE ON meter_entries
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION writ_forget_snapshots();
CREATE TRIGGER snapshots_of_removed AFTER DELETE ON meter_entries
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION writ_forget_snapshots();
