// Repairs functions, lambdas and methods of other languages, and suggests operators and quantifiers that mean
// the same.

import { bracketStep, comparing, isAnyWord, keyword, NameToken, retype, symbol } from '../parse/tokens.ts';
import { beforeCondition, type Cursor, lookaheadMax, presenceOf, type Repair } from './cursor.ts';
import { hasMessage, relationOf } from './foreign-keywords.ts';
import { quantifiers } from './foreign-quantifiers.ts';

/** What to write instead of a call; `write` is absent if several things may be meant. */
type CallRepair = Pick<Repair, 'write' | 'help'>;

/** Repairs a name that a parenthesis follows. */
export function repairCall(cursor: Cursor): Repair | null {
  return repairLambda(cursor) ?? repairPresence(cursor) ?? repairRelationCall(cursor) ?? repairNow(cursor);
}

/** Repairs `exists(payload.note)`: the fix is `payload has note`. */
export function repairPresence(cursor: Cursor): Repair | null {
  if (!/^(?:has|exists|defined|isset|present|is_set|is_defined)$/i.test(cursor.token.image)) return null;
  if (isAnyWord(cursor.at(-1)) && !beforeCondition.has(cursor.type(-1))) return null;
  const path = cursor.pathInParentheses();
  if (path === null || path.length < 3) return null;
  return { to: path.closing, message: hasMessage, write: presenceOf(path.text) };
}

/** Repairs `startswith(payload.vendor, "a")`: the operator goes between the two operands. */
function repairRelationCall(cursor: Cursor): Repair | null {
  const { image } = cursor.token;
  const relation = relationOf(image);
  const closing = relation === undefined ? null : cursor.closing(1);
  const comma = cursor.within(1, (type, depth) => depth === 1 && type === symbol.comma);
  if (relation === undefined || closing === null || comma === null || comma < 3 || comma + 1 >= closing)
    return null;
  const message = `\`${image}\` is not a function: it is written between the two`;
  const sides = [cursor.text(2, comma - 1), cursor.text(comma + 1, closing - 1)] as const;
  return { to: closing, message, ...related(relation, ...sides) };
}

function related(relation: string, path: string, written: string): CallRepair {
  if (relation !== 'contains') return { write: `${path} ${relation} ${written}` };
  const part = `write \`${path} contains ${written}\` for a part of a text`;
  return { help: `${part}, \`${written} in ${path}\` for an element` };
}

/** Repairs `now()`: `now` is no function. */
function repairNow(cursor: Cursor): Repair | null {
  if (cursor.token.image !== 'now' || cursor.type(2) !== symbol.closeParen) return null;
  return { to: 2, message: '`now` is not a function', write: 'now', read: [retype(cursor.token, NameToken)] };
}

/** Repairs `any(xs, x => c)`, `any(x in xs, c)` and `any(c for x in xs)`: the fix is a quantifier. */
export function repairLambda(cursor: Cursor): Repair | null {
  const quantifier = quantifiers.get(cursor.token.image);
  const closing = quantifier === undefined || cursor.type(1) !== symbol.openParen ? null : cursor.closing(1);
  if (closing === null) return null;
  const text = cursor.text(0, closing);
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
export function repairTotal(cursor: Cursor): Repair | null {
  const isOfMeter = cursor.type(-3) === keyword.meter;
  const path = isOfMeter ? null : cursor.pathInParentheses();
  if (path === null || path.length < 5) return null;
  const last = path.text.lastIndexOf('.');
  const write = `sum x in ${path.text.slice(0, last)} (x.${path.text.slice(last + 1)})`;
  return { to: path.closing, message: 'a list is gone through by `sum`', write };
}

/** Repairs `.startsWith("a")` and further methods called on its result: values have no methods. */
export function repairMethod(cursor: Cursor): Repair | null {
  if (cursor.isBeforePayload) return null;
  const path = cursor.pathBefore(-1);
  const isBody = isQuantified(cursor);
  let text = path?.text ?? 'x';
  let written: CallRepair | null = null;
  let next = 0;
  while (
    isAnyWord(cursor.at(next)) &&
    cursor.type(next + 1) === symbol.openParen &&
    !written?.write?.includes(' ')
  ) {
    const closing = cursor.closing(next + 1);
    if (closing === null || (isBody && cursor.type(closing + 1) !== symbol.openParen)) break;
    const shown = closing > next + 2 ? cursor.text(next + 2, closing - 1) : '';
    written = methodWritten(cursor.at(next)!.image, text, shown);
    text = written.write ?? text;
    next = closing + 1;
    if (written.write === undefined || cursor.type(next) !== symbol.dot) break;
    next++;
  }
  if (written === null) return null;
  // Nothing more is to be said of methods that are called on something unknown.
  while (cursor.type(next) === symbol.dot && cursor.type(next + 2) === symbol.openParen) {
    const closing = cursor.closing(next + 2);
    if (closing === null) break;
    next = closing + 1;
  }
  const end = cursor.type(next - 1) === symbol.dot ? next - 1 : next;
  const message = `\`${cursor.token.image}\` is not a method: values have no methods`;
  const help = written.help ?? `write \`${written.write}\``;
  // A fix that holds an operator cannot stand before a comparison: its result would be compared once more.
  const isWhole = !(written.write?.includes(' ') && comparing.has(cursor.type(end)));
  if (path === null) return { to: end - 1, message, help, read: [retype(cursor.token, NameToken)] };
  const write = isWhole ? written.write : undefined;
  return { from: -path.length - 1, to: end - 1, message, help, write };
}

/** Whether the path before a method is a list of a quantifier, whose condition stands in parentheses behind it. */
function isQuantified(cursor: Cursor): boolean {
  let depth = 0;
  for (let at = -2; at > -2 - lookaheadMax && depth >= 0 && cursor.at(at - 2); at--) {
    const { tokenType, tokenTypeIdx } = cursor.at(at)!;
    depth -= bracketStep[tokenTypeIdx] ?? 0;
    if (depth !== 0) continue;
    if (tokenType === keyword.in) return quantifiers.has(cursor.at(at - 2)?.image ?? '');
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
