import { describe, expect, it } from 'vitest';
import { caseNames, readCase } from './cases.ts';
import { compareReadings, findProblem } from './differential.ts';
import { shrink } from './shrink.ts';

describe('function = definition', () => {
  it('agrees on random policies and requests, and reaches every construct', { timeout: 600_000 }, () => {
    const { pairs, reached, findings } = compareReadings(12_000, 5_400);
    expect(findings).toEqual([]);
    expect(pairs).toBeGreaterThanOrEqual(12_000);
    expect(reached.missing()).toEqual([]);
  });

  it.each(caseNames())('holds what was found once: %s', (name) => {
    expect(findProblem(readCase(name))).toBeNull();
  });
});

describe('shrink', () => {
  it('leaves what the failure needs and nothing else', () => {
    const files = [
      {
        path: 'a.policy',
        text: `action a.b { n: number, s: string }
          action a.c { n: number }
          list names = ["x"]
          policy first on a.b { allow one when payload.s in names allow two when payload.n > 1 and payload.s == "y" }
          policy second on a.c { deny three }`,
      },
    ];
    const facts = {
      action: 'a.b',
      payload: { n: 2, s: 'y' },
      agent: { name: 'buyer' },
      request: { signed: true },
      nowMs: 0,
      meters: {},
      satisfied: { escalate: ['first/one'], reauth: [] },
    };
    const small = shrink({ files, lists: {}, facts, problem: 'by: two' }, (one) => {
      const isThere = one.files.some(({ text }) => /allow two/.test(text) && /payload\.n > 1/.test(text));
      return isThere && Object.hasOwn(one.facts?.payload ?? {}, 'n') ? 'by: two' : null;
    });
    expect(small.facts).toEqual({
      ...facts,
      payload: { n: 2 },
      agent: {},
      request: {},
      satisfied: { escalate: [], reauth: [] },
    });
    expect(small.files.map(({ text }) => text.trim())).toEqual([
      'policy first on  {\n  allow two\n    when payload.n > 1\n}',
    ]);
  });
});
