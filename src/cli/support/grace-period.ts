// The option for how long an old key stays valid once there is a new one.

import { type Command, Option } from 'commander';
import { defaultGraceMs } from '../../service/agents/registry.ts';
import { UsageError } from '../output/output.ts';

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

export interface GraceOptions {
  readonly grace?: number;
  readonly leaked?: boolean;
}

/** Adds the options `--grace` and `--leaked`. */
export function withGrace(command: Command): Command {
  return command
    .option(
      '--grace <time>',
      'how long the old key stays valid: 30m, 24h, 7d, or now (default: 24h)',
      readGrace,
    )
    .addOption(
      new Option('--leaked', 'someone else may know the old key: end it now, and every older one').conflicts(
        'grace',
      ),
    );
}

/** How long the old key stays valid, in milliseconds. */
export function graceMsOf({ grace = defaultGraceMs, leaked = false }: GraceOptions): number {
  return leaked ? 0 : grace;
}

/** Reads a time as milliseconds. Throws a UsageError for other text. */
function readGrace(text: string): number {
  if (text === 'now') return 0;
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`\`${text}\` is not \`now\` or a time such as 30m, 24h or 7d`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}
