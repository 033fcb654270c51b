// What the pages of policies show of their data: excerpts around mistakes, filtered and sorted rules, parts
// of long files.

import { describe, expect, it } from 'vitest';
import { excerptsOf, type FailureDiagnostic } from '../../src/dashboard/pages/policies/excerpts.ts';
import { lineWindow } from '../../src/dashboard/pages/policies/line-window.ts';
import { fileHref } from '../../src/dashboard/pages/policies/links.ts';
import { chooseRules, type RuleHits, readFilter } from '../../src/dashboard/pages/policies/rule-list.ts';

const lines = Array.from({ length: 40 }, (_, index) => `line ${index + 1}`);

function at(line: number, endLine = line): FailureDiagnostic {
  const place = { code: 'c', severity: 'error' as const, message: `in ${line}`, help: null };
  return { ...place, start: { line, column: 1 }, end: { line: endLine, column: 3 } };
}

describe('excerpts', () => {
  it('hold two lines around, and what is near stands together', () => {
    const excerpts = excerptsOf(lines.join('\n'), [at(30), at(1), at(12, 13), at(9)]);
    expect(
      excerpts.map(({ firstLine, text, diagnostics }) => [
        firstLine,
        text.split('\n').length,
        diagnostics.length,
      ]),
    ).toEqual([
      [1, 3, 1],
      [7, 9, 2],
      [28, 5, 1],
    ]);
    expect(excerpts[1]?.text.split('\n')[0]).toBe('line 7');
  });

  it('leave out what has no place in the text', () => {
    expect(excerptsOf('one line', [at(2), { ...at(1), start: null, end: null }])).toEqual([]);
  });
});

describe('rules', () => {
  const rule = (name: string, facts: Partial<RuleHits>): RuleHits => ({
    policy: 'p',
    rule: name,
    effect: 'deny',
    file: 'p.policy',
    decided: 0,
    met: 0,
    last_at: null,
    shadow_changed: null,
    shadow_outcomes: [],
    ...facts,
  });
  const rules = [
    rule('one', { decided: 2, met: 3, last_at: '2026-03-02T10:00:00Z' }),
    rule('two', { decided: 5, met: 5, last_at: '2026-03-01T10:00:00Z' }),
    rule('three', { shadow_changed: 0 }),
  ];
  const chosen = (query: string) =>
    chooseRules(rules, readFilter(new URLSearchParams(query))).map((one) => one.rule);

  it('are chosen and ordered by what the address says', () => {
    expect(chosen('')).toEqual(['one', 'two', 'three']);
    expect(chosen('order=decided')).toEqual(['two', 'one', 'three']);
    expect(chosen('order=last')).toEqual(['one', 'two', 'three']);
    expect(chosen('show=unused')).toEqual(['three']);
    expect(chosen('show=shadow')).toEqual(['three']);
    expect(chosen('text=P/T')).toEqual(['two', 'three']);
    expect(chosen('show=nonsense&order=nonsense')).toEqual(['one', 'two', 'three']);
  });
});

describe('a long file', () => {
  it('is shown in stretches, and the one with the line that is asked for', () => {
    const text = `${Array.from({ length: 5_000 }, (_, index) => index + 1).join('\n')}\n`;
    expect(lineWindow(text, 1)).toMatchObject({ from: 1, to: 2_000, count: 5_000 });
    expect(lineWindow(text, 4_500)).toMatchObject({ from: 4_001, to: 5_000 });
    expect(lineWindow(text, 9_999)).toMatchObject({ from: 4_001, to: 5_000 });
    expect(lineWindow(text, Number.NaN)).toMatchObject({ from: 1 });
    expect(lineWindow(text, 4_500).text.split('\n')[0]).toBe('4001');
  });
});

it('an address of a file survives whatever its name is', () => {
  const href = fileHref({ path: 'a b/&#?.policy', rule: 'p/r', of: 'failed', line: 7 });
  const url = new URL(href, 'http://writ');
  expect([url.searchParams.get('path'), url.searchParams.get('rule'), url.hash]).toEqual([
    'a b/&#?.policy',
    'p/r',
    '#L7',
  ]);
});
