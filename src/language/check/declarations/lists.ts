// Turns list declarations into lists: entries of one type, written in place, joined from other lists or read
// from a file. Entries keep the order and the letters in which they are written.

import type { List } from '../../model/policy.ts';
import { anyText, quantity, type Type } from '../../model/type.ts';
import type { Value } from '../../model/value.ts';
import type { ListDeclaration, ListSource, LiteralNode, TypeNode } from '../../syntax/tree/tree.ts';
import { canonicalText } from '../../value/canonical-text.ts';
import { isCurrency, isInUnits } from '../../value/currency.ts';
import { type Decimal, isInteger, parseDecimal } from '../../value/decimal.ts';
import { type Cidr, canonicalNetwork, isNetworkWithin, parseNetwork } from '../../value/ip.ts';
import { isMixedScript } from '../../value/scripts.ts';
import { fold, hasBidiControls } from '../../value/text.ts';
import { parseDate, parseDuration, parseInstantLiteral } from '../../value/time.ts';
import { declaredNames, findDeclared } from '../expressions/declared-names.ts';
import { resolveType } from '../expressions/types.ts';
import type { Environment } from '../incremental/environment.ts';
import { memoized } from '../incremental/memoized.ts';
import { isCaseless, moneyType, readerOf, readLiteral, readLiteralAs } from '../logic/literals.ts';
import { sameOrNew } from '../logic/same.ts';
import { commonType } from '../logic/type-relations.ts';
import { followDependencies } from '../messages/dependencies.ts';
import { tooDeepDeclaration } from '../messages/errors.ts';
import type { FileEntry } from '../messages/list-files.ts';
import { cidrInvalid } from '../messages/type-errors.ts';
import {
  caseOnOtherType,
  entryMismatch,
  entryTwice,
  fileEntriesInvalid,
  listCyclic,
  listEmpty,
  listEntryBidi,
  listEntryMixedScript,
  listJoinCase,
  listJoinMismatch,
  listTypeUnfit,
  networkContained,
} from '../messages/value-errors.ts';
import { entriesOfFile } from './file-entries.ts';

/** Fills `env.lists`. A list in error is left out. */
export function resolveLists(env: Environment): void {
  findEndlessLists(env);
  for (const declaration of env.declarations.ofKind('list')) resolveList(declaration, env);
}

/** Reports lists that are joined into themselves, and lists whose joins nest too deep. */
function findEndlessLists(env: Environment): void {
  const joined = (name: string): readonly string[] => {
    const declaration = env.declarations.get(name);
    if (declaration?.kind !== 'list' || declaration.source.kind !== 'join') return [];
    return declaration.source.lists.map((list) => list.text);
  };
  const { circles, tooDeep } = followDependencies(declaredNames(env, 'list'), joined);
  for (const { name } of env.declarations.ofKind('list')) {
    const circle = circles.get(name.text);
    if (circle !== undefined) env.report(listCyclic(name, circle));
    else if (tooDeep.has(name.text)) env.report(tooDeepDeclaration(name));
  }
  for (const name of [...circles.keys(), ...tooDeep]) env.endless.add(name);
}

interface Entries {
  readonly type: Type;
  readonly entries: readonly Value[];
}

/** Returns the list; null when it is in error. Reads of a list in error cause no second diagnostic. */
function resolveList(declaration: ListDeclaration, env: Environment): List | null {
  const name = declaration.name.text;
  if (env.query('isEndless', name)) return null;
  const list = memoized(env, declaration, () => {
    const read = readList(declaration, env);
    if (read === null) env.leaveOut(declaration.span);
    return read === null ? null : likeBefore(read, env.checkState.before.lists.get(name));
  });
  if (list !== null) env.lists.set(name, list);
  return list;
}

/**
 * Returns the previous list when it holds the same values. Otherwise an equal type keeps its identity,
 * because conditions rest on it.
 */
function likeBefore(list: List, before: List | undefined): List {
  return sameOrNew(before, { ...list, type: sameOrNew(before?.type, list.type) });
}

function readList(declaration: ListDeclaration, env: Environment): List | null {
  const declared = declaredType(declaration, env);
  if (declared === null) return null;
  const entries = readSource(declaration, env, declared);
  if (entries === null) return null;
  if (entries.entries.length === 0 && !declaration.mayBeEmpty) env.report(listEmpty(declaration));
  const ignoringCase = declaration.ignoringCase || isCaseless(entries.type);
  if (ignoringCase && entries.type.kind !== 'text')
    env.report(caseOnOtherType(declaration.name, entries.type));
  return { name: declaration.name.text, type: entries.type, ignoringCase, entries: entries.entries };
}

/**
 * Returns the type that the list declares; undefined when the list declares none, null when a list cannot
 * have the declared type.
 */
function declaredType(declaration: ListDeclaration, env: Environment): Type | null | undefined {
  const { elementType } = declaration;
  if (elementType === null) return undefined;
  if (isNetworkType(elementType, env)) return networkType;
  const slot = resolveType(elementType, env);
  if (slot === null) return null;
  const isPlain = !slot.isNullable && !slot.isSecret && !slot.isSigned;
  if (isPlain && !['list', 'record', 'any', 'money'].includes(slot.type.kind)) return slot.type;
  env.report(listTypeUnfit(elementType.span, slot));
  return null;
}

/** Networks and addresses, in which an `ip` can be looked up. Only lists hold values of this type. */
const networkType: Type = { ...anyText, of: 'network' };

function isNetworkType(node: TypeNode, env: Environment): boolean {
  if (node.kind !== 'named-type' || node.name.text !== 'network') return false;
  return node.range === null && node.pattern === null && env.query('kind', 'network') === undefined;
}

function isNetworks(type: Type): boolean {
  return type.kind === 'text' && type.of === 'network';
}

function readSource(
  declaration: ListDeclaration,
  env: Environment,
  declared: Type | undefined,
): Entries | null {
  const { source } = declaration;
  switch (source.kind) {
    case 'entries':
      return readWritten(declaration, source.entries, env, declared);
    case 'join':
      return joinLists(declaration, source, env, declared);
    case 'list-file':
      return readFile(source, env, declared);
  }
}

function readWritten(
  declaration: ListDeclaration,
  nodes: readonly LiteralNode[],
  env: Environment,
  declared: Type | undefined,
): Entries | null {
  const type = declared ?? inferredEntryType(nodes);
  const entries: Value[] = [];
  const seen = new Map<string, LiteralNode>();
  for (const node of nodes) {
    const value = readEntry(node, type, env);
    if (value === null) continue;
    if (typeof value === 'string') reportOddText(node, value, env);
    const key = entryKey(value, declaration.ignoringCase);
    const earlier = seen.get(key);
    if (earlier !== undefined) env.report(entryTwice(node, earlier));
    else seen.set(key, node);
    entries.push(value);
  }
  if (entries.length < nodes.length) return null;
  if (isNetworks(type)) reportWithin(nodes, entries, env);
  return { type, entries };
}

function readEntry(node: LiteralNode, type: Type, env: Environment): Value | null {
  if (type.kind === 'money') return readMoney(node, env);
  if (!isNetworks(type) || node.kind !== 'text') return readLiteralAs(node, type, env);
  const network = parseNetwork(node.value);
  if (!('error' in network)) return canonicalNetwork(node.value);
  env.report(cidrInvalid(node.span, network.error));
  return null;
}

/** Reports each network that lies within another network of the list: it adds nothing. */
function reportWithin(nodes: readonly LiteralNode[], entries: readonly Value[], env: Environment): void {
  const networks = entries.flatMap((entry, at) => {
    const network = parseNetwork(String(entry));
    return 'error' in network ? [] : [{ network, node: nodes[at]!, text: String(entry) }];
  });
  const inOrder = networks.toSorted(
    (a, b) => a.network.family - b.network.family || compareBits(a.network, b.network),
  );
  let outer = inOrder[0];
  for (const one of inOrder.slice(1)) {
    const isEqual = outer?.text === one.text;
    if (outer !== undefined && !isEqual && isNetworkWithin(one.network, outer.network))
      env.report(networkContained(one.node, one.text, outer));
    else if (!isEqual) outer = one;
  }
}

/** Orders networks by first address; of networks with the same first address the largest comes first. */
function compareBits(a: Cidr, b: Cidr): number {
  return a.bits < b.bits ? -1 : a.bits > b.bits ? 1 : a.prefix - b.prefix;
}

/**
 * Returns the type of entries for which none is declared: the type of the first entry; `number` when any of
 * the numbers has a fraction.
 */
export function inferredEntryType(nodes: readonly LiteralNode[]): Type {
  const [first] = nodes;
  switch (first?.kind) {
    case 'number': {
      const numbers = nodes.filter((node) => node.kind === 'number');
      const isWhole = numbers.every((node) =>
        isInteger(parseDecimal(node.text) ?? { coefficient: 0n, exponent: 0 }),
      );
      return quantity(isWhole ? 'integer' : 'number');
    }
    case 'money':
      return moneyType;
    case 'date':
    case 'duration':
      return quantity(first.kind);
    case 'instant':
      return quantity('timestamp');
    case 'boolean':
      return { kind: 'boolean' };
    default:
      return anyText;
  }
}

function readMoney(node: LiteralNode, env: Environment): Value | null {
  if (node.kind === 'money') return readLiteral(node, env);
  env.report(entryMismatch(node, moneyType));
  return null;
}

function reportOddText(node: LiteralNode, text: string, env: Environment): void {
  if (hasBidiControls(text)) env.report(listEntryBidi(node.span, text));
  else if (isMixedScript(text)) env.report(listEntryMixedScript(node.span, text));
}

function entryKey(value: Value, ignoringCase: boolean): string {
  if (typeof value === 'string') return ignoringCase ? fold(value) : value;
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? String(part) : part));
}

function joinLists(
  declaration: ListDeclaration,
  source: Extract<ListSource, { kind: 'join' }>,
  env: Environment,
  declared: Type | undefined,
): Entries | null {
  let type = declared;
  const entries: Value[] = [];
  for (const name of source.lists) {
    const joined = findDeclared(env, name, 'list') ? env.query('declaration', name.text) : undefined;
    const list = joined?.kind === 'list' ? resolveList(joined, env) : null;
    if (list === null) return null;
    const merged = type === undefined ? list.type : joinedType(type, list.type);
    if (merged === null) {
      env.report(listJoinMismatch(name, list.type, type ?? list.type));
      return null;
    }
    if (list.ignoringCase && !declaration.ignoringCase) env.report(listJoinCase(name, declaration.name));
    type = merged;
    for (const entry of list.entries) entries.push(entry);
  }
  const joined = declared ?? type ?? anyText;
  return { type: joined, entries: entries.map((entry) => spelt(entry, joined)) };
}

/**
 * Returns the type of two lists joined, null when the types do not fit. Free texts joined with texts of a
 * kind, such as hosts, are read as that kind.
 */
function joinedType(a: Type, b: Type): Type | null {
  const merged = commonType(a, b);
  if (merged !== null || a.kind !== 'text' || b.kind !== 'text') return merged;
  if (a.of !== 'string' && b.of !== 'string') return null;
  return { ...anyText, of: a.of === 'string' ? b.of : a.of };
}

function spelt(entry: Value, type: Type): Value {
  return type.kind === 'text' && typeof entry === 'string' ? (canonicalText(type.of, entry) ?? entry) : entry;
}

function readFile(
  source: Extract<ListSource, { kind: 'list-file' }>,
  env: Environment,
  declared: Type | undefined,
): Entries | null {
  const entries = entriesOfFile(source.path, env);
  return entries === null ? null : convertEntries(source, entries, env, declared);
}

function convertEntries(
  source: Extract<ListSource, { kind: 'list-file' }>,
  found: readonly FileEntry[],
  env: Environment,
  declared: Type | undefined,
): Entries | null {
  const isNumeric = found.length > 0 && found.every((entry) => typeof entry.value === 'number');
  const type = declared ?? (isNumeric ? quantity('number') : anyText);
  const wrong: FileEntry[] = [];
  const entries: Value[] = [];
  const read = readerOf(type);
  for (const entry of found) {
    const value = parseEntry(entry, type, read);
    if (value === null) wrong.push(entry);
    else entries.push(value);
    if (typeof value !== 'string') continue;
    if (hasBidiControls(value)) env.report(listEntryBidi(source.path.span, value, entry.line));
    else if (isMixedScript(value)) env.report(listEntryMixedScript(source.path.span, value, entry.line));
  }
  if (wrong.length === 0) return { type, entries };
  env.report(fileEntriesInvalid(source.path, wrong, type));
  return null;
}

/**
 * Reads an entry of a file as a value of the list's type, in the form of that type's literals; null when it
 * is no such value.
 */
function parseEntry(entry: FileEntry, type: Type, read: (value: Value) => Value | null): Value | null {
  const { text } = entry;
  switch (type.kind) {
    case 'text':
    case 'ip':
    case 'datetime':
      return typeof entry.value === 'string' ? read(entry.value) : null;
    case 'number':
    case 'integer': {
      const value = parseDecimal(text);
      return value === null ? null : read(value);
    }
    case 'money': {
      const [, amount = '', currency = ''] = /^(\S+) ([A-Z]{3})$/.exec(text) ?? [];
      const value: Decimal | null = parseDecimal(amount);
      const isAmount = value !== null && isCurrency(currency) && isInUnits(value, currency);
      return isAmount ? { amount: value, currency } : null;
    }
    case 'duration':
      return parseDuration(text);
    case 'date':
      return parseDate(text);
    case 'timestamp':
      return parseInstantLiteral(text);
    case 'boolean':
      return text === 'true' ? true : text === 'false' ? false : null;
    case 'list':
    case 'record':
    case 'any':
      return null;
  }
}
