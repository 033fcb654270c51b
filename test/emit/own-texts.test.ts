import { describe, expect, it } from 'vitest';
import { createFunctionCache } from '../../src/emit/cache.ts';
import { link } from '../../src/emit/link.ts';
import { createOwnTexts, type TextUser } from '../../src/emit/own-texts.ts';
import { createRandom } from '../../src/prove/random.ts';
import { authorize } from '../../src/spec/authorize.ts';
import { compileSet, ruleIdsOf } from '../laws/differential.ts';
import { randomSet } from '../laws/policies.ts';
import { randomFacts } from '../laws/requests.ts';
import { compileText, factsOf } from './engine.ts';

const tiny = { actionsMax: 0, ownMax: 1, decisionsPerReport: 3, reportsPerReview: 4 };
/** So many decisions of one action make it displace any other. */
const enough = 60;

describe('own texts', () => {
  it('decide as shared ones do, before, while and after an action has its own', () => {
    let [promoted, demoted] = [0, 0];
    for (let seed = 1; seed <= 40; seed += 1) {
      const random = createRandom(seed);
      const generated = randomSet(random);
      const { set, program } = compileSet(generated);
      const engine = link(program!, createFunctionCache(), 'by size', tiny);
      const ruleIds = ruleIdsOf(set!);
      const requests = Array.from({ length: 12 }, () => randomFacts(random, generated, ruleIds));
      const expected = requests.map((facts) => authorize(set!, facts));
      const check = (): void => {
        for (const [at, facts] of requests.entries()) {
          expect({ seed, at, decision: engine.decide(facts) }).toEqual({ seed, at, decision: expected[at] });
        }
      };
      const shared = new Map([...program!.actions.keys()].map((key) => [key, engine.source(key)] as const));
      const isOwn = (key: string): boolean => engine.source(key) !== shared.get(key);
      let before: string | null = null;
      for (const action of program!.actions.keys()) {
        const own = requests.find((facts) => facts.action === action);
        if (own === undefined) continue;
        check();
        for (let i = 0; i < enough; i += 1) engine.decideChecked(own);
        if (isOwn(action)) promoted += 1;
        if (before !== null && before !== action && isOwn(action) && !isOwn(before)) demoted += 1;
        before = action;
        check();
      }
    }
    expect(promoted).toBeGreaterThan(20);
    expect(demoted).toBeGreaterThan(5);
  }, 60_000);

  it('are no more than allowed, made one at a time for those that decide most', () => {
    const served = new Set<string>();
    const made: string[] = [];
    const ownTexts = createOwnTexts(
      (action) => {
        made.push(action);
        return action;
      },
      { ...tiny, ownMax: 3, reportsPerReview: 40 },
    );
    const users = new Map<string, TextUser<string>>();
    const report = (action: string): void => {
      const user = users.get(action) ?? {
        serveOwn: () => served.add(action),
        serveShared: () => served.delete(action),
        stopReporting: () => undefined,
      };
      users.set(action, user);
      const before = made.length;
      ownTexts.report(action, user);
      expect(made.length - before).toBeLessThan(2);
      expect(served.size).toBeLessThan(4);
      expect([...served].every((one) => ownTexts.has(one))).toBe(true);
    };
    for (const action of ['a', 'b', 'c']) report(action);
    expect([...served]).toEqual(['a', 'b', 'c']);
    for (let i = 0; i < 100; i += 1) for (const action of ['a', 'x', 'b', 'x', 'y', 'y']) report(action);
    expect([...served].toSorted()).toContain('x');
    expect([...served].toSorted()).toContain('y');
    const settled = made.length;
    for (let i = 0; i < 1_000; i += 1) for (const action of [...'xyabcdefgh']) report(action);
    // What is asked for alike displaces nobody for long.
    expect(made.length - settled).toBeLessThan(10);
  });

  it('are not made for actions whose text would be large', () => {
    const words = Array.from({ length: 600 }, (_, at) => `"w${at}"`).join(', ');
    const { program } = compileText(`action a.b { text: string }
action a.c { text: string }
policy p on a.b { allow ok when payload.text in [${words}] }
policy q on a.c { allow ok when payload.text in ["w1"] }
`);
    const engine = link(program!, createFunctionCache(), 'by size', tiny);
    const [large, small] = [engine.source('a.b'), engine.source('a.c')];
    for (const action of ['a.b', 'a.c']) {
      for (let i = 0; i < enough; i += 1) {
        expect(engine.decide(factsOf({ text: 'w1' }, { action })).outcome).toBe('ALLOW');
      }
    }
    expect(engine.source('a.b')).toBe(large);
    expect(engine.source('a.c')).not.toBe(small);
  });
});
