// The digest of a set depends only on the content of its declarations.

import { describe, expect, it } from 'vitest';
import { compile } from '../../../src/pipeline.ts';
import { digest } from '../../../src/service/policies/digest.ts';

const parts = [
  'action a.b { n: number, s: string }',
  'action a.c { n: number }',
  'list l from "lists/l.txt"',
  'hours office = mon-fri 09:00-17:00 in "Europe/Berlin"',
  'let big = payload.n > 5',
  'meter spent = sum(payload.n) of a.b per agent over 1h',
  'approvers finance "Finance"',
  'policy p on a.b { deny r when big and payload.s in l }',
  'policy q on a.c { escalate r to finance when now in office\n deny t when spent > 5 }',
  'guarantee g on a.c { never allow when payload.n > 9 }',
];

function digestOf(files: readonly string[], list = 'x\ny\n'): string {
  const sources = files.map((text, at) => ({ path: `${at}.policy`, text }));
  const { set, diagnostics } = compile({
    files: sources,
    readListFile: (path) =>
      path === 'owners.yaml' ? { code: 'list-file-missing', message: 'there is none' } : { text: list },
  });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return digest(set);
}

describe('the digest of a set', () => {
  const whole = digestOf([parts.join('\n')]);

  it('is 256 bits in hexadecimal, equal for equal sets', () => {
    expect(whole).toMatch(/^[0-9a-f]{64}$/);
    expect(digestOf([parts.join('\n')])).toBe(whole);
  });

  it('does not depend on the order of declarations, on files, blank lines and comments', () => {
    expect(digestOf([parts.toReversed().join('\n\n# a comment\n')])).toBe(whole);
    expect(digestOf(parts)).toBe(whole);
    expect(digestOf(parts.toReversed())).toBe(whole);
  });

  it('changes with every declaration and with the entries of list files', () => {
    const changes: readonly (readonly [string, string])[] = [
      ['s: string }', 's: string ..9 }'],
      ['action a.c { n: number }', 'action a.c { n: number }\naction a.d { n: number }'],
      ['mon-fri', 'mon-thu'],
      ['> 5', '> 6'],
      ['over 1h', 'over 2h'],
      ['"Finance"', '"Money"'],
      ['"Finance"', '"Finance" by chat up to risk 0'],
      ['"Finance"', '"Finance" by chat up to risk 1'],
      ['deny r', 'deny s'],
      ['policy q', 'policy u'],
      ['never allow', 'never deny'],
    ];
    const digests = changes.map(([from, to]) => {
      expect(parts.join('\n')).toContain(from);
      return digestOf([parts.join('\n').replace(from, to)]);
    });
    digests.push(digestOf([parts.join('\n')], 'x\nz\n'), whole);
    expect(new Set(digests).size).toBe(changes.length + 2);
  });
});
