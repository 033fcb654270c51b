// Measures a whole request in process: its body is parsed, its payload checked, and the request decided and
// traced. Each body is parsed every time, so that no text has been seen before. The time of parsing alone is
// measured beside the rest and subtracted.

import type { JsonObject } from '../src/language/model/json.ts';
import type { Facts } from '../src/language/model/request.ts';
import { rotate, timeCalls } from '../src/measure/clock.ts';
import type { Figure } from '../src/measure/figure.ts';
import { toFacts } from './policy-text.ts';
import { createWorkload } from './workloads.ts';
import { engineOf } from './writ.ts';

export interface RequestFigures {
  /** Time of `JSON.parse` of the body alone. */
  readonly parse: Figure;
  /** Time of the payload check and the decision, without parsing. */
  readonly decide: Figure;
  /** Time of the payload check, the decision and the trace, without parsing. */
  readonly trace: Figure;
}

export async function measureRequest(policies: number, rounds: number): Promise<RequestFigures> {
  const workload = createWorkload('actions', policies);
  const engine = await engineOf(workload);
  const requests = workload.requests.map((request) => {
    const { action, payload } = request;
    return { facts: toFacts(request), body: JSON.stringify({ action_key: action, payload }) };
  });
  const each = (use: (facts: Facts) => unknown) => () =>
    timeCalls(() => {
      for (const { facts, body } of requests) {
        const { payload } = JSON.parse(body) as { readonly payload: JsonObject };
        use({ ...facts, payload });
      }
    }, requests.length);
  const { parse, decide, trace } = rotate(
    {
      parse: each((facts) => facts),
      decide: each((facts) => engine.decide(facts)),
      trace: each((facts) => engine.decideTraced(facts)),
    },
    rounds,
  );
  return { parse, decide: without(decide, parse), trace: without(trace, parse) };
}

function without(all: Figure, part: Figure): Figure {
  return { median: all.median - part.median, min: all.min - part.median, max: all.max - part.median };
}
