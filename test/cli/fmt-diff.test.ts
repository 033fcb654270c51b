// A unified diff turns one text into the other, and is no longer than necessary.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { unifiedDiff } from '../../src/language/assist/unified-diff.ts';

/**
 * Texts of few different lines, so that there is much to align; the last line with or without a line break.
 */
const text = fc
  .tuple(fc.array(fc.constantFrom('a', 'b', 'c', '', '-x', '+y'), { maxLength: 30 }), fc.boolean())
  .map(([lines, isEnded]) => lines.join('\n') + (isEnded && lines.length > 0 ? '\n' : ''));

describe('unifiedDiff', () => {
  it('turns the one text into the other', () => {
    fc.assert(
      fc.property(text, text, (before, after) => {
        expect(applyDiff(before, unifiedDiff('f', before, after))).toBe(after);
      }),
    );
  });

  it('equals the output of `diff -u`', () => {
    const before = '1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n';
    const after = '1\n2\n3\n4\nfive\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15';
    expect(unifiedDiff('f', before, after)).toBe(`--- a/f
+++ b/f
@@ -2,7 +2,7 @@
 2
 3
 4
-5
+five
 6
 7
 8
@@ -12,3 +12,4 @@
 12
 13
 14
+15
\\ No newline at end of file
`);
  });

  it('does not search for the shortest diff of very different texts', () => {
    const before = Array.from({ length: 3_000 }, (_, index) => `a${index}\n`).join('');
    const after = Array.from({ length: 3_000 }, (_, index) => `b${index}\n`).join('');
    expect(applyDiff(before, unifiedDiff('f', before, after))).toBe(after);
  });
});

/** Applies a diff by the grammar of unified diffs alone; throws when the text does not match the diff. */
function applyDiff(before: string, diff: string): string {
  const lines = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const output: string[] = [];
  let next = 0;
  const body = diff.split('\n').slice(2, -1);
  for (const [index, line] of body.entries()) {
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@$/.exec(line);
    if (hunk !== null) {
      const start = Number(hunk[1]) - (hunk[2] === '0' ? 0 : 1);
      output.push(...lines.slice(next, start));
      next = start;
      continue;
    }
    if (line.startsWith('\\')) continue;
    const content = line.slice(1) + (body[index + 1]?.startsWith('\\') ? '' : '\n');
    if (line[0] !== '+') {
      if (lines[next] !== content) throw new Error(`line ${next + 1} is not ${JSON.stringify(content)}`);
      next++;
    }
    if (line[0] !== '-') output.push(content);
  }
  return [...output, ...lines.slice(next)].join('');
}
