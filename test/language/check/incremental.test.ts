// The law of the checker's memory: whatever was checked before, the result equals a check without memory,
// places included, and an unchanged part is the same object as before.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check, checkErrors, type ListFile } from '../../../src/language/check/check.ts';
import { type CheckedSet, createCheckState } from '../../../src/language/check/incremental/state.ts';
import type { Diagnostic } from '../../../src/language/diagnostic/diagnostic.ts';
import { parse } from '../../../src/language/syntax/parse.ts';
import type { PolicyFile } from '../../../src/language/syntax/tree/tree.ts';
import { tries } from '../../support/tries.ts';
import { draws, edited, randomTexts, type Texts } from './random-sets.ts';

type Parser = (path: string, text: string) => PolicyFile;

/** Parses like the pipeline: a file with unchanged text keeps its tree. */
function createParser(): Parser {
  const known = new Map<string, PolicyFile>();
  return (path, text) => {
    const file = known.get(`${path} ${text}`) ?? parse({ path, text }).file;
    known.set(`${path} ${text}`, file);
    return file;
  };
}

function filesOf(texts: Texts, parser: Parser): readonly PolicyFile[] {
  return texts.map((declarations, at) => parser(`${at}.policy`, `${declarations.join('\n')}\n`));
}

function listFile(version: number): (path: string) => ListFile {
  if (version === 0) return () => ({ code: 'list-file-missing', message: 'no such file' });
  return () => ({ text: version === 1 ? 'a\nb\n' : 'a\nb\nC\n' });
}

function isError({ severity }: Diagnostic): boolean {
  return severity === 'error';
}

describe('a check with memory', () => {
  it('finds what a check without finds', () => {
    let whole = 0;
    let broken = 0;
    fc.assert(
      fc.property(draws, (draw) => {
        const parser = createParser();
        const memory = createCheckState();
        let texts = randomTexts(draw);
        for (let step = 0; step < 8; step++) {
          const files = filesOf(texts, parser);
          const readListFile = listFile(draw(3));
          const errorsAlone = step % 3 === 1 ? checkErrors(files, readListFile, memory) : null;
          const remembered = check(files, readListFile, memory);
          const fresh = check(files, readListFile);
          if (fresh.set === null) broken += 1;
          else whole += 1;
          expect(remembered.diagnostics).toEqual(fresh.diagnostics);
          expect(remembered.set).toEqual(fresh.set);
          if (errorsAlone !== null) {
            expect(errorsAlone.set).toEqual(fresh.set);
            expect(errorsAlone.diagnostics.filter(isError)).toEqual(fresh.diagnostics.filter(isError));
          }
          texts = edited(texts, draw, step);
        }
      }),
      { numRuns: tries(50) },
    );
    expect(whole).toBeGreaterThan(20);
    expect(broken).toBeGreaterThan(20);
  }, 240_000);
});

describe('what has not changed', () => {
  const base = [
    'action pay.create { amount: number, note?: string }\naction mail.send { note: string }\nlist known = ["a"]\n',
    'let small = payload.amount < 10\npolicy one on pay.create { allow a when small }\n',
    'policy two on mail.send { allow b when payload.note in known }\n',
  ];

  function checkTwice(
    before: readonly string[],
    after: readonly string[],
  ): readonly [CheckedSet, CheckedSet] {
    const parser = createParser();
    const memory = createCheckState();
    const [first, second] = [before, after].map((texts) =>
      check(
        texts.map((text, at) => parser(`${at}.policy`, text)),
        listFile(0),
        memory,
      ),
    );
    return [first!, second!];
  }

  it('is the same object after a change elsewhere', () => {
    const [before, after] = checkTwice(base, [base[0]!, base[1]!, `# moved\n${base[2]!}`]);
    expect(after.set!.policies[0]).toBe(before.set!.policies[0]);
    expect(after.set!.lets.get('small')).toBe(before.set!.lets.get('small'));
    expect(after.set!.actions.get('pay.create')).toBe(before.set!.actions.get('pay.create'));
    expect(after.set!.lists.get('known')).toBe(before.set!.lists.get('known'));
    expect(after.set!.policies[1]).not.toBe(before.set!.policies[1]);
  });

  it('is the same list of diagnostics of each file but those of which something else is said', () => {
    const idle = 'let idle = payload.amount > 1\n';
    const [before, after] = checkTwice(
      [`${base[0]!}let lone = 1 < 2\n`, `${base[1]!}${idle}`, base[2]!],
      [`${base[0]!}let lone = 1 < 2\n`, `${base[1]!}${idle}`, base[2]!.replace('in known', '== "x"')],
    );
    const codes = ({ byFile }: CheckedSet, file: string) => byFile.get(file)?.map(({ code }) => code) ?? [];
    expect(codes(after, '1.policy')).toContain('unused-declaration');
    expect(after.byFile.get('1.policy')).toBe(before.byFile.get('1.policy'));
    // After the edit nothing reads the list.
    expect(codes(after, '0.policy')).toHaveLength(codes(before, '0.policy').length + 1);
  });

  it('is the same policy where the actions have only moved', () => {
    const [before, after] = checkTwice(base, [`# moved\n${base[0]!}`, base[1]!, base[2]!]);
    expect(after.set!.policies[0]).toBe(before.set!.policies[0]);
    expect(after.set!.policies[1]).toBe(before.set!.policies[1]);
    expect(after.set!.lists.get('known')).toBe(before.set!.lists.get('known'));
    expect(after.set!.actions.get('mail.send')!.span).not.toEqual(before.set!.actions.get('mail.send')!.span);
  });

  it('is another policy where the shape of its action has changed, and no other', () => {
    const [before, after] = checkTwice(base, [base[0]!.replace('number', 'integer'), base[1]!, base[2]!]);
    expect(after.set!.policies[0]).not.toBe(before.set!.policies[0]);
    expect(after.set!.policies[1]).toBe(before.set!.policies[1]);
  });
});
