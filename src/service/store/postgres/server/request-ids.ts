// Ids of requests as PostgreSQL holds them: UUIDs. INVARIANT: a text that is no request id, or another
// spelling of one, finds no request, as in a store that holds ids as texts.

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns the id; null, which equals no id, when no request can have it. */
export function requestIdOrNull(id: string): string | null {
  return form.test(id) ? id : null;
}

/** Returns the least id that begins with these eight digits. */
export function firstOfIds(start: string): string {
  return `${start}-0000-0000-0000-000000000000`;
}

export function lastOfIds(start: string): string {
  return `${start}-ffff-ffff-ffff-ffffffffffff`;
}
