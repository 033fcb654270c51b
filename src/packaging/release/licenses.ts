// Decides which licences may be in packages that are published under Apache-2.0: those that ask for no more
// than notices. INVARIANT: an unknown or missing licence is refused.

import type { ShippedPackage } from './shipped.ts';

/** The allowed licences, by their SPDX names. */
const carried: ReadonlySet<string> = new Set([
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unicode-3.0',
  'Unlicense',
  'Zlib',
]);

/**
 * Whether an SPDX expression allows publishing: one side of an `OR` is enough, both sides of an `AND` are
 * needed.
 */
export function isCarried(expression: string | null): boolean {
  if (expression === null) return false;
  const text = withoutOuterParentheses(expression.trim());
  const either = splitOutside(text, ' OR ');
  if (either.length > 1) return either.some(isCarried);
  const both = splitOutside(text, ' AND ');
  return both.length > 1 ? both.every(isCarried) : carried.has(text);
}

function withoutOuterParentheses(text: string): string {
  if (!text.startsWith('(') || !text.endsWith(')')) return text;
  const inner = text.slice(1, -1);
  return isBalanced(inner) ? withoutOuterParentheses(inner.trim()) : text;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const character of text) {
    if (character === '(') depth++;
    else if (character === ')') depth--;
    if (depth < 0) return false;
  }
  return depth === 0;
}

/** Splits a text at a word that stands outside of parentheses. */
function splitOutside(text: string, word: string): readonly string[] {
  const parts: string[] = [];
  for (const piece of text.split(word)) {
    const last = parts.at(-1);
    if (last !== undefined && !isBalanced(last)) parts[parts.length - 1] = last + word + piece;
    else parts.push(piece);
  }
  return parts;
}

/** A table of the packages by licence, in Markdown. */
export function licenseReport(packages: readonly ShippedPackage[]): string {
  const groups = Map.groupBy(packages, ({ license }) => license ?? 'none');
  const rows = [...groups]
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(
      ([license, those]) =>
        `| ${license} | ${those.map(({ name, version }) => `${name} ${version}`).join(', ')} |`,
    );
  return ['| licence | packages |', '|---|---|', ...rows, ''].join('\n');
}
