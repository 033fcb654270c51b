// A policy that checks never fails at run time: random sets decide requests without any restriction.

import type { Facts } from '../../src/language/model/request.ts';
import { authorize } from '../../src/language/spec/authorize.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { anyFacts } from './any-facts.ts';
import type { Case } from './cases.ts';
import { compileSet, differenceOn, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';

export interface AnyRequests {
  readonly requests: number;
  /** How many requests reached a rule. */
  readonly judged: number;
  readonly findings: readonly (Case & { readonly seed: number; readonly facts: Facts })[];
}

const requestsPerSet = 20;

export function tryAnyRequests(sets: number, seed: number): AnyRequests {
  const findings: AnyRequests['findings'][number][] = [];
  let judged = 0;
  for (let setSeed = seed; setSeed < seed + sets; setSeed++) {
    const random = createRandom(setSeed);
    const generated = randomSet(random);
    const compiled = compileSet(generated);
    const { set } = compiled;
    if (set === null) throw new Error(`the random set of seed ${setSeed} does not compile`);
    const ruleIds = ruleIdsOf(set);
    for (let i = 0; i < requestsPerSet; i++) {
      const facts = anyFacts(random, set, ruleIds);
      const problem = differenceOn(compiled, facts);
      if (problem !== null)
        findings.push({ files: generated.files, lists: generated.lists, seed: setSeed, problem, facts });
      else if (authorize(set, facts).by !== 'invalid_payload') judged++;
    }
  }
  return { requests: sets * requestsPerSet, judged, findings };
}
