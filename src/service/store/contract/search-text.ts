// What counts as a word of a request, and what a search text asks of these words: one definition for every
// store, so that all stores find the same. A word is a run of letters and digits, without case and accents.
// In writing without spaces between words, each letter begins a word. INVARIANT: a text that is searched for
// as it stands in a request finds that request.

import { hash } from 'node:crypto';
import { BoundedMap, memo } from '../../../language/value/memo.ts';
import type { RequestRow } from './records.ts';

/** A longer word is cut to this length, in requests and in searches. */
const wordLengthMax = 40;

/** How many different words of one request are searchable: the first ones. */
const wordsOfRequestMax = 20_000;

const unspaced =
  '\\p{scx=Han}\\p{scx=Hiragana}\\p{scx=Katakana}\\p{sc=Thai}\\p{sc=Lao}\\p{sc=Khmer}\\p{sc=Myanmar}';
const letters = new RegExp(
  `(?:(?=[\\p{L}\\p{M}\\p{N}])[${unspaced}])+|(?:(?![${unspaced}])[\\p{L}\\p{M}\\p{N}])+`,
  'gu',
);
const isUnspaced = new RegExp(`^[${unspaced}]`, 'u');
const ascii = /^[\0-\x7f]*$/;
const accents = /[\u0300-\u036f]/g;
const thousands = /(?<!\d)\d{1,3}(?:,\d{3})+(?!\d)/g;
const ids = /(?<![\da-z-])[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}(?![\da-z-])/gi;
const idBeginnings = /(?<![\da-z-])[\da-f]{8}-[\da-f]{4}-[\da-f]{1,4}(?:-[\da-f]{1,12}){0,2}(?![\da-z-])/gi;
const zeroDecimals = /(?<=\d)\.0+(?![\d.\p{L}])/gu;

/**
 * Words of texts that come often: names of actions, agents and fields, reasons. All are forgotten beyond this
 * number of texts.
 */
const knownTexts = new BoundedMap<string, readonly string[]>(10_000);
const knownTextLengthMax = 100;

/** The words of a text, in order. */
function termsOfText(text: string): readonly string[] {
  if (text.length > knownTextLengthMax) return wordsIn(text);
  return memo(knownTexts, text, wordsIn);
}

function wordsIn(text: string): readonly string[] {
  const words: string[] = [];
  for (const [run] of folded(text).matchAll(letters)) {
    if (!isUnspaced.test(run)) words.push(shortened(run));
    else {
      const each = [...run];
      for (const [at, letter] of each.entries()) words.push(letter + (each[at + 1] ?? ''));
    }
  }
  return words;
}

/**
 * Returns the text without case and accents. Amounts lose their separators (`4,200.00` becomes `4200`), and a
 * UUID becomes one word.
 */
function folded(text: string): string {
  const plain = text
    .replace(ids, joined)
    .replace(thousands, (digits) => digits.replaceAll(',', ''))
    .replace(zeroDecimals, '');
  const lower = plain.toLowerCase();
  if (ascii.test(lower)) return lower;
  return lower.normalize('NFKD').toLowerCase().replace(accents, '').replaceAll('ς', 'σ').normalize('NFC');
}

function joined(id: string): string {
  return id.replaceAll('-', '');
}

function shortened(word: string): string {
  return word.length <= wordLengthMax ? word : [...word].slice(0, wordLengthMax).join('');
}

/** A word that is searched for. */
export interface SearchTerm {
  readonly word: string;
  /** Whether only the word itself fits, and not a longer word that begins with it. */
  readonly isWhole: boolean;
}

/** Words that must stand one after the other. */
export type WantedRun = readonly SearchTerm[];

/** Runs of words, all of which a request must hold. */
export type WantedText = readonly WantedRun[];

const part = /"([^"]*)"|[^\s"]+/g;
const quotes = /[“”„‟«»]/g;

/**
 * Parses what somebody has typed. A part between spaces fits words that begin with it; text in quotation
 * marks fits whole words in that order. Empty when the text has no letter and no digit.
 */
export function wantedText(text: string): WantedText {
  const runs: { terms: SearchTerm[]; end: number }[] = [];
  for (const { 0: typed, 1: quoted, index } of text
    .replace(quotes, '"')
    .replace(idBeginnings, joined)
    .matchAll(part)) {
    const last = runs.at(-1);
    const run = last !== undefined && last.end === index ? last : { terms: [], end: 0 };
    if (run !== last) runs.push(run);
    run.end = index + typed.length;
    // Text that follows without a space ends the word before it.
    run.terms = run.terms.map(({ word }) => ({ word, isWhole: !isUnspaced.test(word) || word.length > 1 }));
    const words = termsOfText(quoted ?? typed);
    for (const [at, word] of words.entries()) {
      const isBeginning = isOneLetter(word) || (at === words.length - 1 && quoted === undefined);
      run.terms.push({ word, isWhole: !isBeginning });
    }
  }
  return runs.map(({ terms: wanted }) => wanted).filter((wanted) => wanted.length > 0);
}

/** Whether the word is a single letter of writing without spaces, which another letter may follow. */
function isOneLetter(word: string): boolean {
  return isUnspaced.test(word) && [...word].length === 1;
}

/** Whether words in this order hold all that is wanted. */
export function holdsText(words: readonly string[], searched: WantedText): boolean {
  return searched.every((run) =>
    words.some((_, from) => run.every((one, at) => fits(words[from + at], one))),
  );
}

function fits(word: string | undefined, { word: wanted, isWhole }: SearchTerm): boolean {
  return word !== undefined && (isWhole ? word === wanted : word.startsWith(wanted));
}

/** Whether an index of words without their order can tell which requests hold what is wanted. */
export function isOrderless(searched: WantedText): boolean {
  return searched.every(({ length }) => length === 1);
}

export type SearchedRequest = Pick<RequestRow, 'id' | 'agentId' | 'actionKey' | 'outcome' | 'recordJson'>;

interface SearchedApproval {
  readonly group: string;
  readonly anyOf?: readonly { readonly person?: string }[];
}

/** The parts of a record that are searched. */
interface SearchedRecord {
  readonly payload?: unknown;
  readonly title?: string;
  readonly agent?: { readonly name?: string };
  readonly decision?: {
    readonly reason?: string;
    readonly matchedPolicy?: string;
    readonly requires?: { readonly approvals?: readonly SearchedApproval[] } | null;
  };
}

/**
 * Returns the words of a request, in order: of its id, action, title, agent, first decision and recorded
 * payload. Later events add no words.
 */
export function searchTermsOfRequest(request: SearchedRequest): readonly string[] {
  return wordsOf(request, searchedRecord(request));
}

/** The service has written the record; whatever it holds, only its texts give words. */
function searchedRecord({ recordJson }: SearchedRequest): SearchedRecord {
  return JSON.parse(recordJson) as SearchedRecord;
}

function wordsOf(
  { id, actionKey }: SearchedRequest,
  { payload, title, agent, decision }: SearchedRecord,
): readonly string[] {
  const words: string[] = [];
  const add = (text: string): void => {
    for (const word of termsOfText(text)) words.push(word);
  };
  // An id occurs once, so its words are not worth remembering.
  words.push(...wordsIn(id));
  add(actionKey);
  add(String(title ?? ''));
  add(String(agent?.name ?? ''));
  add(String(decision?.matchedPolicy ?? ''));
  add(String(decision?.reason ?? ''));
  for (const { group, anyOf = [] } of decision?.requires?.approvals ?? []) {
    add(String(group));
    for (const { person } of anyOf) if (person !== undefined) add(String(person));
  }
  eachText(payload, add);
  return words;
}

/**
 * Calls `take` with the names and values of a JSON value, in order. The depth of a request is bounded, so
 * recursion is safe.
 */
function eachText(value: unknown, take: (text: string) => void): void {
  if (Array.isArray(value)) for (const one of value) eachText(one, take);
  else if (typeof value === 'object' && value !== null) {
    for (const [name, one] of Object.entries(value)) {
      take(name);
      eachText(one, take);
    }
  } else if (value !== null && value !== undefined) take(String(value));
}

/** Properties of a request that filters ask for and that never change. */
export interface RequestMarks {
  readonly agentId: string | null;
  readonly actionKey: string | null;
  readonly outcome: string | null;
  readonly policy: string | null;
}

/** Private-use letters, which no word has. They let an index hold marks beside words. */
const markLetters = {
  agentId: '\u{e000}',
  actionKey: '\u{e001}',
  outcome: '\u{e002}',
  policy: '\u{e003}',
} as const;

/**
 * Returns the marks as words of an index: made of letters and digits alone, and different for different
 * values.
 */
export function markTerms(marks: RequestMarks): readonly string[] {
  return (Object.keys(markLetters) as (keyof RequestMarks)[]).flatMap((name) => {
    const value = marks[name];
    return value === null ? [] : [markLetters[name] + markText(value)];
  });
}

/** PostgreSQL indexes no word of more bytes than this, less the letter before a mark. */
const markBytesMax = 2_000;

function markText(value: string): string {
  const escaped = value.replace(/[^a-z0-9]/g, escapedUnit);
  return Buffer.byteLength(escaped) <= markBytesMax ? escaped : `\u{e005}${hash('sha256', value)}`;
}

function escapedUnit(unit: string): string {
  return `\u{e004}${unit.charCodeAt(0).toString(16)}\u{e004}`;
}

/**
 * Returns the words that an index holds of a request: its different words, up to the limit, and its marks.
 */
export function indexedTerms(request: SearchedRequest): readonly string[] {
  const { agentId, actionKey, outcome } = request;
  const record = searchedRecord(request);
  const policy = record.decision?.matchedPolicy ?? null;
  return [
    ...[...new Set(wordsOf(request, record))].slice(0, wordsOfRequestMax),
    ...markTerms({ agentId, actionKey, outcome, policy }),
  ];
}
