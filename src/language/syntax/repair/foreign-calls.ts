// Repairs functions, lambdas and methods of other languages, and suggests operators and quantifiers that mean
// the same.

import { bracketStep, comparing, isAnyWord, NameToken, retype, sign, word } from '../parse/tokens.ts';
import { beforeCondition, type Cursor, lookaheadMax, presenceOf, type Repair } from './cursor.ts';
import { quantifiers } from './foreign-quantifiers.ts';
import { hasMessage, relationOf } from './foreign-words.ts';

/** What to write instead of a call; `write` is absent if several things may be meant. */
type CallRepair = Pick<Repair, 'write' | 'help'>;

/** Repairs a name that a parenthesis follows. */
export function repairCall(here: Cursor): Repair | null {
  return repairLambda(here) ?? repairPresence(here) ?? repairRelationCall(here) ?? repairNow(here);
}

/** Repairs `exists(payload.note)`: the fix is `payload has note`. */
export function repairPresence(here: Cursor): Repair | null {
  if (!/^(?:has|exists|defined|isset|present|is_set|is_defined)$/i.test(here.token.image)) return null;
  if (isAnyWord(here.at(-1)) && !beforeCondition.has(here.type(-1))) return null;
  const path = here.pathInParentheses();
  if (path === null || path.length < 3) return null;
  return { to: path.closing, message: hasMessage, write: presenceOf(path.text) };
}

/** Repairs `startswith(payload.vendor, "a")`: the operator goes between the two operands. */
function repairRelationCall(here: Cursor): Repair | null {
  const { image } = here.token;
  const relation = relationOf(image);
  const closing = relation === undefined ? null : here.closing(1);
  const comma = here.within(1, (type, depth) => depth === 1 && type === sign.comma);
  if (relation === undefined || closing === null || comma === null || comma < 3 || comma + 1 >= closing)
    return null;
  const message = `\`${image}\` is not a function: it is written between the two`;
  const sides = [here.text(2, comma - 1), here.text(comma + 1, closing - 1)] as const;
  return { to: closing, message, ...related(relation, ...sides) };
}

function related(relation: string, path: string, written: string): CallRepair {
  if (relation !== 'contains') return { write: `${path} ${relation} ${written}` };
  const part = `write \`${path} contains ${written}\` for a part of a text`;
  return { help: `${part}, \`${written} in ${path}\` for an element` };
}

/** Repairs `now()`: `now` is no function. */
function repairNow(here: Cursor): Repair | null {
  if (here.token.image !== 'now' || here.type(2) !== sign.closeParen) return null;
  return { to: 2, message: '`now` is not a function', write: 'now', read: [retype(here.token, NameToken)] };
}

/** Repairs `any(xs, x => c)`, `any(x in xs, c)` and `any(c for x in xs)`: the fix is a quantifier. */
export function repairLambda(here: Cursor): Repair | null {
  const quantifier = quantifiers.get(here.token.image);
  const closing = quantifier === undefined || here.type(1) !== sign.openParen ? null : here.closing(1);
  if (closing === null) return null;
  const text = here.text(0, closing);
  const parts =
    /^\w+\(\s*(?<list>[\w.]+)\s*,\s*\(?(?<name>\w+)\)?\s*=>\s*(?<body>.*)\)$/s.exec(text) ??
    /^\w+\(\s*(?<body>[\s\S]*?)\s+for\s+(?<name>\w+)\s+in\s+(?<list>[\w.]+)\s*\)$/.exec(text) ??
    /^\w+\(\s*(?<name>\w+)\s+in\s+(?<list>[\w.]+)\s*[,:]\s*(?<body>.*)\)$/s.exec(text);
  if (parts?.groups === undefined) return null;
  const { list, name, body } = parts.groups;
  const write = `${quantifier} ${name} in ${list} (${body})`;
  return { to: closing, message: `a list is gone through by \`${quantifier}\``, write };
}

/** Repairs `sum(payload.lines.price)`: the fix is `sum x in payload.lines (x.price)`. */
export function repairTotal(here: Cursor): Repair | null {
  const isOfMeter = here.type(-3) === word.meter;
  const path = isOfMeter ? null : here.pathInParentheses();
  if (path === null || path.length < 5) return null;
  const last = path.text.lastIndexOf('.');
  const write = `sum x in ${path.text.slice(0, last)} (x.${path.text.slice(last + 1)})`;
  return { to: path.closing, message: 'a list is gone through by `sum`', write };
}

/** Repairs `.startsWith("a")` and further methods called on its result: values have no methods. */
export function repairMethod(here: Cursor): Repair | null {
  if (here.isBeforePayload) return null;
  const path = here.pathBefore(-1);
  const isBody = isQuantified(here);
  let text = path?.text ?? 'x';
  let written: CallRepair | null = null;
  let next = 0;
  while (
    isAnyWord(here.at(next)) &&
    here.type(next + 1) === sign.openParen &&
    !written?.write?.includes(' ')
  ) {
    const closing = here.closing(next + 1);
    if (closing === null || (isBody && here.type(closing + 1) !== sign.openParen)) break;
    const shown = closing > next + 2 ? here.text(next + 2, closing - 1) : '';
    written = methodWritten(here.at(next)!.image, text, shown);
    text = written.write ?? text;
    next = closing + 1;
    if (written.write === undefined || here.type(next) !== sign.dot) break;
    next++;
  }
  if (written === null) return null;
  // Nothing more is to be said of methods that are called on something unknown.
  while (here.type(next) === sign.dot && here.type(next + 2) === sign.openParen) {
    const closing = here.closing(next + 2);
    if (closing === null) break;
    next = closing + 1;
  }
  const end = here.type(next - 1) === sign.dot ? next - 1 : next;
  const message = `\`${here.token.image}\` is not a method: values have no methods`;
  const help = written.help ?? `write \`${written.write}\``;
  // A fix that holds an operator cannot stand before a comparison: its result would be compared once more.
  const isWhole = !(written.write?.includes(' ') && comparing.has(here.type(end)));
  if (path === null) return { to: end - 1, message, help, read: [retype(here.token, NameToken)] };
  const write = isWhole ? written.write : undefined;
  return { from: -path.length - 1, to: end - 1, message, help, write };
}

/** Whether the path before a method is a list of a quantifier, whose condition stands in parentheses behind it. */
function isQuantified(here: Cursor): boolean {
  let depth = 0;
  for (let at = -2; at > -2 - lookaheadMax && depth >= 0 && here.at(at - 2); at--) {
    const { tokenType, tokenTypeIdx } = here.at(at)!;
    depth -= bracketStep[tokenTypeIdx] ?? 0;
    if (depth !== 0) continue;
    if (tokenType === word.in) return quantifiers.has(here.at(at - 2)?.image ?? '');
    if (beforeCondition.has(tokenType) || comparing.has(tokenType)) return false;
  }
  return false;
}

/** Functions of this language, by the names of methods that do the same elsewhere. */
const functions: readonly (readonly [RegExp, string])[] = [
  [/^(?:to_?lower(?:_?case)?|lower|casefold)$/, 'lower'],
  [/^(?:len|length|size|count)$/, 'length'],
  [/^(?:strip|trim)$/, 'trim'],
];

function methodWritten(method: string, path: string, written: string): CallRepair {
  const small = method.toLowerCase();
  const relation = relationOf(small);
  if (relation !== undefined) return related(relation, path, written);
  if (/^(?:has|hasownproperty|exists)$/.test(small)) {
    return { write: presenceOf(`${path}.${written.replaceAll(/["']/g, '') || '...'}`) };
  }
  const called = functions.find(([spelled]) => spelled.test(small));
  if (called !== undefined) return { write: `${called[1]}(${path})` };
  if (/^(?:equals|eq)$/.test(small)) return { write: `${path} == ${written}` };
  if (/^(?:match|matches|test)$/.test(small)) {
    return { help: `write \`${path} matches '...'\`, which matches the whole text` };
  }
  if (/^(?:get|lookup|find|at)$/.test(small))
    return { help: `a row of a table is found by \`${path}[${written}]\`` };
  const quantifier = quantifiers.get(small);
  if (quantifier === undefined) {
    return { help: 'write an operator, such as `starts with`, or a function, such as `length(x)`' };
  }
  const [, name = 'x', body = '...'] = /^\(?(\w+)\)?\s*=>\s*(.+)$/s.exec(written) ?? [];
  const write = `${quantifier} ${name} in ${path} (${body})`;
  return body === '...' ? { help: `write \`${write}\`` } : { write };
}
