// The checker on broken trees: it never throws, returns no set for them, and adds no diagnostics to those of
// the parser about a gap.

import { globSync, readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { check } from '../../../src/language/check/check.ts';
import { hasErrors } from '../../../src/language/diagnostic/diagnostic.ts';
import { parse } from '../../../src/language/syntax/parse.ts';

const texts = globSync(['test/language/check/cases/*.policy', 'policies/*/*.policy'])
  .sort()
  .map((path) => readFileSync(path, 'utf8').replace(/^#!.*\n?/gm, ''));

function checkText(text: string): {
  readonly parsed: ReturnType<typeof parse>;
  readonly checked: ReturnType<typeof check>;
} {
  const parsed = parse({ path: 'broken.policy', text });
  return { parsed, checked: check([parsed.file], () => ({ text: 'a\nb\n' })) };
}

describe('a broken text', () => {
  it('never makes the checker throw, and yields a set only where nothing is wrong', () => {
    const edit = fc.record({
      at: fc.double({ min: 0, max: 1, noNaN: true }),
      cut: fc.nat(30),
      put: fc.constantFrom(
        '',
        ' ',
        '(',
        ')',
        ' and ',
        'not ',
        '.',
        '"',
        '5 ',
        'payload.',
        '}',
        '{',
        ' in ',
        'x',
      ),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(...texts),
        fc.array(edit, { minLength: 1, maxLength: 3 }),
        (text, edits) => {
          const broken = edits.reduce((each, { at, cut, put }) => {
            const start = Math.floor(at * each.length);
            return each.slice(0, start) + put + each.slice(start + cut);
          }, text);
          const { parsed, checked } = checkText(broken);
          const isWrong = hasErrors(parsed.diagnostics) || hasErrors(checked.diagnostics);
          if (!isWrong) expect(checked.set).not.toBeNull();
          if (hasErrors(checked.diagnostics)) expect(checked.set).toBeNull();
        },
      ),
      { numRuns: 400 },
    );
  });

  it.each([
    'deny a when payload.count >',
    'deny a when payload.count > 5 and',
    'escalate a when payload.count > 5',
    'deny a when some x in (x == 5)',
    'deny a when payload.count in [5,',
  ])('draws nothing more where the parser has found a gap: %s', (rule) => {
    const { parsed, checked } = checkText(
      `action order.place { count: integer 0.. }\npolicy orders on order.place {\n  allow z when payload.count == 1\n  ${rule}\n}\n`,
    );
    expect(hasErrors(parsed.diagnostics)).toBe(true);
    expect(checked.diagnostics.filter(({ severity }) => severity === 'error')).toEqual([]);
  });
});
