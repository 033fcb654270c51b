// The bound on requests that would be stopped, on random parts of real logs. In each round, half of a log is
// given to infer from, and the true share is that among all requests that had no part in the policies: those
// that were held out and those of the other half. `npm run infer` runs 100 rounds of each log.

import { describe, expect, it } from 'vitest';
import { evaluate } from '../../../src/analysis/infer/evaluate.ts';
import { infer } from '../../../src/analysis/infer/infer.ts';
import { type Decide, deciderOf, type Sample } from '../../../src/analysis/infer/sample.ts';
import { createRandom } from '../../../src/language/value/random.ts';
import { agentDynLog, optionsAlone, retailLog } from './logs.ts';

const rounds = Number(process.env.WRIT_INFER_SPLITS ?? 4);
/** All actions only in the long run, because most of the time is spent on compiling them. */
const patterns =
  rounds >= 100
    ? []
    : [
        'shopping.send_email',
        'shopping.cart_add_product',
        'shopping.get_invoice',
        'shopping.read_file',
        'retail.*',
      ];

interface Coverage {
  /** Rounds in which the bound of all actions together held, of all rounds. */
  readonly total: number;
  /** The share of bounds of single actions that held. */
  readonly single: number;
  readonly bounds: number;
}

function coverageOf(log: readonly Sample[], keys: readonly string[]): Coverage {
  let [total, held, bounds] = [0, 0, 0];
  for (let round = 1; round <= rounds; round += 1) {
    const result = oneRound(log, keys, round);
    total += result.isTotalHeld ? 1 : 0;
    held += result.held;
    bounds += result.bounds;
  }
  return { total, single: held / bounds, bounds };
}

function oneRound(log: readonly Sample[], keys: readonly string[], round: number) {
  const random = createRandom(round * 7_919);
  const isGiven = log.map(() => random.chance(0.5));
  const given = log.filter((_, at) => isGiven[at]);
  const others = log.filter((_, at) => !isGiven[at]);
  const options = { ...optionsAlone, patterns: keys, split: { ...optionsAlone.split, seed: round } };
  const { actions, combined } = infer(given, options);
  const now = deciderOf(combined.set);
  const inferred = actions.filter(({ problem }) => problem === null);
  const evaluation = evaluate({ actions: inferred, now, before: null, isDeclared: () => false });
  const counts = inferred.map(({ key }) => {
    const { heldOut, refused, asks, atMost } = evaluation.byAction.get(key)!;
    const own = others.filter(({ facts }) => facts.action === key);
    const stopped = refused + asks + own.filter((one) => isStopped(now, one)).length;
    return { stopped, of: heldOut + own.length, atMost };
  });
  const [stopped, of] = [
    counts.reduce((sum, one) => sum + one.stopped, 0),
    counts.reduce((sum, one) => sum + one.of, 0),
  ];
  return {
    isTotalHeld: stopped / of <= evaluation.total.atMost,
    held: counts.filter((one) => one.stopped / one.of <= one.atMost).length,
    bounds: counts.length,
  };
}

function isStopped(now: Decide, sample: Sample): boolean {
  return now(sample).outcome !== 'ALLOW';
}

describe('the bound on requests that would be stopped', () => {
  it.each([
    ['recorded runs of AgentDyn', agentDynLog(), patterns.filter((one) => one.startsWith('shopping'))],
    ['a retail assistant', retailLog(11, 6_000), patterns.filter((one) => one.startsWith('retail'))],
  ])(
    'holds in 95 % of random splits of %s',
    (_name, log, keys) => {
      const { total, single, bounds } = coverageOf(log, keys);
      expect(total).toBeGreaterThanOrEqual(Math.floor(0.95 * rounds));
      expect(single).toBeGreaterThanOrEqual(0.95);
      expect(bounds).toBeGreaterThanOrEqual(4 * rounds);
    },
    1_200_000,
  );
});
