// Turns plain data into bytes, and back. Records are written by their form, which includes kinds, truth
// values and nulls, so most nodes of a program take two or three bytes. Texts and forms are in a list beside
// the bytes, each once. INVARIANT: what is read equals what was written, with keys in order, and with absent
// keys distinguished from undefined ones.

import type { ByteReader, ByteWriter } from '../../value/table/bytes.ts';

/** The texts of one block, numbered in the order of first use. */
export interface TextPool {
  /** Returns the text's number, and adds the text when it is new. */
  index(text: string): number;
  readonly texts: readonly string[];
}

export function createTextPool(): TextPool {
  const indexes = new Map<string, number>();
  const texts: string[] = [];
  return {
    texts,
    index: (text) => {
      const cached = indexes.get(text);
      if (cached !== undefined) return cached;
      indexes.set(text, texts.length);
      return texts.push(text) - 1;
    },
  };
}

/**
 * The first byte of each value, which says what the value is. Small numbers of texts and forms, small
 * integers and small lengths are part of this byte.
 */
const marks = {
  text: 0x00,
  record: 0x40,
  integer: 0x80,
  array: 0xa0,
  null: 0xb0,
  true: 0xb1,
  false: 0xb2,
  undefined: 0xb3,
  longText: 0xb4,
  longRecord: 0xb5,
  longInteger: 0xb6,
  double: 0xb7,
  bigint: 0xb8,
  negativeBigint: 0xb9,
  longArray: 0xba,
  map: 0xbb,
  /** An array of records with one form, written field by field. */
  table: 0xbc,
  /** An array of texts that all occur for the first time, so their numbers follow one another. */
  newTexts: 0xbd,
  int32: 0xbe,
  float64: 0xbf,
  bytes: 0xc0,
} as const;

const integersShort = 0x20;

/**
 * How numbers of one kind are marked: each number below `count` has a mark of its own; larger numbers have
 * one common mark, followed by the number.
 */
interface NumberEncoding {
  readonly short: number;
  readonly long: number;
  readonly count: number;
}

const numberings = {
  text: { short: marks.text, long: marks.longText, count: 0x40 },
  record: { short: marks.record, long: marks.longRecord, count: 0x40 },
  array: { short: marks.array, long: marks.longArray, count: 0x10 },
} as const satisfies Record<string, NumberEncoding>;

/**
 * The largest whole number that is written as an integer. `ByteWriter.signed` doubles it, and a double
 * represents the result exactly.
 */
const integerMax = 2 ** 51;

/**
 * The fewest records of one form that are written as a table. Shorter arrays are written record by record.
 */
const tableRowsMin = 4;

/** Keys whose text is the kind of something. There are few such texts, so they are part of the form. */
const kindKeys: ReadonlySet<string> = new Set([
  'kind',
  'sort',
  'operator',
  'encoding',
  'builtin',
  'fact',
  'of',
]);

type FixedValue = string | boolean | null;

/** What records of one form have in common: their keys in order, and the values that are part of the form. */
interface Form {
  readonly signature: string;
  /** The keys whose values are written for each record, because they are not part of the form. */
  readonly open: readonly string[];
  readonly fields: readonly Field[];
}

interface Field {
  readonly key: string;
  readonly isFixed: boolean;
  readonly value: FixedValue;
}

/**
 * A node of the tree in which forms are found, by keys and fixed values. The tree grows with the number of
 * forms, which the types bound.
 */
interface FormNode {
  readonly next: Map<unknown, FormNode>;
  form: Form | null;
}

/** Returns a function that appends plain data to the bytes; it throws a TypeError for anything else. */
export function createValueWriter(bytes: ByteWriter, pool: TextPool): (value: unknown) => void {
  const write = (value: unknown): void => {
    switch (typeof value) {
      case 'string':
        writeNumbered(bytes, numberings.text, pool.index(value));
        break;
      case 'number':
        writeNumber(bytes, value);
        break;
      case 'boolean':
        bytes.byte(value ? marks.true : marks.false);
        break;
      case 'undefined':
        bytes.byte(marks.undefined);
        break;
      case 'bigint':
        bytes.byte(value < 0n ? marks.negativeBigint : marks.bigint);
        bytes.bigint(value < 0n ? -value : value);
        break;
      case 'object':
        if (value === null) bytes.byte(marks.null);
        else writeObject(value);
        break;
      default:
        throw new TypeError(`a ${typeof value} is no data`);
    }
  };

  const writeObject = (value: object): void => {
    if (Array.isArray(value)) writeArray(value);
    else if (isPlain(value)) writeRecord(value);
    else if (value instanceof Map) {
      bytes.byte(marks.map);
      writeArray([...value.keys()]);
      writeArray([...value.values()]);
    } else if (value instanceof Int32Array) writeTyped(bytes, marks.int32, value);
    else if (value instanceof Uint8Array) writeBytes(bytes, value);
    else if (value instanceof Float64Array) writeTyped(bytes, marks.float64, value);
    else throw new TypeError('an instance of a class is no data');
  };

  const writeRecord = (record: object): void => {
    const form = formOf(record);
    writeNumbered(bytes, numberings.record, pool.index(form.signature));
    for (const key of form.open) write((record as Readonly<Record<string, unknown>>)[key]);
  };

  const writeArray = (values: readonly unknown[]): void => {
    const isLong = values.length >= tableRowsMin;
    const form = isLong ? commonForm(values) : null;
    if (form !== null) writeTable(form, values as readonly Readonly<Record<string, unknown>>[]);
    else if (isLong && placeNewTexts(values, pool)) {
      bytes.byte(marks.newTexts);
      bytes.integer(pool.texts.length - values.length);
      bytes.integer(values.length);
    } else {
      writeNumbered(bytes, numberings.array, values.length);
      for (const value of values) write(value);
    }
  };

  const writeTable = (form: Form, rows: readonly Readonly<Record<string, unknown>>[]): void => {
    bytes.byte(marks.table);
    bytes.integer(pool.index(form.signature));
    bytes.integer(rows.length);
    for (const key of form.open) writeArray(rows.map((row) => row[key]));
  };

  return write;
}

/** Reads the next value that a writer has written. `textAt` returns the texts of the pool. */
export function readValue(bytes: ByteReader, textAt: (index: number) => string): unknown {
  const mark = bytes.byte();
  if (mark < marks.record) return textAt(mark);
  if (mark < marks.integer) return readRecord(bytes, textAt, mark - marks.record);
  if (mark < marks.array) return mark - marks.integer;
  if (mark < marks.null) return readArray(bytes, textAt, mark - marks.array);
  switch (mark as (typeof marks)[keyof typeof marks]) {
    case marks.null:
      return null;
    case marks.true:
      return true;
    case marks.false:
      return false;
    case marks.undefined:
      return undefined;
    case marks.longText:
      return textAt(bytes.integer());
    case marks.longRecord:
      return readRecord(bytes, textAt, bytes.integer());
    case marks.longInteger:
      return bytes.signed();
    case marks.double:
      return bytes.double();
    case marks.bigint:
      return bytes.bigint();
    case marks.negativeBigint:
      return -bytes.bigint();
    case marks.longArray:
      return readArray(bytes, textAt, bytes.integer());
    case marks.map: {
      const keys = readValue(bytes, textAt) as readonly unknown[];
      const values = readValue(bytes, textAt) as readonly unknown[];
      return new Map(keys.map((key, at) => [key, values[at]]));
    }
    case marks.table:
      return readTable(bytes, textAt);
    case marks.newTexts: {
      const from = bytes.integer();
      return Array.from({ length: bytes.integer() }, (_, at) => textAt(from + at));
    }
    case marks.int32:
      return readTyped(bytes, Int32Array);
    case marks.float64:
      return readTyped(bytes, Float64Array);
    case marks.bytes:
      return bytes.raw(bytes.integer());
    default:
      throw new RangeError(`no value begins with ${mark}`);
  }
}

function readArray(bytes: ByteReader, textAt: (index: number) => string, length: number): unknown[] {
  const values: unknown[] = [];
  for (let left = length; left > 0; left -= 1) values.push(readValue(bytes, textAt));
  return values;
}

function readRecord(bytes: ByteReader, textAt: (index: number) => string, index: number): unknown {
  const record: Record<string, unknown> = {};
  for (const { key, isFixed, value } of formFrom(textAt(index)).fields) {
    put(record, key, isFixed ? value : readValue(bytes, textAt));
  }
  return record;
}

function readTable(bytes: ByteReader, textAt: (index: number) => string): unknown[] {
  const { fields } = formFrom(textAt(bytes.integer()));
  const rows = Array.from({ length: bytes.integer() }, (): Record<string, unknown> => ({}));
  const columns = fields.map(({ isFixed }) =>
    isFixed ? null : (readValue(bytes, textAt) as readonly unknown[]),
  );
  for (const [at, row] of rows.entries()) {
    for (const [field, { key, value }] of fields.entries()) {
      const column = columns[field]!;
      put(row, key, column === null ? value : column[at]);
    }
  }
  return rows;
}

/** Sets any key, including `__proto__`, because a payload may have a field of any name. */
function put(record: Record<string, unknown>, key: string, value: unknown): void {
  if (key !== '__proto__') record[key] = value;
  else Object.defineProperty(record, key, { value, enumerable: true, configurable: true, writable: true });
}

function writeNumbered(bytes: ByteWriter, { short, long, count }: NumberEncoding, value: number): void {
  if (value < count) bytes.byte(short + value);
  else {
    bytes.byte(long);
    bytes.integer(value);
  }
}

function writeNumber(bytes: ByteWriter, value: number): void {
  if (!Number.isInteger(value) || Math.abs(value) > integerMax || Object.is(value, -0)) {
    bytes.byte(marks.double);
    bytes.double(value);
  } else if (value >= 0 && value < integersShort) bytes.byte(marks.integer + value);
  else {
    bytes.byte(marks.longInteger);
    bytes.signed(value);
  }
}

/** Blocks begin at multiples of this number of bytes, so that numbers can be read in place. */
export const alignment = 8;

function writeTyped(bytes: ByteWriter, mark: number, values: Int32Array | Float64Array): void {
  bytes.byte(mark);
  bytes.integer(values.length);
  bytes.align(alignment);
  bytes.raw(new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
}

function writeBytes(bytes: ByteWriter, value: Uint8Array): void {
  bytes.byte(marks.bytes);
  bytes.integer(value.length);
  bytes.raw(value);
}

function readTyped<A extends Int32Array | Float64Array>(
  bytes: ByteReader,
  make: {
    new (buffer: ArrayBufferLike, from: number, length: number): A;
    readonly BYTES_PER_ELEMENT: number;
  },
): A {
  const length = bytes.integer();
  bytes.align(alignment);
  const { buffer, byteOffset } = bytes.raw(length * make.BYTES_PER_ELEMENT);
  return new make(buffer, byteOffset, length);
}

/** Places texts in the pool in order. Returns false if not all values are texts, new to it, and different. */
function placeNewTexts(values: readonly unknown[], pool: TextPool): boolean {
  if (!values.every((value) => typeof value === 'string')) return false;
  const before = pool.texts.length;
  for (const value of values) pool.index(value);
  return pool.texts.length - before === values.length;
}

const rootForm: FormNode = { next: new Map(), form: null };
const formsBySignature = new Map<string, Form>();

function formOf(record: object): Form {
  let node = rootForm;
  for (const key in record) {
    const value = (record as Readonly<Record<string, unknown>>)[key];
    node = step(step(node, key), isPartOfForm(key, value) ? value : rootForm);
  }
  node.form ??= formFrom(signatureOf(record));
  return node.form;
}

function step({ next }: FormNode, by: unknown): FormNode {
  const cached = next.get(by);
  if (cached !== undefined) return cached;
  const node: FormNode = { next: new Map(), form: null };
  next.set(by, node);
  return node;
}

function isPartOfForm(key: string, value: unknown): value is FixedValue {
  if (value === null || typeof value === 'boolean') return true;
  return typeof value === 'string' && kindKeys.has(key);
}

/**
 * Returns the signature of a record's form: its keys in order, each with its value when the value is part of
 * the form.
 */
function signatureOf(record: object): string {
  const fields = Object.entries(record).map(([key, value]) =>
    isPartOfForm(key, value) ? [key, value] : key,
  );
  return JSON.stringify(fields);
}

function formFrom(signature: string): Form {
  const cached = formsBySignature.get(signature);
  if (cached !== undefined) return cached;
  const parsed = JSON.parse(signature) as readonly (string | readonly [string, FixedValue])[];
  const fields = parsed.map((field): Field => {
    return typeof field === 'string'
      ? { key: field, isFixed: false, value: null }
      : { key: field[0], isFixed: true, value: field[1] };
  });
  const open = fields.filter(({ isFixed }) => !isFixed).map(({ key }) => key);
  const form: Form = { signature, open, fields };
  formsBySignature.set(signature, form);
  return form;
}

/** Returns the form that all values have in common; null when they are not records of one form. */
function commonForm(values: readonly unknown[]): Form | null {
  const [first] = values;
  if (!isRecord(first)) return null;
  const form = formOf(first);
  return values.every((value) => isRecord(value) && isOfForm(value, form)) ? form : null;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** Whether `formOf` would return this form for the record. */
function isOfForm(record: Readonly<Record<string, unknown>>, { fields }: Form): boolean {
  let at = 0;
  for (const key in record) {
    const field = fields[at];
    const own = record[key];
    if (field?.key !== key || isPartOfForm(key, own) !== field.isFixed) return false;
    if (field.isFixed && own !== field.value) return false;
    at += 1;
  }
  return at === fields.length;
}
