// Measures what each promise of a request costs at the service: servers with one more promise each, under the
// same load, in turns.

import { figureOf } from '../../src/measure/figure.ts';
import type { PromiseStep } from './promises.ts';
import type { ServerKind } from './server.ts';
import { measureServers, type RoundsOptions, resultsOf } from './servers.ts';

const steps = [
  ['bare', 'HTTP: a bare Fastify route with schemas'],
  ['untraced', 'who asks and how often, the payload checked, the decision, the reply'],
  ['not-durable', "the trace of every rule, the record's text"],
  ['unindexed', 'record, chain and seal on disk before the reply'],
  ['full', 'the index for searches'],
  ['signed', 'the signature checked, its nonce noted'],
] as const satisfies readonly (readonly [ServerKind, string])[];

const connections = 32;

export interface ServedFigures {
  readonly steps: readonly PromiseStep[];
  /**
   * For each round the requests a second of the service, with all promises for unsigned requests, as a ratio
   * to the bare route.
   */
  readonly rateToBare: readonly number[];
  readonly requestsPerSecond: readonly number[];
}

export async function measureServed(
  options: Omit<RoundsOptions, 'connectionCounts'>,
): Promise<ServedFigures> {
  const kinds = steps.map(([kind]) => kind);
  const rows = await measureServers(kinds, { ...options, connectionCounts: [connections] });
  const rates = (kind: ServerKind) => resultsOf(rows, kind, connections).map((one) => one.requestsPerSecond);
  const bare = rates('bare');
  return {
    steps: steps.map(([kind, what]) => {
      const nanoseconds = resultsOf(rows, kind, connections).map((one) => one.processorPerRequest * 1_000);
      return { what, figure: figureOf(nanoseconds) };
    }),
    rateToBare: rates('full').map((rate, round) => rate / bare[round]!),
    requestsPerSecond: rates('full'),
  };
}
