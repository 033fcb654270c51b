// Any file and any request gets an answer, quickly, and never a throw.

import { describe, expect, it } from 'vitest';
import type { Facts } from '../../src/language/model/request.ts';
import { fileBytesMax } from '../../src/language/syntax/parse.ts';
import type { CompileResult } from '../../src/pipeline.ts';
import { tries } from '../support/tries.ts';
import { compileSet } from './differential.ts';
import { tryAnyTexts, tryMutations } from './mutations.ts';
import { tryAnyRequests } from './robustness.ts';

const timeout = 120_000;

describe.each([
  ['mutated policy files', tryMutations, tries(200), 4],
  ['any types and conditions', tryAnyTexts, tries(250), 18],
] as const)('%s', (_, attempt, wanted, soundMin) => {
  it('compile, or are refused with a diagnostic', { timeout }, () => {
    const { count, sound, findings } = attempt(wanted, 1);
    expect(findings).toEqual([]);
    expect(count).toBe(wanted);
    expect(sound).toBeGreaterThan(soundMin);
  });
});

describe('a policy that checks', () => {
  it('never fails, whatever it is asked', { timeout }, () => {
    const { judged, findings } = tryAnyRequests(tries(30), 1);
    expect(findings).toEqual([]);
    expect(judged).toBeGreaterThan(tries(75));
  });
});

describe('limits', () => {
  const soundText = 'action a.b { n: number }\npolicy p on a.b {\n  allow x\n    when payload.n > 3\n}\n';

  it('take a file of 1 MiB, and not a byte more', { timeout }, () => {
    const padding = fileBytesMax - new TextEncoder().encode(`${soundText}#é`).length;
    const largest = `${soundText}#é${'-'.repeat(padding)}`;
    expect(compiled(largest)).toEqual([]);
    expect(compiled(`${largest}-`)).toEqual(['file-too-large']);
  });

  it('take 1 MiB of rules', { timeout }, () => {
    const rules: string[] = [];
    for (let [index, length] = [0, soundText.length]; length < fileBytesMax - 100; index++) {
      const rule = `policy p${index} on a.b { deny x when payload.n > ${index} and agent.name == "agent-${index}" }\n`;
      rules.push(rule);
      length += rule.length;
    }
    const started = performance.now();
    expect(compiled(soundText + rules.join(''))).toEqual([]);
    report(`${rules.length} rules in 1 MiB compiled`, started);
  });

  it.each([
    ['parentheses', (depth: number) => `${'('.repeat(depth)}payload.n > 3${')'.repeat(depth)}`],
    ['negations', (depth: number) => `${'not '.repeat(depth)}payload.n > 3`],
    ['signs', (depth: number) => `payload.n > ${'- '.repeat(depth)}3`],
  ])('take 64 nested %s, the braces around included, and not one more', (_, condition) => {
    const nested = (depth: number) =>
      compiled(`action a.b { n: number }\npolicy p on a.b {\n  allow x\n    when ${condition(depth)}\n}\n`);
    expect(nested(63)).toEqual([]);
    expect(nested(64)).toContain('nesting-too-deep');
  });

  it('take 64 nested records', () => {
    const nested = (depth: number) =>
      compiled(
        `action a.b ${'{ f: '.repeat(depth)}number${' }'.repeat(depth)}\npolicy p on a.b { allow x }\n`,
      );
    expect(nested(64)).toEqual([]);
    expect(nested(65)).toContain('nesting-too-deep');
  });

  it('take a list of 100,000 entries', { timeout }, () => {
    const entries = Array.from({ length: 100_000 }, (_, index) => `Vendor  Number ${index}`);
    const text = `action a.b { s: string }
      list exact from "lists/all.txt"
      list folded ignoring case from "lists/all.txt"
      policy p on a.b {
        allow known when payload.s in exact
        deny blocked when payload.s in folded and not (payload.s in exact)
        escalate said to owner when payload.s mentions any of folded and payload.s not in folded
      }`;
    const files = [{ path: 'a.policy', text }];
    const started = performance.now();
    const set = compileSet({ files, lists: { 'lists/all.txt': entries.join('\n') } });
    expect(set.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
    report('100,000 entries compiled', started);
    const first = performance.now();
    expect(decided(set, 'Vendor  Number 99999')).toBe('p/known');
    report('first decision', first);
    const others = performance.now();
    expect(decided(set, 'VENDOR NUMBER 99999')).toBe('p/blocked');
    expect(decided(set, 'nobody')).toBe('default_deny');
    report('two more', others);
    expect(performance.now() - started).toBeLessThan(60_000);
  });
});

/** The codes of the errors; empty when the text compiles to a set. */
function compiled(text: string): readonly string[] {
  const { set, diagnostics } = compileSet({ files: [{ path: 'a.policy', text }], lists: {} });
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ code }) => code);
  expect(set === null).toBe(errors.length > 0);
  return errors;
}

function factsOf(s: string): Facts {
  const satisfied = { escalate: [], reauth: [] };
  return { action: 'a.b', payload: { s }, agent: {}, request: {}, nowMs: 0, meters: {}, satisfied };
}

function decided({ engine }: CompileResult, s: string): string | undefined {
  return engine?.decide(factsOf(s)).by;
}

/** Prints the time with the test's result, so that a limit can be judged by its cost. */
function report(what: string, startedMs: number): void {
  console.log(`${what} in ${(performance.now() - startedMs).toFixed(0)} ms`);
}
