// LAW: what the verifier decides is what the definition decides, on random policies and requests, on the conformance
// cases and on the packs.

import { beforeAll, expect, test } from 'vitest';
import type { Decision } from '../../../../src/language/model/decision.ts';
import type { PolicySet } from '../../../../src/language/model/policy.ts';
import type { Facts } from '../../../../src/language/model/request.ts';
import { authorize } from '../../../../src/language/spec/authorize.ts';
import { createRandom } from '../../../../src/language/value/random.ts';
import { compile } from '../../../../src/pipeline.ts';
import { readPaths, readPolicyText } from '../../../../src/service/policies/read-policies.ts';
import { findTests } from '../../../../src/testing/find-test-files.ts';
import { readTestFile } from '../../../../src/testing/read-test-file.ts';
import { runTestFile } from '../../../../src/testing/run.ts';
import { compileSet, ruleIdsOf } from '../../../laws/differential.ts';
import { randomSet } from '../../../laws/policies.ts';
import { randomFacts } from '../../../laws/requests.ts';
import { tries } from '../../../support/tries.ts';
import { requirePython } from '../python.ts';
import { type DecidedSet, redecide } from './redecide.ts';

beforeAll(requirePython);

const requestsPerSet = 20;

function* randomDecisions(count: number, seed: number): Generator<DecidedSet> {
  for (let at = 0; at < count; at += 1) {
    const random = createRandom(seed + at);
    const generated = randomSet(random);
    const { set } = compileSet(generated);
    if (set === null) continue;
    const ids = ruleIdsOf(set);
    const requests = Array.from({ length: requestsPerSet }, () => {
      const facts = randomFacts(random, generated, ids);
      return { facts, decision: authorize(set, facts) };
    });
    yield { set, requests };
  }
}

/** The decisions of test files, with the facts of each case and of each step before it. */
async function* writtenDecisions(paths: readonly string[]): AsyncGenerator<DecidedSet> {
  for (const path of await findTests(paths)) {
    const text = await readPolicyText(path);
    if (!('text' in text)) throw new Error(`${path} cannot be read`);
    let set: PolicySet | null = null;
    const facts: Facts[] = [];
    await runTestFile(readTestFile(text), async (policies) => {
      const read = await readPaths(policies);
      const compiled = compile(read.sources);
      set = compiled.set;
      return {
        read,
        compiled: { ...compiled, engine: listening(compiled.engine!, facts) },
        count: () => undefined,
      };
    });
    const tested: PolicySet = set!;
    yield { set: tested, requests: facts.map((one) => ({ facts: one, decision: authorize(tested, one) })) };
  }
}

/** The same functions, which also add what they decide to the list. */
function listening<Engine extends { readonly decide: (facts: Facts) => Decision }>(
  engine: Engine,
  facts: Facts[],
): Engine {
  return new Proxy(engine, {
    get(target, name) {
      if (name !== 'decide') return Reflect.get(target, name) as unknown;
      return (one: Facts) => {
        facts.push(one);
        return target.decide(one);
      };
    },
  });
}

test('law: random policies and requests', { timeout: 600_000 }, async () => {
  const count = tries(6);
  const seed = Number(process.env.SEED ?? 1);
  const { same, notCovered, different } = await redecide(randomDecisions(count, seed));
  console.log(`${same} decided alike, not covered: ${JSON.stringify(notCovered)}`);
  expect(different).toEqual([]);
  expect(same).toBeGreaterThan(count * requestsPerSet * 0.6);
});

test('conformance cases and the tests of the packs', { timeout: 600_000 }, async () => {
  // All features take 15 seconds.
  const features = tries(1) === 1 ? 'test/features/conformance' : 'test/features';
  const { same, notCovered, different } = await redecide(writtenDecisions([features, 'policies']));
  console.log(`${same} decided alike, not covered: ${JSON.stringify(notCovered)}`);
  expect(different).toEqual([]);
  expect(same).toBeGreaterThan(500);
});
