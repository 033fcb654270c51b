// Days of the reader's own zone into the moments that the service asks for.

/** The beginning of a day written `2026-03-02`, `plusDays` later, in RFC 3339; undefined where it is no day. */
export function startOfDay(day: string | null, plusDays = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + plusDays);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
