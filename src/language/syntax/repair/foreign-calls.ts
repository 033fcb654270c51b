// Functions, lambdas and methods of other languages → the operators and quantifiers that say the same.

import { comparing, isAnyWord, NameToken, retype, sign, word, wordTypes } from '../parse/tokens.ts';
import {
  beforeCondition,
  closingNear,
  type Foreign,
  hole,
  instead,
  lookaheadMax,
  pathBefore,
  presenceOf,
  signWithin,
  writing,
  writtenText,
} from './foreign-form.ts';
import { relations } from './foreign-relations.ts';
import type { Repair, RepairState } from './problem.ts';

/** A name that a parenthesis follows. */
export function repairCall(index: number, state: RepairState): Repair | null {
  return (
    repairLambda(index, state) ??
    repairPresence(index, state) ??
    repairRelationCall(index, state) ??
    repairWordCall(index, state)
  );
}

/** `exists(payload.note)`. */
export function repairPresence(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const before = tokens[index - 1];
  if (tokens[index + 1]?.tokenType !== sign.openParen) return null;
  if (isAnyWord(before) && !beforeCondition.has(before?.tokenType)) return null;
  if (!/^(?:has|exists|defined|isset|present|is_set|is_defined)$/i.test(tokens[index]!.image)) return null;
  const closing = closingNear(index + 1, state);
  const path = closing === null ? null : pathBefore(closing, state);
  if (closing === null || path === null || path.length !== closing - index - 2 || path.length < 3)
    return null;
  const foreign = writing('presence is asked for by `has`', presenceOf(path.text));
  return instead({ index, taken: closing - index + 1 }, foreign, [hole(tokens[index]!)], state);
}

/** `startswith(payload.vendor, "a")`. */
function repairRelationCall(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const name = tokens[index]!;
  const words = relationOf(name.image);
  const closing = words === null ? null : closingNear(index + 1, state);
  const comma = closing === null ? null : signWithin(sign.comma, [index + 1, closing], state);
  if (words === null || closing === null || comma === null || comma < index + 3 || comma + 1 >= closing)
    return null;
  const left = writtenText(tokens[index + 2]!, tokens[comma - 1]!, state);
  const right = writtenText(tokens[comma + 1]!, tokens[closing - 1]!, state);
  const message = `\`${name.image}\` is no function: it stands between the two`;
  const run = { index, taken: closing - index + 1 };
  if (words === 'contains') {
    return instead(run, { message, help: containsHelp(left, right), write: null }, [hole(name)], state);
  }
  return instead(run, writing(message, `${left} ${words} ${right}`), [hole(name)], state);
}

/** `now()`. */
function repairWordCall(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const name = tokens[index]!;
  if (name.image !== 'now' || tokens[index + 2]?.tokenType !== sign.closeParen) return null;
  return instead(
    { index, taken: 3 },
    writing('`now` is no function', 'now'),
    [retype(name, NameToken)],
    state,
  );
}

const quantifiers = {
  any: 'some',
  some: 'some',
  exists: 'some',
  all: 'every',
  every: 'every',
  none: 'no',
} as const;

function quantifierOf(name: string): 'some' | 'every' | 'no' | null {
  return Object.hasOwn(quantifiers, name) ? quantifiers[name as keyof typeof quantifiers] : null;
}

/** `any(xs, x => c)`, `any(x in xs, c)` and `any(c for x in xs)`. */
export function repairLambda(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const quantifier = quantifierOf(tokens[index]!.image);
  const closing = quantifier === null ? null : closingNear(index + 1, state);
  if (quantifier === null || closing === null || tokens[index + 1]?.tokenType !== sign.openParen) return null;
  const text = writtenText(tokens[index]!, tokens[closing]!, state);
  const parts =
    /^\w+\(\s*(?<list>[\w.]+)\s*,\s*\(?(?<name>\w+)\)?\s*=>\s*(?<body>.*)\)$/s.exec(text) ??
    /^\w+\(\s*(?<body>[\s\S]*?)\s+for\s+(?<name>\w+)\s+in\s+(?<list>[\w.]+)\s*\)$/.exec(text) ??
    /^\w+\(\s*(?<name>\w+)\s+in\s+(?<list>[\w.]+)\s*[,:]\s*(?<body>.*)\)$/s.exec(text);
  if (parts?.groups === undefined) return null;
  const { list, name, body } = parts.groups;
  const foreign = writing(
    `a list is gone through by \`${quantifier}\``,
    `${quantifier} ${name} in ${list} (${body})`,
  );
  return instead({ index, taken: closing - index + 1 }, foreign, [hole(tokens[index]!)], state);
}

/** `.startsWith("a")`, and what is called on it in turn: values have no methods. */
export function repairMethod(index: number, state: RepairState): Repair | null {
  const { tokens } = state;
  const path = pathBefore(index - 1, state);
  const isBody = isQuantified(index - 2, state);
  let text = path?.text ?? 'x';
  let foreign: Foreign | null = null;
  let next = index;
  while (
    isAnyWord(tokens[next]) &&
    tokens[next + 1]?.tokenType === sign.openParen &&
    !foreign?.write?.includes(' ')
  ) {
    const closing = closingNear(next + 1, state);
    if (closing === null || (isBody && tokens[closing + 1]?.tokenType !== sign.openParen)) break;
    const shown = closing > next + 2 ? writtenText(tokens[next + 2]!, tokens[closing - 1]!, state) : '';
    foreign = methodWritten(tokens[next]!.image, text, shown);
    text = foreign.write ?? text;
    next = closing + 1;
    if (foreign.write === null || tokens[next]?.tokenType !== sign.dot) break;
    next++;
  }
  if (foreign === null) return null;
  const end = tokens[next - 1]?.tokenType === sign.dot ? next - 1 : next;
  const message = `\`${tokens[index]!.image}\` is no method: values have none`;
  const isWhole = path !== null && !(foreign.write?.includes(' ') && comparing.has(tokens[end]?.tokenType));
  const before = path === null ? 0 : path.length + 1;
  const filled = path === null ? [retype(tokens[index]!, NameToken)] : [hole(tokens[index - before]!)];
  const better = { ...foreign, message, write: isWhole ? foreign.write : null };
  return instead({ index, before, taken: end - index }, better, filled, state);
}

/** Whether a path that ends at an index is a list of a quantifier, whose condition stands in parentheses behind it. */
function isQuantified(index: number, { tokens }: RepairState): boolean {
  let depth = 0;
  for (let at = index; at >= 2 && index - at < lookaheadMax && depth >= 0; at--) {
    const { tokenType } = tokens[at]!;
    if (closing.has(tokenType)) depth++;
    if (opening.has(tokenType)) depth--;
    if (depth !== 0) continue;
    if (tokenType === word.in) {
      return [tokens[at - 1]!, tokens[at - 2]!].some((before) => goesThrough.has(before.tokenType));
    }
    if (beforeCondition.has(tokenType) || comparing.has(tokenType)) return false;
  }
  return false;
}

const opening: ReadonlySet<unknown> = new Set([sign.openParen, sign.openSquare, sign.openCurly]);
const closing: ReadonlySet<unknown> = new Set([sign.closeParen, sign.closeSquare, sign.closeCurly]);
const goesThrough = wordTypes('some', 'every', 'no', 'sum', 'count');

function methodWritten(method: string, path: string, shown: string): Foreign {
  const small = method.toLowerCase();
  const message = '';
  const words = relationOf(method);
  if (words === 'contains') return { message, help: containsHelp(path, shown), write: null };
  if (words !== null) return writing(message, `${path} ${words} ${shown}`);
  if (/^(?:has|hasownproperty|exists)$/.test(small)) {
    const field = shown.replaceAll(/["']/g, '');
    return writing(message, presenceOf(`${path}.${field || '...'}`));
  }
  if (/^(?:to_?lower(?:_?case)?|lower|casefold)$/.test(small)) return writing(message, `lower(${path})`);
  if (/^(?:len|length|size|count)$/.test(small)) return writing(message, `length(${path})`);
  if (/^(?:strip|trim)$/.test(small)) return writing(message, `trim(${path})`);
  if (/^(?:equals|eq)$/.test(small)) return writing(message, `${path} == ${shown}`);
  if (/^(?:match|matches|test)$/.test(small)) {
    return { message, help: `write \`${path} matches '...'\`, which matches the whole text`, write: null };
  }
  const quantifier = quantifierOf(small);
  if (quantifier !== null) {
    const [, name = 'x', body = '...'] = /^\(?(\w+)\)?\s*=>\s*(.+)$/s.exec(shown) ?? [];
    const write = `${quantifier} ${name} in ${path} (${body})`;
    return { message, help: `write \`${write}\``, write: body === '...' ? null : write };
  }
  return {
    message,
    help: 'write an operator, such as `starts with`, or a function, such as `length(x)`',
    write: null,
  };
}

function relationOf(name: string): string | null {
  const small = name.toLowerCase();
  return Object.hasOwn(relations, small) ? relations[small]! : null;
}

function containsHelp(path: string, part: string): string {
  return `write \`${path} contains ${part}\` for a part of a text, \`${part} in ${path}\` for an element`;
}
