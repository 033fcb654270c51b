// A store is opened at the time when it was kept: the clock of this process and that of a database can be set
// ahead or back.

const ownNow = Date.now;

/** Sets the clock of this process, as `Date.now` tells it; 0 sets it right. */
export function setClockAhead(aheadMs: number): void {
  Date.now = aheadMs === 0 ? ownNow : () => ownNow() + aheadMs;
}

/**
 * Statements that set the clock of the sessions that begin from now on in the database: what stands in the
 * first schema of the path comes before the server's own function.
 */
export function databaseClock(database: string, aheadMs: number): string {
  return `CREATE OR REPLACE FUNCTION public.clock_timestamp() RETURNS timestamptz LANGUAGE sql
      AS 'SELECT pg_catalog.clock_timestamp() + ${aheadMs} * interval ''1 ms''';
    ALTER DATABASE ${database} SET search_path = public, pg_catalog`;
}
