// Lists with more entries than are kept one by one give the same proofs and refutations as shorter lists,
// also when lists overlap, ignore case, or when patterns and other constants tell their entries apart.

import { describe, expect, it } from 'vitest';
import { canonicalMeaning, isSameMeaning } from '../../src/language/model/canonical.ts';
import { compileToProgram } from '../../src/pipeline.ts';
import { diffPolicies } from '../../src/reasoning/diff/diff.ts';
import { proveGuarantees } from '../../src/reasoning/prove/prove.ts';

const text = `
action pay.make { vendor: string 1..9, note: string ..20 }
list blocked ignoring case from "blocked.txt"
list known from "known.txt"
policy p on pay.make {
  allow known when payload.vendor in known
  deny blocked when payload.vendor in blocked
  deny odd when payload.vendor like "k*7" or payload.vendor == "k 12"
}
guarantee g on pay.make {
  never allow when payload.vendor in blocked
  never allow when payload.vendor == "b 3"
  never allow when payload.vendor == "k 12"
  never allow when payload.vendor == "k 17"
  never allow when payload.vendor == "k 13"
  never allow when payload.vendor == "a text of more than nine"
  never allow when payload.vendor ends with "8"
  always allow when payload.vendor in known
}
`;

function setOf(entries: number, more: readonly string[] = []) {
  const known = Array.from({ length: entries }, (_, at) => `k ${at + 10}`);
  const lists: Readonly<Record<string, readonly string[]>> = {
    'known.txt': [...known, 'b 3', 'a text of more than nine', ...more],
    'blocked.txt': known.map((_, at) => `B ${at}`),
  };
  const { set } = compileToProgram({
    files: [{ path: 'a.policy', text }],
    readListFile: (path) =>
      path in lists
        ? { text: `${lists[path]!.join('\n')}\n` }
        : { code: 'list-file-missing', message: 'there is none' },
  });
  return set!;
}

describe('lists of many entries', () => {
  it.each([20, 1_500])('are proved of as the definition says, with %s of them', (entries) => {
    expect(proveGuarantees(setOf(entries)).map(({ kind }) => kind)).toEqual([
      'proved',
      'proved',
      'proved',
      'proved',
      'refuted',
      'proved',
      'refuted',
      'refuted',
    ]);
  });

  it('change by an entry', () => {
    const [before, after] = [setOf(1_500), setOf(1_500, ['somebody'])];
    const { findings, limits } = diffPolicies(before, after);
    expect(findings.map(({ from, to, when }) => [from, to, when])).toEqual([
      ['DENY', 'ALLOW', ['payload.vendor in known (new: "somebody")']],
    ]);
    expect(findings[0]?.example?.facts.after.payload).toMatchObject({ vendor: 'somebody' });
    expect(limits).toEqual([]);
  });
});

describe('isSameMeaning', () => {
  it('is what the texts of both meanings say', () => {
    const { policies, actions, lists } = setOf(20);
    const parts: readonly object[] = [
      ...policies.flatMap(({ rules }) => rules.flatMap((rule) => [rule, rule.condition])),
      ...actions.values(),
      actions,
      lists,
      [1, 2],
      [1, 2, undefined],
      { a: 0, b: 1 },
      { b: 1, a: 0 },
      { a: -0, b: 1 },
      { kind: 'literal', value: 1, type: { kind: 'number', of: 'a' } },
      { kind: 'literal', value: 1, type: { kind: 'number', of: 'b' } },
      { kind: 'literal', value: 1, type: { kind: 'list', of: 'b' } },
      { kind: 'literal', value: 1, type: { kind: 'list', of: 'a' } },
      { kind: 'field', value: 1, type: { kind: 'number', of: 'b' }, span: 3 },
      { kind: 'field', value: 1, type: { kind: 'number', of: 'b' }, span: 4 },
    ];
    const copies = parts.map((part) => structuredClone(part));
    for (const part of parts)
      for (const other of copies)
        expect(isSameMeaning(part, other)).toBe(canonicalMeaning(part) === canonicalMeaning(other));
  });
});
