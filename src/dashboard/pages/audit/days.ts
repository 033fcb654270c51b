// Converts days in the reader's time zone to moments for the service.

/**
 * The beginning of a day written `2026-03-02`, plus `plusDays`, in RFC 3339; undefined when the text is not a
 * day.
 */
export function startOfDay(day: string | null, plusDays = 0): string | undefined {
  const [, year, month, date] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(day ?? '') ?? [];
  if (year === undefined) return undefined;
  const start = new Date(Number(year), Number(month) - 1, Number(date) + plusDays);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}
