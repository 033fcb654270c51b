// function = definition: random policy sets and requests, decided by the compiled function and by the definition.
// A difference is reported with the seed, the policy text and the request, ready to become a golden case.

import { hasErrors } from '../../src/diagnostic/diagnostic.ts';
import { renderDiagnostics } from '../../src/diagnostic/render.ts';
import type { Decision } from '../../src/model/decision.ts';
import type { PolicySet } from '../../src/model/policy.ts';
import type { Facts } from '../../src/model/request.ts';
import { compile } from '../../src/pipeline.ts';
import { createRandom } from '../../src/prove/random.ts';
import { authorize } from '../../src/spec/authorize.ts';
import { type RandomSet, randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

export interface Finding {
  readonly seed: number;
  readonly problem: string;
  readonly policies: string;
  readonly facts: Facts | null;
}

export interface Tally {
  readonly pairs: number;
  readonly outcomes: Readonly<Record<string, number>>;
  /** The first few. */
  readonly findings: readonly Finding[];
}

const requestsPerSet = 40;
const findingsMax = 5;

/** Tries at least `pairs` pairs, from `seed` on; stops after a few findings. */
export function compareReadings(pairs: number, seed: number): Tally {
  const outcomes: Record<string, number> = {};
  const findings: Finding[] = [];
  let done = 0;
  for (let setSeed = seed; done < pairs && findings.length < findingsMax; setSeed++) {
    const random = createRandom(setSeed);
    const generated = randomSet(random);
    const { set, engine, problem } = compileSet(generated);
    if (set === null || engine === null) {
      findings.push({ seed: setSeed, problem, policies: generated.text, facts: null });
      continue;
    }
    const ruleIds = ruleIdsOf(set);
    for (let i = 0; i < requestsPerSet; i++, done++) {
      const facts = randomFacts(random, generated, ruleIds);
      const [fast, defined] = [engine.decide(facts), authorize(set, facts)];
      outcomes[defined.outcome] = (outcomes[defined.outcome] ?? 0) + 1;
      const difference = firstDifference(fast, defined);
      if (difference === null) continue;
      findings.push({ seed: setSeed, problem: difference, policies: generated.text, facts });
      break;
    }
  }
  return { pairs: done, outcomes, findings };
}

export function compileSet(generated: RandomSet) {
  const file = { path: 'random.policy', text: generated.text };
  const compiled = compile({
    files: [file],
    readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
  });
  const errors = compiled.diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
  return { ...compiled, problem: renderDiagnostics(errors, () => file.text, { color: false }) };
}

export function firstDifference(fast: Decision, defined: Decision): string | null {
  for (const key of Object.keys(defined) as (keyof Decision)[]) {
    const [a, b] = [JSON.stringify(fast[key]), JSON.stringify(defined[key])];
    if (a !== b) return `${key}: the function says ${a}, the definition ${b}`;
  }
  return null;
}

/** Rules of a set, for tests that draw from them. */
export function ruleIdsOf(set: PolicySet): readonly string[] {
  return set.policies.flatMap(({ rules }) => rules.map(({ id }) => id));
}
