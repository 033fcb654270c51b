// How many rules the index names for the requests of `wild`.

import { plan } from '../src/program/plan.ts';
import { createIndex, select } from '../src/program/select.ts';
import { policySet } from './policy-model.ts';
import type { Results } from './targets.ts';
import { createWorkload } from './workloads.ts';

export function measureTried(policies: number): Results['tried'] {
  const workload = createWorkload('wild', policies);
  const program = plan(policySet(workload));
  const { rules } = program.actions.get('payment.create')!;
  const index = createIndex(rules, program.lists);
  const found = new Int32Array(rules.length);
  const counts = workload.requests.map(({ payload, tier }) => {
    const values = index.subjects.map(({ term }) => {
      if (term.kind === 'fact') return tier;
      return term.kind === 'read' ? payload[term.read.steps[0] as keyof typeof payload] : undefined;
    });
    return select(index, values, found);
  });
  const sorted = counts.toSorted((a, b) => a - b);
  return { policies, p99: sorted[Math.floor(sorted.length * 0.99)]! };
}
