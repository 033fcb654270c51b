// Turns text into a JSON value, strictly by RFC 8259 and RFC 7493, one character after another: the
// definition of what the service reads. Reports the place of the first fault, which the fast path in
// read-json.ts does not.

import type { Json } from '../model/json.ts';
import { numberFault } from './number.ts';

export type ParseResult =
  | { readonly ok: true; readonly value: Json }
  | { readonly ok: false; readonly fault: Fault };

interface Fault {
  /** RFC 6901 pointer to the member or element that was being read. */
  readonly pointer: string;
  /** Offset of the fault, in UTF-16 units from the start of the text. */
  readonly index: number;
  readonly detail: string;
}

/**
 * Parses a text as one JSON value. Never throws. A value on its own has depth 0, `[]` and `{}` have depth 1.
 */
export function parseJson(text: string, depthMax: number): ParseResult {
  const cursor: Cursor = { text, depthMax, index: 0, path: [] };
  try {
    if (text.startsWith('\ufeff')) refuse(cursor, 'the body begins with a byte order mark');
    skipSpace(cursor);
    if (text === '' || cursor.index === text.length) refuse(cursor, 'the body is empty');
    const value = parseValue(cursor);
    skipSpace(cursor);
    if (cursor.index < text.length) refuse(cursor, 'text follows the value');
    return { ok: true, value };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, fault: error.fault };
    throw error;
  }
}

interface Cursor {
  readonly text: string;
  readonly depthMax: number;
  index: number;
  readonly path: (string | number)[];
}

/** Thrown to leave the recursion of `parseValue`; never leaves this file. */
class Refusal extends Error {
  readonly fault: Fault;
  constructor(fault: Fault) {
    super(fault.detail);
    this.fault = fault;
  }
}

function refuse(cursor: Cursor, detail: string, index = cursor.index): never {
  throw new Refusal({ pointer: pointerTo(cursor.path), index, detail });
}

/** Returns a path as an RFC 6901 pointer. */
export function pointerTo(path: readonly (string | number)[]): string {
  return path.map((step) => `/${String(step).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');
}

function parseValue(cursor: Cursor): Json {
  switch (cursor.text[cursor.index]) {
    case undefined:
      return refuse(cursor, 'the text ends where a value should be');
    case '{':
      return parseObject(cursor);
    case '[':
      return parseArray(cursor);
    case '"':
      return parseString(cursor);
    case 't':
      return parseWord(cursor, 'true', true);
    case 'f':
      return parseWord(cursor, 'false', false);
    case 'n':
      return parseWord(cursor, 'null', null);
    default:
      return parseNumber(cursor);
  }
}

function parseObject(cursor: Cursor): Json {
  const object: Record<string, Json> = {};
  enter(cursor, '}');
  while (cursor.text[cursor.index] !== '}') {
    const start = cursor.index;
    if (cursor.text[start] !== '"') refuse(cursor, 'a member name in double quotes is expected here');
    const name = parseString(cursor);
    cursor.path.push(name);
    if (Object.hasOwn(object, name)) refuse(cursor, 'the member name is duplicated in its object', start);
    skipSpace(cursor);
    expect(cursor, ':');
    skipSpace(cursor);
    define(object, name, parseValue(cursor));
    cursor.path.pop();
    separate(cursor, '}');
  }
  cursor.index += 1;
  return object;
}

/** Defines the member instead of assigning it, so that `__proto__` is a member like any other. */
function define(object: Record<string, Json>, name: string, value: Json): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true });
}

function parseArray(cursor: Cursor): Json {
  const array: Json[] = [];
  enter(cursor, ']');
  while (cursor.text[cursor.index] !== ']') {
    cursor.path.push(array.length);
    array.push(parseValue(cursor));
    cursor.path.pop();
    separate(cursor, ']');
  }
  cursor.index += 1;
  return array;
}

/** Steps over an opening bracket and the white space after it. */
function enter(cursor: Cursor, closing: string): void {
  if (cursor.path.length >= cursor.depthMax) {
    refuse(cursor, `arrays and objects may be nested at most ${cursor.depthMax} deep`);
  }
  cursor.index += 1;
  skipSpace(cursor);
  if (cursor.text[cursor.index] === ',') refuse(cursor, `a value or \`${closing}\` is expected here`);
}

/** Steps over the comma between two members or elements; stops at the closing bracket. */
function separate(cursor: Cursor, closing: string): void {
  skipSpace(cursor);
  if (cursor.text[cursor.index] === closing) return;
  if (cursor.text[cursor.index] !== ',') refuse(cursor, `\`,\` or \`${closing}\` is expected here`);
  cursor.index += 1;
  skipSpace(cursor);
  if (cursor.text[cursor.index] === closing)
    refuse(cursor, `a trailing comma before \`${closing}\` is not allowed`);
}

function expect(cursor: Cursor, character: string): void {
  if (cursor.text[cursor.index] !== character) refuse(cursor, `\`${character}\` is expected here`);
  cursor.index += 1;
}

function parseWord(cursor: Cursor, word: string, value: Json): Json {
  if (!cursor.text.startsWith(word, cursor.index)) refuse(cursor, 'a value is expected here');
  cursor.index += word.length;
  return value;
}

const numberAtIndex = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?/y;

function parseNumber(cursor: Cursor): Json {
  numberAtIndex.lastIndex = cursor.index;
  const text = numberAtIndex.exec(cursor.text)?.[0];
  if (text === undefined) return refuse(cursor, 'a value is expected here');
  const fault = numberFault(text);
  if (fault !== null) refuse(cursor, fault);
  cursor.index += text.length;
  // Turns `-0` into `0`: otherwise the two would differ under Object.is and in a digest.
  return Number(text) + 0;
}

function parseString(cursor: Cursor): string {
  const start = cursor.index;
  let value = '';
  cursor.index += 1;
  while (cursor.text[cursor.index] !== '"') {
    const character = cursor.text[cursor.index];
    if (character === undefined) return refuse(cursor, 'the string has no end', start);
    if (character < ' ') refuse(cursor, 'a control character in a string must be escaped');
    cursor.index += 1;
    value += character === '\\' ? parseEscape(cursor) : character;
  }
  if (!value.isWellFormed()) refuse(cursor, 'the string contains a lone surrogate', start);
  cursor.index += 1;
  return value;
}

const escapes: Readonly<Record<string, string>> = {
  '"': '"',
  '\\': '\\',
  '/': '/',
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
};

/** Returns the character that an escape stands for; the cursor is after the backslash. */
function parseEscape(cursor: Cursor): string {
  const letter = cursor.text[cursor.index] ?? '';
  if (letter === 'u') {
    const digits = cursor.text.slice(cursor.index + 1, cursor.index + 5);
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) refuse(cursor, '`\\u` needs four hexadecimal digits');
    cursor.index += 5;
    return String.fromCharCode(Number.parseInt(digits, 16));
  }
  const character = Object.hasOwn(escapes, letter) ? escapes[letter] : undefined;
  if (character === undefined) return refuse(cursor, 'this escape is not one of JSON', cursor.index - 1);
  cursor.index += 1;
  return character;
}

function skipSpace(cursor: Cursor): void {
  while (isSpace(cursor.text.charCodeAt(cursor.index))) cursor.index += 1;
}

function isSpace(code: number): boolean {
  return code === 0x20 || code === 0x0a || code === 0x0d || code === 0x09;
}
