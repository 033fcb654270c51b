// Turns times that people give to a command into milliseconds since 1970-01-01T00:00Z.

import { UsageError } from '../output/output.ts';

const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** Reads a date or a time; a date stands for its first moment in UTC. Throws a UsageError for other text. */
export function readMoment(text: string): number {
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(ms))
    throw new UsageError(`\`${text}\` is not a date (2026-03-01) or time (2026-03-01T10:00:00Z)`);
  return ms;
}

const agoForm = /^([1-9]\d{0,4})([hdw])$/;
const unitMs = { h: 60 * 60 * 1000, d: 24 * 60 * 60 * 1000, w: 7 * 24 * 60 * 60 * 1000 } as const;

/** Reads a time before `nowMs` such as `90d`, or a date or time. Throws a UsageError for other text. */
export function readSince(text: string, nowMs: number): number {
  const [, count, unit] = agoForm.exec(text) ?? [];
  if (count !== undefined) return nowMs - Number(count) * unitMs[unit as keyof typeof unitMs];
  if (timeForm.test(text)) return readMoment(text);
  throw new UsageError(
    `--since must be a duration (90d, 12h, 2w), a date (2026-03-01) or a time (2026-03-01T10:00:00Z), not \`${text}\``,
  );
}
