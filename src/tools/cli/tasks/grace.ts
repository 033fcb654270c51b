// How long an old key stays good, as people write it.

import { UsageError } from '../output/output.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** In milliseconds. */
export function readGrace(text: string): number {
  if (text === 'now') return 0;
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`\`${text}\` is not \`now\` or a time such as 30m, 24h or 7d`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
