// Turns what a tool has found into a result of bounded size: a text for the model and the same as structured
// content. What is most important comes first. INVARIANT: whatever is left out is counted, and the text says
// how to get it.

import type { Json, JsonObject } from '../../../language/model/json.ts';
import { UsageError } from '../../output/output.ts';
import { count, type Fields, optional, orNull } from './schema.ts';

export interface Answer {
  /** The result in a few lines. */
  readonly lead: string;
  /** The structured content except for the lists of the entries. */
  readonly data: JsonObject;
  /** The lists of the structured content to which entries belong. */
  readonly lists: readonly string[];
  /** The most important first. */
  readonly entries: readonly Entry[];
  /** What to do now; a sentence each. */
  readonly next?: readonly string[];
}

export interface Entry {
  /** The list of the structured content that gets `data`. */
  readonly list: string;
  readonly text: string;
  readonly data: Json;
}

/** The largest text, and the largest structured content, in bytes. */
export const textBytesMax = 8_192;
export const contentBytesMax = 16_384;

const leadBytesMax = 2_500;
const nextBytesMax = 800;
/** Kept free for the line that says what is left out. */
const lineBytes = 200;

/** The argument and the fields of every tool whose answer has entries. */
export const fromField = optional(count('skip this number of entries, to read on in a long answer'));
export const pageFields = {
  left_out: count('the number of entries that did not fit'),
  next_from: orNull(count('the `from` that continues; null at the end')),
} satisfies Fields;

export interface BoundedAnswer {
  readonly text: string;
  readonly structured: JsonObject;
}

/** The part of an answer that begins with entry `from`. Throws a UsageError when there is no such entry. */
export function boundedAnswer(answer: Answer, from = 0): BoundedAnswer {
  const { entries, lists, data } = answer;
  if (from > 0 && from >= entries.length)
    throw new UsageError(`\`from\` must be less than ${entries.length}, the number of entries`);
  const lead = cutBytes(answer.lead.trimEnd(), leadBytesMax);
  const next = cutBytes((answer.next ?? []).join('\n'), nextBytesMax);
  const shown = fitting(entries.slice(from), {
    textBytes: textBytesMax - bytesOf(lead) - bytesOf(next) - lineBytes,
    contentBytes: contentBytesMax - bytesOf(JSON.stringify(data)) - lineBytes,
  });
  const end = from + shown.length;
  const leftOut = entries.length - end;
  const line =
    leftOut === 0
      ? ''
      : `${leftOut} of ${entries.length} entries left out: call again with \`"from": ${end}\` for the next ones.`;
  const listed = Object.fromEntries(
    lists.map((list) => [list, shown.filter((one) => one.list === list).map((one) => one.data)]),
  );
  return {
    text: [lead, entriesText(shown), line, next].filter((part) => part !== '').join('\n\n'),
    structured: { ...data, ...listed, left_out: leftOut, next_from: leftOut === 0 ? null : end },
  };
}

/** An empty line between two entries, unless both are lines of the same list. */
function entriesText(shown: readonly Entry[]): string {
  const isLine = ({ text }: Entry): boolean => !text.includes('\n');
  return shown.reduce((text, one, at) => {
    const before = shown[at - 1];
    if (before === undefined) return one.text;
    const isSame = before.list === one.list && isLine(before) && isLine(one);
    return `${text}${isSame ? '\n' : '\n\n'}${one.text}`;
  }, '');
}

interface Room {
  readonly textBytes: number;
  readonly contentBytes: number;
}

/** The first entries that fit. The very first is shortened if it must be, so that reading on gets further. */
function fitting(entries: readonly Entry[], { textBytes, contentBytes }: Room): readonly Entry[] {
  const shown: Entry[] = [];
  let [text, content] = [textBytes, contentBytes];
  for (const entry of entries) {
    const whole = { ...entry, text: entry.text.trimEnd() };
    const isFirst = shown.length === 0;
    const one = isFirst
      ? { ...whole, text: cutBytes(whole.text, text), data: shortened(whole.data, content) }
      : whole;
    text -= bytesOf(one.text) + 2;
    content -= bytesOf(JSON.stringify(one.data)) + 1;
    if (!isFirst && (text < 0 || content < 0)) break;
    shown.push(one);
  }
  return shown;
}

/** A value with shorter texts and lists if it is too large; its shape stays. */
function shortened(value: Json, bytes: number): Json {
  if (bytesOf(JSON.stringify(value)) <= bytes) return value;
  for (const most of [1_000, 200, 50, 10]) {
    const smaller = cutInside(value, most);
    if (bytesOf(JSON.stringify(smaller)) <= bytes) return smaller;
  }
  return cutInside(value, 0);
}

function cutInside(value: Json, most: number): Json {
  if (typeof value === 'string') return value.length <= most ? value : `${value.slice(0, most)}…`;
  if (Array.isArray(value)) return value.slice(0, most).map((one) => cutInside(one, most));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, cutInside(one, most)]));
}

export function cutBytes(whole: string, most: number): string {
  if (bytesOf(whole) <= most) return whole;
  const note = (left: number): string => `… (${left.toLocaleString('en')} more bytes)`;
  const room = Math.max(0, most - note(bytesOf(whole)).length - 2);
  // A cut in the middle of a character leaves a replacement character, which is dropped.
  const kept = Buffer.from(whole)
    .subarray(0, room)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return `${kept}${note(bytesOf(whole) - bytesOf(kept))}`;
}

function bytesOf(value: string): number {
  return Buffer.byteLength(value);
}
