// Writes plain data as a text that depends only on the content: keys are sorted, maps differ from records and
// exact integers from numbers, and the length is written before each text and name. INVARIANT: two parts have
// the same text only if they are equal.

import { spanKeys } from '../diagnostic/span.ts';

/** Returns the text of plain data; throws TypeError for anything else. */
export function canonical(part: unknown): string {
  return write(part, nothing);
}

/**
 * Returns the text of what declarations mean. Places in files and notes for readers are left out, so that
 * moving a rule does not change the text.
 */
export function canonicalMeaning(declarations: unknown): string {
  return write(declarations, placesAndNotes);
}

/**
 * Whether `canonicalMeaning` of both is equal; stops at the first difference and does not write the texts.
 */
export function isSameMeaning(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) && Array.isArray(b)) return areSameElements(a, b);
  if (ArrayBuffer.isView(a) || ArrayBuffer.isView(b)) return areSameBytes(a, b);
  const keys = Object.keys(a);
  if (!isPlain(a) || !isPlain(b) || !isSameList(keys, Object.keys(b)))
    return canonicalMeaning(a) === canonicalMeaning(b);
  for (const key of keys) {
    if (placesAndNotes.has(key)) continue;
    const left = (a as Fields)[key];
    const other = (b as Fields)[key];
    if (!(key === 'type' ? isSameType(left, other, a) : isSameMeaning(left, other))) return false;
  }
  return true;
}

function areSameElements(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((one, at) => isSameMeaning(one, b[at]));
}

function isPlain(one: object): boolean {
  return !Array.isArray(one) && !(one instanceof Map);
}

function isSameList(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((key, at) => key === b[at]);
}

function areSameBytes(a: object, b: object): boolean {
  const isBytes = (one: object): one is Uint8Array | Int32Array =>
    one instanceof Uint8Array || one instanceof Int32Array;
  if (!isBytes(a) || !isBytes(b) || a.constructor !== b.constructor || a.length !== b.length) return false;
  return a.every((one, at) => one === b[at]);
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Compares the types of two owners. Of a literal only the kind of its type counts; the caller compares the
 * kinds of the owners.
 */
function isSameType(a: unknown, b: unknown, owner: object): boolean {
  const kind = kindOf(a);
  if (kind === undefined || kind !== kindOf(b)) return isSameMeaning(a, b);
  return (kindOf(owner) === 'literal' && kind !== 'list') || isSameMeaning(a, b);
}

function kindOf(part: unknown): unknown {
  return typeof part === 'object' && part !== null ? (part as Fields).kind : undefined;
}

const nothing: ReadonlySet<string> = new Set();
const placesAndNotes: ReadonlySet<string> = new Set([...spanKeys, 'doc']);

function write(part: unknown, omitted: ReadonlySet<string>): string {
  const pieces: string[] = [];
  gather(part, omitted, pieces);
  return pieces.join('');
}

/** Adds pieces to one array, which is joined once: most parts are small, and there are many. */
function gather(part: unknown, omitted: ReadonlySet<string>, pieces: string[]): void {
  switch (typeof part) {
    case 'string':
      pieces.push(String(part.length), '"', part);
      break;
    case 'boolean':
    case 'undefined':
      pieces.push(String(part));
      break;
    case 'number':
      pieces.push(Object.is(part, -0) ? '-0' : String(part));
      break;
    case 'bigint':
      pieces.push(String(part), 'n');
      break;
    case 'object':
      if (part === null) pieces.push('null');
      else gatherObject(part, omitted, pieces);
      break;
    default:
      throw new TypeError(`a ${typeof part} is no data`);
  }
}

function gatherObject(part: object, omitted: ReadonlySet<string>, pieces: string[]): void {
  if (Array.isArray(part)) {
    pieces.push('[');
    for (const element of part) {
      gather(element, omitted, pieces);
      pieces.push(',');
    }
    pieces.push(']');
  } else if (part instanceof Uint8Array) gatherBytes(part, pieces);
  else if (part instanceof Int32Array) gatherBytes(bytesOf(part), pieces);
  else if (part instanceof Map) {
    const entries = [...part].map(([key, value]) => [write(key, omitted), write(value, omitted)] as const);
    pieces.push('map(');
    for (const [key, value] of entries.sort(([a], [b]) => (a < b ? -1 : 1)))
      pieces.push(key, ':', value, ',');
    pieces.push(')');
  } else gatherRecord(part as Readonly<Record<string, unknown>>, omitted, pieces);
}

/** The number of bytes that become one piece. */
const bytesInPiece = 8_192;

/** Writes each byte as one code unit, after the number of bytes. */
function gatherBytes(bytes: Uint8Array, pieces: string[]): void {
  pieces.push(String(bytes.length), 'bytes');
  for (let at = 0; at < bytes.length; at += bytesInPiece) {
    const piece = bytes.subarray(at, at + bytesInPiece);
    pieces.push(String.fromCharCode.apply(null, piece as unknown as number[]));
  }
}

/** Returns the bytes of the numbers, lowest byte first: all machines that run this are little-endian. */
function bytesOf({ buffer, byteOffset, byteLength }: Int32Array): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function gatherRecord(
  record: Readonly<Record<string, unknown>>,
  omitted: ReadonlySet<string>,
  pieces: string[],
): void {
  pieces.push('{');
  for (const { key, mark } of sortedKeys(record)) {
    if (omitted.has(key)) continue;
    pieces.push(mark);
    if (key === 'type') pieces.push(typeText(record.type, record, omitted));
    else gather(record[key], omitted, pieces);
    pieces.push(',');
  }
  pieces.push('}');
}

interface Key {
  readonly key: string;
  /** The length and the name of the key, written before the value. */
  readonly mark: string;
}

/**
 * A node of a tree of key orders. Records of one type have the same keys in the same order, so their sorted
 * keys are found by walking the tree. The number of types bounds the tree's size.
 */
interface KeyNode {
  readonly next: Map<string, KeyNode>;
  sorted: readonly Key[] | null;
}

const noKeys: KeyNode = { next: new Map(), sorted: null };

function sortedKeys(record: object): readonly Key[] {
  const keys = Object.keys(record);
  let node = noKeys;
  for (const key of keys) {
    let next = node.next.get(key);
    if (next === undefined) {
      next = { next: new Map(), sorted: null };
      node.next.set(key, next);
    }
    node = next;
  }
  node.sorted ??= keys.sort().map((key): Key => ({ key, mark: `${key.length}"${key}:` }));
  return node.sorted;
}

/**
 * Texts of types, computed once because many expressions share a type. A type holds neither places nor notes.
 */
const types = new WeakMap<object, string>();

function typeText(type: unknown, owner: object, omitted: ReadonlySet<string>): string {
  if (omitted !== placesAndNotes || typeof type !== 'object' || type === null) return write(type, omitted);
  const { kind } = type as { readonly kind?: unknown };
  // The type of a constant adds nothing to its value except the kind of the value.
  if ((owner as { readonly kind?: unknown }).kind === 'literal' && kind !== 'list')
    return write(kind, omitted);
  const cached = types.get(type) ?? write(type, omitted);
  types.set(type, cached);
  return cached;
}
