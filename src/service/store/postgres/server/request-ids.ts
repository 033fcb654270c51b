// Ids of requests as PostgreSQL holds them: UUIDs. INVARIANT: what is no id of a request, or another spelling of one, is none
// here either, as in a store that holds texts.

const form = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Null, which equals no id, where no request can have such an id. */
export function requestIdOrNull(id: string): string | null {
  return form.test(id) ? id : null;
}

/** The first of the ids that begin with these eight digits. */
export function firstOfIds(start: string): string {
  return `${start}-0000-0000-0000-000000000000`;
}

export function lastOfIds(start: string): string {
  return `${start}-ffff-ffff-ffff-ffffffffffff`;
}

export const leastRequestId = firstOfIds('00000000');
