// Makes values to try at a place whose values have no order. As far as values can be made, there is one for
// each side of every condition that reads the place.

import type { Expression } from '../../language/model/expression.ts';
import type { Json } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Slot, TextKind, Type } from '../../language/model/type.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { formatIp, type Ip } from '../../language/value/ip.ts';
import { scriptExamples } from '../../language/value/scripts.ts';
import { rowKeys } from '../../language/value/table/rows.ts';
import type { Atom } from './atoms.ts';
import { sampleJson, textSamples } from './edit.ts';

export interface ValueSource {
  readonly set: PolicySet;
  /** The conditions that read the place. */
  readonly atoms: readonly Atom[];
}

/** How many entries stand for a long list. */
const entriesMax = 20;
const lengthMax = 10_000;
const elementsMax = 8;

/** The values in the order of the conditions; some of them may have another type. */
export function valuesFor(source: ValueSource, slot: Slot, current: Json | undefined): readonly Json[] {
  const { type } = slot;
  switch (type.kind) {
    case 'boolean':
      return [true, false];
    case 'text':
      return type.values ?? textValues(source, type.of, typeof current === 'string' ? current : '');
    case 'ip':
      return ipValues(source);
    case 'list':
      return listValues(source, type.element, Array.isArray(current) ? current : []);
    case 'record':
    case 'any':
      return current === undefined || current === null ? [sampleJson(type)] : [];
    default:
      return [];
  }
}

/** Texts of the kind, made from the constants of the conditions and the current text. */
export function textValues(source: ValueSource, kind: TextKind, current: string): readonly string[] {
  const constants = textConstants(source);
  const without = constants
    .filter((text) => text !== '' && current.includes(text))
    .map((text) => current.replaceAll(text, ''));
  const lengths = lengthsOf(source).flatMap((length) => [length - 1, length, length + 1]);
  const cut = lengths
    .filter((length) => length >= 0 && length <= lengthMax)
    .map((length) => [...current].slice(0, length).join('').padEnd(length, 'x'));
  const empty = kind === 'string' ? [''] : [];
  return distinct([
    ...constants.flatMap((text) => forms[kind](text)),
    textSamples[kind],
    ...without,
    ...cut,
    ...empty,
  ]);
}

export function ipValues({ atoms }: ValueSource): readonly string[] {
  const addresses = atoms.flatMap(({ parts }) => parts.flatMap(ipsOf)).map(formatIp);
  return distinct([...addresses, '192.0.2.1', '198.51.100.1']);
}

/**
 * By kind of text, the values that match a condition which compares such a text, or a part of it, with
 * `text`.
 */
const forms: Readonly<Record<TextKind, (text: string) => readonly string[]>> = {
  string: (text) => [text],
  path: (text) => [text],
  'path ignoring case': (text) => [text],
  host: (text) => [text],
  network: (text) => [text],
  email: (text) => [text, text.startsWith('@') ? `other${text}` : `other@${text}`],
  url: urlForms,
  web_address: urlForms,
};

function urlForms(text: string): readonly string[] {
  const host = text.startsWith('.') ? `www${text}` : text;
  return [text, `https://${host}/`, `${text}://www.example.org/`, `https://www.example.org/${text}`];
}

function textConstants({ set, atoms }: ValueSource): readonly string[] {
  return distinct(atoms.flatMap(({ parts }) => parts.flatMap((part) => textsOf(set, part))));
}

function textsOf(set: PolicySet, part: Expression): readonly string[] {
  switch (part.kind) {
    case 'literal':
      return typeof part.value === 'string' ? [part.value] : [];
    case 'like':
      return [part.pattern.replaceAll('*', ''), part.pattern.replaceAll('*', 'x')];
    case 'in-list':
      return entriesOf(set, part.list);
    case 'in-table':
    case 'column':
      return keysIn(set, part.table);
    case 'single-script':
      return scriptExamples;
    case 'mentions':
      return part.words.kind === 'words' ? part.words.words : entriesOf(set, part.words.list);
    default:
      return [];
  }
}

function entriesOf(set: PolicySet, list: string): readonly string[] {
  return (set.lists.get(list)?.entries ?? [])
    .slice(0, entriesMax)
    .filter((entry) => typeof entry === 'string');
}

function keysIn(set: PolicySet, table: string): readonly string[] {
  const rows = set.tables.get(table)?.rows;
  return rows == null ? [] : firstOf(rowKeys(rows), entriesMax);
}

function firstOf(texts: Iterable<string>, count: number): readonly string[] {
  const first: string[] = [];
  for (const text of texts) if (first.push(text) === count) break;
  return first;
}

/** The numbers that conditions compare a length with. */
function lengthsOf({ atoms }: ValueSource): readonly number[] {
  return atoms
    .filter(({ parts }) => parts.some((part) => part.kind === 'call' && part.builtin === 'length'))
    .flatMap(({ parts }) => parts)
    .flatMap((part) =>
      part.kind === 'literal' && (part.type.kind === 'number' || part.type.kind === 'integer')
        ? [toNumber(part.value as Parameters<typeof toNumber>[0])]
        : [],
    )
    .filter(Number.isInteger);
}

function ipsOf(part: Expression): readonly Ip[] {
  if (part.kind === 'in-cidr') return [part.cidr];
  const isIp = part.kind === 'literal' && part.type.kind === 'ip' && part.value !== null;
  return isIp ? [part.value as Ip] : [];
}

/**
 * The list without one element, empty, with one element replaced, with one element more, and with one element
 * only.
 */
function listValues(source: ValueSource, element: Slot, current: readonly Json[]): readonly Json[] {
  const others = elementValues(source, element.type);
  const firstElements = current.slice(0, elementsMax);
  return [
    ...firstElements.map((_, index) => current.toSpliced(index, 1)),
    [],
    ...firstElements.flatMap((_, index) => others.map((other) => current.with(index, other))),
    ...others.map((other) => [...current, other]),
    ...others.map((other) => [other]),
    ...firstElements.map((one) => [one]),
  ];
}

function elementValues(source: ValueSource, type: Type): readonly Json[] {
  const slot = { type, isNullable: false, isSecret: false, isSigned: false };
  const values = type.kind === 'list' ? [] : valuesFor(source, slot, undefined);
  return [...values.slice(0, entriesMax), ...(values.length === 0 ? [sampleJson(type)] : [])];
}

function distinct(texts: readonly string[]): readonly string[] {
  return [...new Set(texts)];
}
