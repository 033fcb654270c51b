// Reads YAML text into plain values that know their source place. YAML 1.2 core schema: dates stay text, and
// numbers keep their digits long enough to refuse those that a double would change. No other file of this
// folder uses the YAML library.

import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type ParsedNode,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
} from 'yaml';
import type { Diagnostic } from '../language/diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../language/diagnostic/span.ts';
import { numberFault } from '../language/json/number.ts';
import type { Json, JsonObject } from '../language/model/json.ts';

/** A value with its source place. */
export type LocatedValue = LocatedScalar | LocatedList | LocatedMap;

interface LocatedScalar {
  readonly kind: 'scalar';
  readonly value: null | boolean | number | string;
  readonly span: Span;
}

interface LocatedList {
  readonly kind: 'list';
  readonly items: readonly LocatedValue[];
  readonly span: Span;
}

export interface LocatedMap {
  readonly kind: 'map';
  readonly entries: readonly Entry[];
  readonly span: Span;
}

export interface Entry {
  readonly key: string;
  readonly keySpan: Span;
  readonly value: LocatedValue;
}

export type Report = (span: Span, message: string, help?: string) => void;

/** The only document of a file; null, with at least one report, when it cannot be understood. */
export function readYaml(source: SourceText, report: Report): LocatedValue | null {
  const document = parseDocument(source.text, {
    schema: 'core',
    version: '1.2',
    merge: false,
    prettyErrors: false,
  });
  const at = (start: number, end: number): Span => ({ file: source.path, start, end });
  const faults = [...document.errors, ...document.warnings];
  for (const fault of faults) report(at(...fault.pos), describeFault(fault));
  if (faults.length > 0) return null;
  if (document.contents === null) {
    report(at(0, 0), 'the file is empty');
    return null;
  }
  let isWhole = true;
  const fault: Report = (...what) => {
    isWhole = false;
    report(...what);
  };
  const value = convert({ document, at, report: fault, count: 0 }, document.contents, 0);
  return isWhole ? value : null;
}

/** The value without its source places. */
export function toJson(located: LocatedValue): Json {
  switch (located.kind) {
    case 'scalar':
      return located.value;
    case 'list':
      return located.items.map(toJson);
    case 'map':
      // `fromEntries` makes every key an own member, even `__proto__`.
      return Object.fromEntries(located.entries.map(({ key, value }) => [key, toJson(value)]));
  }
}

/** Turns a JSON value into a located one, with `span` as the place of every part. */
export function fromJson(json: Json, span: Span): LocatedValue {
  if (typeof json !== 'object' || json === null) return { kind: 'scalar', value: json, span };
  if (isList(json)) return { kind: 'list', items: json.map((item) => fromJson(item, span)), span };
  const entries = Object.entries(json).map(([key, value]) => ({
    key,
    keySpan: span,
    value: fromJson(value, span),
  }));
  return { kind: 'map', entries, span };
}

/** `Array.isArray` for read-only arrays, whose type it does not narrow. */
function isList(json: readonly Json[] | JsonObject): json is readonly Json[] {
  return Array.isArray(json);
}

/** A diagnostic about a test file. */
export function testDiagnostic(span: Span, message: string, help?: string): Diagnostic {
  const base = { code: 'test-file-malformed', severity: 'error', span, message } as const;
  return help === undefined ? base : { ...base, help };
}

interface Reader {
  readonly document: Document.Parsed;
  readonly at: (start: number, end: number) => Span;
  readonly report: Report;
  count: number;
}

const depthMax = 64;
/** Aliases can multiply what is written. */
const valuesMax = 100_000;
const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/;

function convert(reader: Reader, node: ParsedNode | null, depth: number): LocatedValue {
  const span = node === null ? reader.at(0, 0) : reader.at(node.range[0], node.range[1]);
  const nothing: LocatedValue = { kind: 'scalar', value: null, span };
  reader.count += 1;
  if (depth > depthMax || reader.count > valuesMax) {
    if (reader.count <= valuesMax + 1) reader.report(span, 'too deeply nested, or too much repetition');
    return nothing;
  }
  if (isAlias(node)) {
    const target = node.resolve(reader.document) as ParsedNode | undefined;
    if (target === undefined) reader.report(span, `there is no anchor \`${node.source}\``);
    return convert(reader, target ?? null, depth + 1);
  }
  if (isMap(node)) return { kind: 'map', entries: convertEntries(reader, node, depth), span };
  if (isSeq(node)) {
    return {
      kind: 'list',
      items: node.items.map((item) => convert(reader, item as ParsedNode, depth + 1)),
      span,
    };
  }
  return isScalar(node) ? { kind: 'scalar', value: scalarValue(reader, node, span), span } : nothing;
}

function convertEntries(reader: Reader, map: YAMLMap, depth: number): readonly Entry[] {
  return map.items.flatMap((pair): readonly Entry[] => {
    const key = pair.key as ParsedNode | null;
    const keySpan = key === null ? reader.at(0, 0) : reader.at(key.range[0], key.range[1]);
    if (!isScalar(key) || typeof key.value !== 'string') {
      reader.report(keySpan, 'a key must be text', 'write it in quotes');
      return [];
    }
    const value = pair.value as ParsedNode | null;
    const isAbsent = value === null || value === undefined;
    const absent: LocatedValue = { kind: 'scalar', value: null, span: keySpan };
    return [{ key: key.value, keySpan, value: isAbsent ? absent : convert(reader, value, depth + 1) }];
  });
}

function scalarValue(reader: Reader, node: Scalar, span: Span): null | boolean | number | string {
  const { value } = node;
  if (typeof value === 'number') {
    const text = node.source ?? String(value);
    if (!jsonNumber.test(text)) {
      reader.report(span, `\`${text}\` is not a JSON number`, 'put it in quotes if it is text');
      return 0;
    }
    const fault = numberFault(text);
    if (fault !== null) reader.report(span, fault);
    return value === 0 ? 0 : value;
  }
  return value === null || typeof value === 'boolean' || typeof value === 'string' ? value : String(value);
}

/** The library's message, in the style of the project's messages. */
function describeFault({ code, message }: YAMLError): string {
  if (code === 'MULTIPLE_DOCS') return 'a file must have one document';
  return (message.charAt(0).toLowerCase() + message.slice(1)).replace(/\.$/, '');
}

/**
 * The place for a further item of `tests`, on a line of its own; null when the tests are not a list of lines.
 */
export function insertionPoint({
  text,
}: Pick<SourceText, 'text'>): { readonly offset: number; readonly indent: string } | null {
  const document = parseDocument(text, { schema: 'core', version: '1.2', merge: false });
  if (document.errors.length > 0 || !isMap(document.contents)) return null;
  const tests: unknown = document.get('tests', true);
  if (isScalar(tests) && tests.value === null) return { offset: text.length, indent: '  ' };
  if (!isSeq(tests) || tests.flow === true) return null;
  const [first] = tests.items as ParsedNode[];
  const last = tests.items.at(-1) as ParsedNode | undefined;
  if (first === undefined || last === undefined) return null;
  const dash = text.lastIndexOf('-', first.range[0]);
  const end = text.indexOf('\n', Math.max(0, last.range[1] - 1));
  return {
    offset: end < 0 ? text.length : end + 1,
    indent: ' '.repeat(dash - text.lastIndexOf('\n', dash) - 1),
  };
}
