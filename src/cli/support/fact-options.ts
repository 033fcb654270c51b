// The options by which commands take a request: its action, payload, and other facts. Without an action, the whole
// request is read from standard input.

import type { Command } from 'commander';
import type { Json, JsonObject } from '../../language/model/json.ts';
import { UsageError } from '../output/output.ts';
import { type GivenFacts, readFactValue, readRequestFile } from './read-facts.ts';

export interface FactOptions {
  readonly action?: string;
  readonly payload: string;
  readonly agent?: string;
  readonly request?: string;
  readonly meters?: string;
  readonly satisfied?: string;
  readonly now?: string;
  readonly unknown?: readonly string[];
}

/** Adds the options for everything but the action. */
export function withFactOptions(command: Command): Command {
  return command
    .option('--payload <json>', 'the payload: JSON, @file, or - for standard input', '{}')
    .option('--agent <json>', 'facts about the agent, as in the registry')
    .option('--request <json>', 'facts about the request: ip, signed, session')
    .option('--meters <json>', 'readings by meter name, each like 10, [10, 25] or "100 USD"')
    .option('--satisfied <json>', 'satisfied requirements: {"escalate": [...], "reauth": [...]}')
    .option('--now <time>', 'the time of the decision, with an offset (default: the current time)')
    .option('--unknown <path...>', 'facts to treat as unknown, such as agent.risk_tier');
}

/** Reads the facts as JSON, from the options or from standard input. */
export async function readGivenFacts(options: FactOptions): Promise<GivenFacts> {
  const whole = options.action === undefined ? await readWhole() : null;
  const parts = await Promise.all(
    (['agent', 'request', 'meters', 'satisfied'] as const).map(async (name) => {
      const text = options[name];
      return text === undefined ? [] : [[name, await readFactValue(text, `--${name}`)] as const];
    }),
  );
  const base: JsonObject = whole?.given ?? {
    action: options.action ?? '',
    payload: await readFactValue(options.payload, '--payload'),
  };
  const now = options.now ?? base.now ?? new Date().toISOString();
  const unknown = [
    ...(Array.isArray(base.unknown) ? (base.unknown as readonly Json[]) : []),
    ...(options.unknown ?? []),
  ];
  const given = { ...base, ...Object.fromEntries(parts.flat()), now };
  return {
    given: unknown.length > 0 ? { ...given, unknown } : given,
    isRecorded: whole?.isRecorded === true,
  };
}

async function readWhole(): Promise<GivenFacts> {
  if (process.stdin.isTTY) throw new UsageError('name an --action, or pipe a complete request as JSON');
  return readRequestFile('-', 'the request');
}
