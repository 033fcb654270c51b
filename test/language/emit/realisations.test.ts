// However rules are turned into code, they decide alike: random sets and requests with missing facts, as one
// text per action, as shared texts, with an index and without.

import { describe, expect, it } from 'vitest';
import { createFunctionCache } from '../../../src/language/emit/cache.ts';
import { link, type Realisation } from '../../../src/language/emit/link.ts';
import { between, type Kleene, truths } from '../../../src/language/emit/runtime/quantity.ts';
import { createTracer, type Tracer } from '../../../src/language/emit/trace.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import {
  noTrace,
  type Trace,
  type TracedDecision,
  tracedRules,
  truthOf,
} from '../../../src/language/model/trace.ts';
import type { OpenProgram } from '../../../src/language/program/packed/unpack.ts';
import { resolveFacts } from '../../../src/language/spec/payload.ts';
import { createRandom } from '../../../src/language/value/random.ts';
import { compileSet, ruleIdsOf } from '../../laws/differential.ts';
import { randomSet } from '../../laws/policies.ts';
import { randomFacts } from '../../laws/requests.ts';
import { tries } from '../../support/tries.ts';

const realisations: readonly Realisation[] = ['by size', 'shared', 'indexed', 'without index'];
const setsTried = tries(15);
const requestsPerSet = 25;

/** By program, tracers that use no generated code except for reads of tables. */
const slowTracers = new WeakMap<OpenProgram, Map<string, Tracer>>();

function slowTracer(program: OpenProgram, action: string): Tracer {
  const tracers = slowTracers.get(program) ?? new Map<string, Tracer>();
  slowTracers.set(program, tracers);
  const session = createFunctionCache().begin(program);
  const tracer = tracers.get(action) ?? createTracer(program.open(action)!, null, { program, ...session });
  tracers.set(action, tracer);
  return tracer;
}

/** The same trace, computed without generated code. */
function tracedSlowly(program: OpenProgram, facts: Facts, { decision, trace }: TracedDecision): Trace {
  if (trace.form.rules.length === 0) return noTrace;
  const { low, high } = decision.risk;
  const results = Array.from(trace.truths, (letter) => truths.indexOf(truthOf(letter)) as Kleene);
  return slowTracer(program, facts.action).all(facts, { truths: results, risk: between(low, high)! });
}

describe('every realisation', () => {
  it('decides and traces alike', () => {
    // Kept over all sets, so that a template made for one set serves the others.
    const caches = realisations.map(() => createFunctionCache());
    let allowed = 0;
    for (let seed = 1; seed <= setsTried; seed += 1) {
      const random = createRandom(seed);
      const generated = randomSet(random);
      const { set, program } = compileSet(generated);
      const engines = realisations.map((realisation, at) => link(program!, caches[at]!, realisation));
      const ruleIds = ruleIdsOf(set!);
      for (let i = 0; i < requestsPerSet; i += 1) {
        const facts = randomFacts(random, generated, ruleIds);
        const [first, ...others] = engines.map((engine, at) => {
          const decision = engine.decide(facts);
          const traced = engine.decideTraced(facts);
          expect({ seed, i, decision: traced.decision }).toEqual({ seed, i, decision });
          if (at === 0)
            expect(tracedRules(traced.trace)).toEqual(
              tracedRules(tracedSlowly(program!, resolveFacts(set!, facts), traced)),
            );
          return [decision, tracedRules(traced.trace), engine.trace(facts)];
        });
        for (const [at, other] of others.entries()) {
          expect({ seed, i, realisation: realisations[at + 1], other }).toEqual({
            seed,
            i,
            realisation: realisations[at + 1],
            other: first,
          });
        }
        if (engines[0]!.decide(facts).outcome === 'ALLOW') allowed += 1;
      }
    }
    expect(allowed).toBeGreaterThan(setsTried / 2);
  }, 240_000);
});
