// Types as the grammar takes them, most of which say nothing sensible: nested lists, records and unions of
// built-in types, declared ones and unknown names, with modifiers, ranges and patterns.

import fc from 'fast-check';
import { builtInTypeWords } from '../../src/language/syntax/parse/tokens.ts';

const range = fc.constantFrom('', ' 1..2', ' 2..1', ' 0..', ' ..-1', ' 2026-01-01..', ' 1 USD..2 USD');
const pattern = fc.constantFrom('', " matches 'a+'", " matches '('", ' ignoring case');
const name = fc.constantFrom(...builtInTypeWords, 'tier', 'point', 'unknown', 'result');

/** A file with the types of two fields and of a result. */
export function typeText([field, declared, result]: readonly [string, string, string]): string {
  return `type tier = "low" | "high"
type point = { x: number }
type t = ${declared}
action a.b { f: ${field}, g?: t, currency: "USD" }
  result { h: ${result} }
policy p on a.b { deny q when payload has g }
`;
}

/** The text of any type. */
export const anyType: fc.Arbitrary<string> = fc.letrec<{ type: string }>((tie) => ({
  type: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom('null', '"a"', '"b"', "'a'", 'money(currency)', 'money(nothing) 0..', 'money(x)'),
    fc.tuple(name, pattern, range).map((parts) => parts.join('')),
    fc.tuple(tie('type'), range).map(([element, length]) => `[${element}]${length}`),
    fc
      .array(fc.tuple(fc.constantFrom('x', 'y', 'currency', '"z z"'), tie('type')), { maxLength: 3 })
      .map((fields) => `{ ${fields.map(([field, type]) => `${field}: ${type}`).join(', ')} }`),
    fc.array(tie('type'), { minLength: 2, maxLength: 3 }).map((members) => members.join(' | ')),
    fc
      .tuple(fc.constantFrom('secret', 'signed', 'signed by "gateway"', 'secret secret'), tie('type'))
      .map(([modifier, type]) => `${modifier} ${type}`),
  ),
})).type;
