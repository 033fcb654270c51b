// The law of possibilities, over random sets: the generated function and the definition give the same
// possibility for each action and agent, and no request of the agent gets more than that possibility.

import type { Possibility } from '../../src/language/model/possibility.ts';
import { type Facts, nothingSatisfied } from '../../src/language/model/request.ts';
import { possibility } from '../../src/language/spec/possibility.ts';
import { createRandom } from '../../src/language/value/random.ts';
import type { CaseFiles } from './cases.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

interface Breach {
  readonly seed: number;
  readonly problem: string;
  readonly files: CaseFiles['files'];
  readonly facts: Facts;
}

interface Run {
  readonly requests: number;
  /** How often each possibility was given. */
  readonly said: Readonly<Record<Possibility, number>>;
  /** Requests that were not denied, by the possibility of their action. */
  readonly passed: Readonly<Record<Possibility, number>>;
  readonly breaches: readonly Breach[];
}

/** The request without its chain: an agent learns what it can get when it asks by itself. */
function byAgentItself(facts: Facts): Facts {
  const { chain: _, ...request } = facts.request;
  return { ...facts, request };
}

/** Tries at least `requests` requests, from `seed` on, with `perSet` requests per set. */
export function possibilityHolds(requests: number, seed: number, perSet = 400): Run {
  const said = { never: 0, after_approval: 0, possible: 0 };
  const passed = { never: 0, after_approval: 0, possible: 0 };
  const breaches: Breach[] = [];
  let done = 0;
  for (let at = seed; done < requests && breaches.length < 3; at += 1) {
    const random = createRandom(at);
    const generated = randomSet(random);
    const { set, engine } = compileSet(generated);
    if (set === null || engine === null) throw new Error(`the set of seed ${at} does not compile`);
    const ruleIds = ruleIdsOf(set);
    for (let i = 0; i < perSet; i += 1, done += 1) {
      const facts = byAgentItself(randomFacts(random, generated, ruleIds));
      const told = (breach: string) => breaches.push({ seed: at, problem: breach, ...generated, facts });
      const defined = possibility(set, facts.action, facts.agent);
      const compiled = engine.possibility(facts.action, facts.agent);
      if (defined !== compiled) told(`the function says ${compiled}, the definition ${defined}`);
      if (defined === null) continue;
      said[defined] += 1;
      const { outcome } = engine.decide({ ...facts, satisfied: nothingSatisfied });
      if (outcome !== 'DENY') passed[defined] += 1;
      // Approvals and step-ups open what asks for them, and never what is `never` possible.
      const approved = engine.decide({ ...facts, satisfied: { escalate: ruleIds, reauth: ruleIds } }).outcome;
      if (defined === 'never' && approved !== 'DENY')
        told('a request of what is never possible is not denied');
      if (defined === 'after_approval' && outcome === 'ALLOW')
        told('a request of what asks people is allowed');
    }
  }
  return { requests: done, said, passed, breaches };
}
