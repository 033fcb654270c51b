// Counts the rules that the index selects for the requests of the workload `wild`.

import { link } from '../src/language/emit/link.ts';
import { percentile } from '../src/measure/figure.ts';
import { programOf } from './from-model.ts';
import { toFacts } from './policy-text.ts';
import { createWorkload } from './workloads.ts';

export interface TriedFigures {
  readonly policies: number;
  /** The most rules that are tried for 99 of 100 requests. */
  readonly p99: number;
}

export function measureTried(policies: number): TriedFigures {
  const workload = createWorkload('wild', policies);
  const engine = link(programOf(workload));
  const counts = workload.requests.map((request) => engine.tried(toFacts(request)).length);
  return {
    policies,
    p99: percentile(
      counts.toSorted((a, b) => a - b),
      0.99,
    ),
  };
}
