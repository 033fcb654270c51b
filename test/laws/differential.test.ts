import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from '../../src/language/syntax/parse.ts';
import type { PolicyFile } from '../../src/language/syntax/tree/tree.ts';
import { tries } from '../support/tries.ts';
import { caseNames, readCase } from './cases.ts';
import { brief, compareReadings, findProblem } from './differential.ts';
import { requiredFeatures } from './required.ts';
import { shrink } from './shrink.ts';
import { syntaxFeatures } from './syntax-features.ts';

/** The packs, the examples, and the policies of the feature tests. */
function writtenPolicies(): readonly PolicyFile[] {
  const root = join(import.meta.dirname, '../..');
  const paths = globSync(['policies/**/*.policy', 'examples/**/*.policy', 'test/features/**/*.policy'], {
    cwd: root,
    exclude: (path) => path.includes('node_modules'),
  });
  expect(paths.length).toBeGreaterThan(50);
  return paths.map((path) => parse({ path, text: readFileSync(join(root, path), 'utf8') }).file);
}

describe('function = definition', () => {
  it('agrees on random policies and requests, and reaches every construct', { timeout: 600_000 }, () => {
    // As many pairs as it takes to reach every construct from this seed; `npm run fuzz` compares on.
    const { pairs, reached, findings } = compareReadings(tries(2_800), 6_260, { pace: brief });
    expect(findings).toEqual([]);
    expect(pairs).toBeGreaterThanOrEqual(2_800);
    expect(reached.missing()).toEqual([]);
  });

  it('reaches every construct of the policies that people wrote', () => {
    const required = new Set(requiredFeatures);
    // Every kind of range is reached for some type, not for each.
    const missing = writtenPolicies()
      .flatMap(syntaxFeatures)
      .filter((feature) => !required.has(feature) && !feature.includes('..'));
    expect([...new Set(missing)]).toEqual([]);
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
