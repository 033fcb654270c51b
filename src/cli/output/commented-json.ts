// Reads JSON as people keep it in settings files, with a byte order mark, comments and trailing commas, and changes it in
// place. INVARIANT: what stays the same keeps its text, comments included; a text that is not understood is changed by
// nobody.

import { isDeepStrictEqual } from 'node:util';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';

/** A value and where it stands in the text, from its first character to behind its last. */
interface Node {
  readonly value: Json;
  readonly start: number;
  readonly end: number;
  /** The members of an object, or the elements of an array under their numbers. */
  readonly parts: ReadonlyMap<string, Part>;
}

interface Part {
  /** Where the member with its name begins; for an element the same as the start of its node. */
  readonly start: number;
  readonly node: Node;
}

/** The text is not JSON with comments; the message says where and why. */
export class CommentedJsonError extends Error {}

/** The value of the text. Throws a CommentedJsonError, also for an object with the same member twice. */
export function readCommentedJson(text: string): Json {
  return nodeOf(text).value;
}

/**
 * The text with another value: what the two values share keeps its text. Throws a CommentedJsonError, also when the text
 * cannot be changed in place.
 */
export function writeCommentedJson(text: string, value: Json): string {
  const node = nodeOf(text);
  const changed = text.slice(0, node.start) + textOf(text, node, value) + text.slice(node.end);
  if (!isDeepStrictEqual(readCommentedJson(changed), value))
    throw new CommentedJsonError('the file cannot be edited in place');
  return changed;
}

/** The text of a node that has another value now. */
function textOf(text: string, node: Node, value: Json): string {
  if (isDeepStrictEqual(node.value, value)) return text.slice(node.start, node.end);
  if (isJsonObject(node.value) && isJsonObject(value)) return textOfObject(text, node, value);
  if (Array.isArray(node.value) && Array.isArray(value)) return textOfArray(text, node, value);
  return written(value, indentAt(text, node.start));
}

function textOfObject(text: string, node: Node, value: JsonObject): string {
  const values = new Map<Part, Json>();
  for (const [name, part] of node.parts)
    if (Object.hasOwn(value, name)) values.set(part, value[name] as Json);
  const indent = `${indentAt(text, node.start)}  `;
  const added = Object.entries(value)
    .filter(([name]) => !node.parts.has(name))
    .map(([name, one]) => `${JSON.stringify(name)}: ${written(one, indent)}`);
  return joined(text, node, { values, added });
}

/** Elements that both lists have, in their order, stay where they are; new ones follow. */
function textOfArray(text: string, node: Node, value: readonly Json[]): string {
  const values = new Map<Part, Json>();
  const rest = [...value];
  for (const part of node.parts.values()) {
    const [next] = rest;
    if (next === undefined || !isDeepStrictEqual(part.node.value, next)) continue;
    values.set(part, next);
    rest.shift();
  }
  const indent = `${indentAt(text, node.start)}  `;
  return joined(text, node, { values, added: rest.map((one) => written(one, indent)) });
}

interface Parts {
  readonly values: ReadonlyMap<Part, Json>;
  readonly added: readonly string[];
}

/** An object or array of the parts that stay, each with the comments around it, and of new ones. */
function joined(text: string, node: Node, { values: kept, added }: Parts): string {
  const indent = indentAt(text, node.start);
  const segments: { readonly part: string; readonly after: string }[] = [];
  let from = node.start + 1;
  for (const part of node.parts.values()) {
    const { start, node: own } = part;
    const comma = skip(text, own.end);
    const one = kept.get(part);
    if (one !== undefined)
      segments.push({
        part: text.slice(from, own.start) + textOf(text, own, one),
        after: text.slice(own.end, comma),
      });
    from = Math.max(start, text[comma] === ',' ? comma + 1 : comma);
  }
  segments.push(...added.map((one) => ({ part: `\n${indent}  ${one}`, after: '' })));
  const inner = segments
    .map(({ part, after }, at) => `${part}${at < segments.length - 1 ? ',' : ''}${neat(after)}`)
    .join('');
  const before = /\s*$/.exec(text.slice(node.start + 1, node.end - 1))?.[0] ?? '';
  const isOpenLine = added.length > 0 || /\/\/[^\n]*$/.test(inner);
  const closing = isOpenLine && !before.includes('\n') ? `\n${indent}` : before;
  return `${text[node.start]}${inner}${segments.length === 0 ? '' : closing}${text[node.end - 1]}`;
}

/** What follows a part, without white space at its end unless that ends a comment. */
function neat(after: string): string {
  return after.includes('//') ? after : after.trimEnd();
}

function written(value: Json, indent: string): string {
  return JSON.stringify(value, null, 2).replaceAll('\n', `\n${indent}`);
}

/** The white space at the beginning of the line of a place. */
function indentAt(text: string, offset: number): string {
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  return /^[ \t]*/.exec(line)?.[0] ?? '';
}

function nodeOf(text: string): Node {
  const start = text.startsWith('\ufeff') ? 1 : 0;
  const node = readNode(text, skip(text, start), 0);
  const end = skip(text, node.end);
  if (end < text.length) throw fault(text, end, 'the file should end here');
  return node;
}

const depthMax = 64;
const scalar = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|true|false|null/y;

function readNode(text: string, start: number, depth: number): Node {
  if (depth > depthMax) throw fault(text, start, `nested more than ${depthMax} levels deep`);
  if (text[start] === '{') return readParts(text, start, { depth, close: '}' });
  if (text[start] === '[') return readParts(text, start, { depth, close: ']' });
  scalar.lastIndex = start;
  const literal = scalar.exec(text)?.[0];
  if (literal === undefined) throw fault(text, start, 'expected a value');
  try {
    return { value: JSON.parse(literal), start, end: start + literal.length, parts: new Map() };
  } catch {
    throw fault(text, start, 'not a JSON value');
  }
}

interface CommentScan {
  readonly depth: number;
  readonly close: '}' | ']';
}

function readParts(text: string, start: number, { depth, close }: CommentScan): Node {
  const parts = new Map<string, Part>();
  let at = skip(text, start + 1);
  while (text[at] !== close) {
    const from = at;
    let name = String(parts.size);
    if (close === '}') {
      const key = readNode(text, at, depth);
      if (typeof key.value !== 'string') throw fault(text, at, 'expected a property name');
      name = key.value;
      if (parts.has(name)) throw fault(text, at, `the property ${JSON.stringify(name)} appears twice`);
      at = skip(text, key.end);
      if (text[at] !== ':') throw fault(text, at, 'expected `:`');
      at = skip(text, at + 1);
    }
    const node = readNode(text, at, depth + 1);
    parts.set(name, { start: from, node });
    at = skip(text, node.end);
    if (text[at] === ',') at = skip(text, at + 1);
    else if (text[at] !== close) throw fault(text, at, `expected \`,\` or \`${close}\``);
  }
  const entries = [...parts].map(([name, { node }]) => [name, node.value] as const);
  const value = close === '}' ? Object.fromEntries(entries) : entries.map(([, one]) => one);
  return { value, start, end: at + 1, parts };
}

const gap = /(?:[ \t\r\n]+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)*/y;

/** The next place that is neither white space nor within a comment. */
function skip(text: string, start: number): number {
  gap.lastIndex = start;
  return start + (gap.exec(text)?.[0].length ?? 0);
}

function fault(text: string, offset: number, why: string): CommentedJsonError {
  const before = text.slice(0, offset).split('\n');
  return new CommentedJsonError(`line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}: ${why}`);
}
