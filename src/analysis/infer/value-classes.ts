// Finds a kind of class of which the values of a field have only a few: the values themselves, their domains,
// hosts, folders, patterns or beginnings. INVARIANT: every value that was seen is of a class, or is listed as it
// is, and the test of both is true of it; only texts that no policy should hold are left out, so they are refused.

import { quote } from '../../language/syntax/print/expression.ts';
import { domain } from '../../language/value/email.ts';
import { isInside } from '../../language/value/path.ts';
import { compileRegex } from '../../language/value/regex.ts';
import { isMixedScript } from '../../language/value/scripts.ts';
import { hasBidiControls, isScalarText } from '../../language/value/text.ts';
import { parseUrl, parseWebAddress } from '../../language/value/url.ts';

/** A test of a subject, such as `payload.vendor`, as text of the language. */
export type Test = (subject: string) => string;

/** Makes a test of whether a text is one of several, with a list file if there are many. */
export type MembershipTest = (subject: Test, texts: readonly string[], use: 'seen' | 'rare') => Test;

export interface Classification {
  /** What the classes are, such as `folders`. */
  readonly noun: string;
  readonly groups: readonly ValueGroup[];
  /** The test whether a value belongs to one of the groups. */
  readonly testOf: (groups: readonly ValueGroup[], use: 'seen' | 'rare') => Test;
}

/** The values of one class, or one value without a class. */
export interface ValueGroup {
  readonly name: string;
  readonly isClass: boolean;
  readonly count: number;
}

export type TextOf = 'string' | 'email' | 'url' | 'web_address' | 'host' | 'path' | 'path ignoring case';

/** The fewest values from which anything is concluded. */
export const valuesMin = 20;
/**
 * The largest share of values whose class was seen once. This share is the Good–Turing estimate of the
 * probability that the next value belongs to a class that was not seen.
 */
const unseenShareMax = 0.03;
/** So few groups, each with so many values on average, are all that there are, whatever is seen once. */
const fewMax = 12;
const fewValuesPerGroup = 5;
const classesMax = 1_000;
const codeUnitsMax = 500;

/** Null when the values are too many and too different for any kind of class. */
export function classify(
  of: TextOf,
  values: readonly string[],
  membership: MembershipTest,
): Classification | null {
  const valueTest = exactly(membership).testOf;
  for (const classifier of classifiers(of, values, membership)) {
    const groups = groupsOf(values, classifier.classOf);
    if (isClosed(groups, values.length, classifier.max))
      return { noun: classifier.noun, groups, testOf: testOfGroups(classifier.testOf, valueTest) };
  }
  return null;
}

export function isClosed(groups: readonly ValueGroup[], total: number, max: number): boolean {
  const once = groups.filter((group) => group.count === 1 || isLeftOut(group)).length;
  const classes = groups.filter(({ isClass }) => isClass).length;
  const isFew = groups.length <= fewMax && groups.length * fewValuesPerGroup <= total;
  return (isFew || once / total <= unseenShareMax) && classes > 0 && classes <= max;
}

/** Whether the group is a value that no policy should hold. */
export function isLeftOut({ isClass, name }: ValueGroup): boolean {
  return !isClass && !isListed(name);
}

export function groupsOf(values: readonly string[], classOf: Classifier['classOf']): readonly ValueGroup[] {
  const groups = new Map<string, { name: string; isClass: boolean; count: number }>();
  for (const value of values) {
    const own = classOf(value);
    const key = JSON.stringify([own === null, own ?? value]);
    const group = groups.get(key) ?? { name: own ?? value, isClass: own !== null, count: 0 };
    group.count += 1;
    groups.set(key, group);
  }
  return [...groups.values()].toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function testOfGroups(
  classTest: Classifier['testOf'],
  valueTest: Classifier['testOf'],
): Classification['testOf'] {
  return (groups, use) => {
    const namesOf = (wanted: boolean): readonly string[] =>
      groups.filter(({ isClass }) => isClass === wanted).map(({ name }) => name);
    const [classes, values] = [namesOf(true), namesOf(false)];
    const tests = [
      ...(classes.length === 0 ? [] : [classTest(classes, use)]),
      ...(values.length === 0 ? [] : [valueTest(values, use)]),
    ];
    if (tests.length === 1) return tests[0]!;
    return (subject) => tests.map((test) => `(${test(subject)})`).join(' or ');
  };
}

interface Classifier {
  readonly noun: string;
  readonly max: number;
  /** Null for a value without a class. */
  readonly classOf: (value: string) => string | null;
  readonly testOf: (classes: readonly string[], use: 'seen' | 'rare') => Test;
}

/** The narrowest first. */
function classifiers(
  of: TextOf,
  values: readonly string[],
  membership: MembershipTest,
): readonly Classifier[] {
  const exact = exactly(membership);
  switch (of) {
    case 'email':
      return [exact, ...domains(domain, (subject) => `domain(${subject})`, membership)];
    case 'url':
    case 'web_address':
      return [exact, ...hosts(of, values, membership)];
    case 'host':
      return [
        exact,
        ...domains(
          (host) => host,
          (subject) => subject,
          membership,
        ).slice(1),
      ];
    case 'path':
      return [exact, folders(values)];
    case 'path ignoring case':
      return [folders(values)];
    case 'string':
      return [exact, patterns(values), beginnings];
  }
}

function exactly(membership: MembershipTest): Classifier {
  const classOf = (value: string): string | null => (isListed(value) ? value : null);
  const testOf: Classifier['testOf'] = (texts, use) => membership((subject) => subject, texts, use);
  return { noun: 'values', max: classesMax, classOf, testOf };
}

/** Whether policies may list the text; a text that looks like another one would deceive their readers. */
function isListed(value: string): boolean {
  return isWritable(value) && value.length <= codeUnitsMax && !hasBidiControls(value);
}

/** Whether a policy can hold the text without a diagnostic. */
export function isWritable(text: string): boolean {
  return isScalarText(text) && !isMixedScript(text);
}

// ---- domains and hosts

const domainsMax = 256;
const domainsInline = 8;

function domains(
  hostOf: (value: string) => string | null,
  subjectOf: Test,
  membership: MembershipTest,
): readonly Classifier[] {
  const exact: Classifier['testOf'] = (texts, use) => membership(subjectOf, texts, use);
  const below: Classifier['testOf'] = (texts) => (subject) => `${subjectOf(subject)} within ${oneOf(texts)}`;
  const parentOf = (value: string): string | null => {
    const host = hostOf(value);
    return host === null ? null : registeredPart(host);
  };
  return [
    { noun: 'domains', max: domainsMax, classOf: hostOf, testOf: exact },
    { noun: 'domains', max: domainsInline, classOf: parentOf, testOf: below },
  ];
}

/** The last labels of a name, down to the one before a public suffix of one or two short labels. */
function registeredPart(host: string): string | null {
  const labels = host.split('.');
  const last = labels.at(-1) ?? '';
  if (labels.length < 2 || !/^[a-z][a-z0-9-]*$/.test(last)) return null;
  const isShortPair = labels.length > 2 && last.length === 2 && (labels.at(-2) ?? '').length <= 3;
  return labels.slice(isShortPair ? -3 : -2).join('.');
}

function hosts(
  of: 'url' | 'web_address',
  values: readonly string[],
  membership: MembershipTest,
): readonly Classifier[] {
  const parse = of === 'url' ? parseUrl : parseWebAddress;
  const schemes = [...new Set(values.map((value) => parse(value)?.scheme ?? ''))].toSorted();
  const hostOf = (value: string): string | null => parse(value)?.host ?? null;
  return domains(hostOf, (subject) => `host(${subject})`, membership).map((one) => ({
    ...one,
    testOf: (texts, use) => {
      const test = one.testOf(texts, use);
      if (use === 'rare') return test;
      return (subject) => `${test(subject)} and ${isOneOf(`scheme(${subject})`, schemes)}`;
    },
  }));
}

// ---- folders

const foldersMax = 8;

/** The folders that hold the values; while there are too many, the deepest are replaced by those above them. */
function folders(values: readonly string[]): Classifier {
  const own = new Set(values.map(folderOf));
  own.delete('/');
  own.delete('.');
  const chosen = outermost(lifted(own));
  const classOf = (value: string): string | null => chosen.find((folder) => isInside(value, folder)) ?? null;
  const testOf: Classifier['testOf'] = (texts) => (subject) =>
    texts.length === 1 ? `${subject} inside ${quote(texts[0]!)}` : `${subject} inside any of ${oneOf(texts)}`;
  return { noun: 'folders', max: foldersMax, classOf, testOf };
}

function folderOf(path: string): string {
  const end = path.lastIndexOf('/');
  if (end < 0) return '.';
  return end === 0 ? '/' : path.slice(0, end);
}

/** Empty if only the root would hold so many folders. */
function lifted(all: ReadonlySet<string>): readonly string[] {
  let now = [...all];
  while (now.length > foldersMax) {
    const depth = now.reduce((most, folder) => Math.max(most, depthOf(folder)), 0);
    if (depth <= 1) return [];
    now = [...new Set(now.map((folder) => (depthOf(folder) === depth ? folderOf(folder) : folder)))];
  }
  return now;
}

function depthOf(folder: string): number {
  return folder.split('/').filter((segment) => segment !== '').length;
}

/** Leaves out folders inside of others. */
function outermost(all: readonly string[]): readonly string[] {
  return all.toSorted().filter((one) => !all.some((other) => other !== one && isInside(one, other)));
}

// ---- patterns

const patternsMax = 4;

/** The pattern of a text: its signs as they are, and its runs of digits and letters by their lengths. */
function patterns(values: readonly string[]): Classifier {
  const frequent = [...Map.groupBy(values, formOf)]
    .filter(([form]) => form !== null)
    .toSorted(([, a], [, b]) => b.length - a.length)
    .slice(0, patternsMax);
  const sources = new Map(frequent.map(([form, own]) => [form, sourceOf(own)] as const));
  const classOf = (value: string): string | null => sources.get(formOf(value)) ?? null;
  const testOf: Classifier['testOf'] = (texts) => (subject) => {
    const raw = texts.map((text) => `'${text}'`);
    return raw.length === 1
      ? `${subject} matches ${raw[0]}`
      : `${subject} matches any of [${raw.join(', ')}]`;
  };
  return { noun: 'patterns', max: patternsMax, classOf, testOf };
}

const run = /[0-9]+|[a-z]+|[A-Z]+|[^0-9a-zA-Z]/g;
const runsMax = 20;

/** Null for a text that has no pattern, such as words. */
function formOf(value: string): string | null {
  const runs = /^[\x21-\x7e]+$/.test(value) && !value.includes("'") ? (value.match(run) ?? []) : [];
  if (runs.length === 0 || runs.length > runsMax) return null;
  return runs.map((text) => classOfRun(text) ?? text).join('\n');
}

function classOfRun(text: string): string | null {
  if (/[0-9]/.test(text)) return '[0-9]';
  if (/[a-z]/.test(text)) return '[a-z]';
  return /[A-Z]/.test(text) ? '[A-Z]' : null;
}

/** Null when the pattern would accept nearly any word: it needs a constant part, or digits alone. */
function sourceOf(values: readonly string[]): string | null {
  const rows = values.map((value) => value.match(run) ?? []);
  const columns = rows[0]!.map((_, at) => rows.map((row) => row[at]!));
  const parts = columns.map((column) => {
    const [first] = column as [string, ...string[]];
    const isConstant = column.every((one) => one === first);
    const own = classOfRun(first);
    if (isConstant || own === null) return { isFixed: true, source: escaped(first) };
    const [least, most] = column.reduce(
      ([low, high], { length }) => [Math.min(low, length), Math.max(high, length)],
      [first.length, first.length],
    );
    const times = least === most ? `{${least}}` : `{${least},${most}}`;
    return { isFixed: own === '[0-9]' && columns.length === 1, source: `${own}${times}` };
  });
  const source = parts.map((part) => part.source).join('');
  const isTelling = parts.some(({ isFixed }) => isFixed) && !parts.every((part) => !/[[{]/.test(part.source));
  const matches = compileRegex(source);
  return isTelling && typeof matches === 'function' && values.every(matches) ? source : null;
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.|?*+()[\]{}]/g, (sign) => `\\${sign}`);
}

const beginningsMax = 4;

/** The part of a text up to its first hyphen or the like, such as `INV-` of `INV-2026/7`. */
const beginnings: Classifier = {
  noun: 'beginnings',
  max: beginningsMax,
  classOf: (value) => /^[A-Za-z0-9]{2,20}[-_#](?=[!-~]+$)/.exec(value)?.[0] ?? null,
  testOf: (texts) => (subject) =>
    texts.length === 1
      ? `${subject} starts with ${quote(texts[0]!)}`
      : `${subject} starts with any of ${oneOf(texts)}`,
};

// ---- texts

/** A constant, or a list of constants. */
export function oneOf(texts: readonly string[]): string {
  return texts.length === 1 ? quote(texts[0]!) : `[${texts.map((text) => quote(text)).join(', ')}]`;
}

export function isOneOf(subject: string, texts: readonly string[]): string {
  return `${subject} ${texts.length === 1 ? '==' : 'in'} ${oneOf(texts)}`;
}
