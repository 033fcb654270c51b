// Writes a moment in milliseconds since 1970 as a time of ISO 8601 in UTC, such as `2026-03-02T10:00:00.000Z`.

export function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}

export function isoTimeOrNull(ms: number | null): string | null {
  return ms === null ? null : isoTime(ms);
}
