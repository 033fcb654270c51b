// Measures the worst cases of single conditions (`worst-cases.ts`): each has a policy, and payloads that
// grow. The cost of a decision may grow with the payload, and hardly faster.

import { link } from '../src/language/emit/link.ts';
import type { JsonObject } from '../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../src/language/model/request.ts';
import { growthExponent } from '../src/measure/figure.ts';
import { compile } from '../src/pipeline.ts';
import { type WorstCase, worstCases } from './worst-cases.ts';

export interface WorstFigures {
  readonly name: string;
  readonly points: readonly WorstPoint[];
  /**
   * The exponent of growth over the larger half of the sizes: at small sizes other costs are most of what is
   * measured.
   */
  readonly exponent: number;
}

export interface WorstPoint {
  /** Bytes of the payload as JSON. */
  readonly bytes: number;
  /**
   * Nanoseconds of a round's fastest decision, which other work has disturbed least: the smallest of all
   * rounds (`min`) and the largest (`max`).
   */
  readonly min: number;
  readonly max: number;
}

const bytesMin = 2_000;
/** The most bytes of a body that the service takes. */
const bytesMax = 256 * 1024;
const sizesTried = 40;
const requestsPerRound = 5;

export function measureWorst(rounds: number): readonly WorstFigures[] {
  return worstCases.map((one) => measureCase(one, rounds));
}

function measureCase(one: WorstCase, rounds: number): WorstFigures {
  const { program, diagnostics } = compile({
    files: [{ path: 'a.policy', text: one.policy }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  });
  if (program === null) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw new Error(`${one.name}: ${first?.message}`);
  }
  const engine = link(program);
  const sizes = growing(one);
  const times = sizes.map((): number[] => []);
  for (let round = -1; round < rounds; round += 1) {
    for (const [at, { size }] of sizes.entries()) {
      const requests = Array.from({ length: requestsPerRound }, (_, more) =>
        freshRequest(one, size + (round + 1) * requestsPerRound + more),
      );
      const took = requests.map((request) => timeOnce(() => engine.decide(request)));
      if (round >= 0) times[at]!.push(Math.min(...took));
    }
  }
  const points = sizes.map(({ bytes }, at): WorstPoint => {
    return { bytes, min: Math.min(...times[at]!), max: Math.max(...times[at]!) };
  });
  const larger = points.slice(Math.floor((points.length - 1) / 2));
  return { name: one.name, points, exponent: growthExponent(larger.map(({ bytes, min }) => [bytes, min])) };
}

/** Returns sizes at which payloads about double, up to the largest that the service takes. */
function growing({ payloadOf }: WorstCase): readonly { readonly size: number; readonly bytes: number }[] {
  const sizes: { readonly size: number; readonly bytes: number }[] = [];
  for (let size = 1, tried = 0; tried < sizesTried; tried += 1, size *= 2) {
    const bytes = Buffer.byteLength(JSON.stringify(payloadOf(size)));
    if (bytes > bytesMax) break;
    if (bytes >= bytesMin) sizes.push({ size, bytes });
  }
  return sizes;
}

/**
 * Makes a request of a size that no other request has, so that nothing kept from one decision helps the next.
 * The payload is parsed from JSON, like one from the network.
 */
function freshRequest({ action, payloadOf }: WorstCase, size: number): Facts {
  return { ...facts, action, payload: JSON.parse(JSON.stringify(payloadOf(size))) as JsonObject };
}

/** Runs `run` and returns the nanoseconds that it took. */
function timeOnce(run: () => unknown): number {
  const started = performance.now();
  run();
  return (performance.now() - started) * 1e6;
}

const facts: Omit<Facts, 'action' | 'payload'> = {
  agent: { id: 'agt-1', name: 'buyer', risk_tier: 'low', control_owner: 'ops@example.com', tags: [] },
  request: { ip: '10.0.0.7', signed: false, session: 's-1' },
  nowMs: Date.UTC(2026, 2, 2, 15),
  meters: {},
  satisfied: nothingSatisfied,
};
