// The text of a file → its tokens as numbers in arrays, made without an object a token: the quick twin of the lexer, the
// mender and the nesting limit for text that needs no mending. Throws `surprise` at the first thing that is not plainly
// sound; the slow path then says what it is. INVARIANT: where it does not throw, its tokens are those of the slow path.

import { EOF, type TokenType } from 'chevrotain';
import {
  Currency,
  contextualWords,
  literal,
  mistake,
  Name,
  reservedWords,
  sign,
  Weekday,
  word,
} from '../../grammar/tokens.ts';
import { holdsRefusedCharacter } from './characters.ts';
import { nestingMax } from './nesting.ts';

/** Thrown where the quick reading gives up; nobody reads it, so it has no stack. */
export const surprise: unique symbol = Symbol('surprise');

/** A token type as a number: its own in the grammar. */
export type Kind = number;

export function kindOf(type: TokenType): Kind {
  return type.tokenTypeIdx!;
}

/** A quoted text with a backslash in it; the grammar has no type for these alone, and no number is as high. */
export const escapedText: Kind = 255;
export const endKind = kindOf(EOF);

const [name, currency, weekday] = [kindOf(Name), kindOf(Currency), kindOf(Weekday)];
const [quoted, raw, number] = [kindOf(literal.quoted), kindOf(literal.raw), kindOf(literal.number)];
const [dot, has] = [kindOf(sign.dot), kindOf(word.has)];

const wordKinds: ReadonlyMap<string, Kind> = new Map([
  ...[...reservedWords, ...contextualWords].map((text) => [text, kindOf(word[text])] as const),
  ...['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((text) => [text, weekday] as const),
]);

// What a kind is, as bits in a table by kind.
const isReserved = 1;
const isName = 2;
const opens = 4;
const closes = 8;
const isPrefix = 16;
const isLabelSign = 32;
const traits = new Uint8Array(256);
for (const text of reservedWords) traits[kindOf(word[text])]! |= isReserved;
for (const text of contextualWords) traits[kindOf(word[text])]! |= isName;
for (const kind of [name, currency, weekday]) traits[kind]! |= isName;
for (const type of [sign.openParen, sign.openSquare, sign.openCurly]) traits[kindOf(type)]! |= opens;
for (const type of [sign.closeParen, sign.closeSquare, sign.closeCurly]) traits[kindOf(type)]! |= closes;
for (const type of [word.not, sign.minus, word.secret, word.signed]) traits[kindOf(type)]! |= isPrefix;
for (const type of [sign.dot, sign.colon, sign.optional]) traits[kindOf(type)]! |= isLabelSign;

export function isReservedKind(kind: Kind): boolean {
  return (traits[kind]! & isReserved) !== 0;
}

/** Whether a kind belongs to the category `Word`. */
export function isWordKind(kind: Kind): boolean {
  return (traits[kind]! & isName) !== 0;
}

/** Signs with their kinds by the first character, the longest first; those that no rule accepts have the kind 0. */
const signs: (readonly { readonly text: string; readonly kind: Kind }[] | undefined)[] = Array.from({
  length: 128,
});
for (const [types, isSound] of [
  [mistake, false],
  [sign, true],
] as const) {
  for (const type of Object.values(types)) {
    if (typeof type.PATTERN !== 'string') continue;
    const text = type.PATTERN;
    const others = signs[text.charCodeAt(0)] ?? [];
    const all = [...others, { text, kind: isSound ? kindOf(type) : 0 }];
    signs[text.charCodeAt(0)] = all.toSorted((a, b) => b.text.length - a.text.length);
  }
}

// What a word may consist of, by character.
const inWord = new Uint8Array(128);
for (let code = 0; code < 128; code++) inWord[code] = /\w/.test(String.fromCharCode(code)) ? 1 : 0;

/** What begins with a digit, by the patterns of the grammar and in their order. */
const numerals = [literal.instant, literal.date, literal.clock, literal.duration, literal.number].map(
  (type) => ({
    kind: kindOf(type),
    pattern: new RegExp((type.PATTERN as RegExp).source, 'y'),
  }),
);
const instant = kindOf(literal.instant);

export class SwiftScanner {
  readonly text: string;
  kinds: Uint8Array;
  starts: Int32Array;
  ends: Int32Array;
  count = 0;
  /** Start and end of each comment, one after the other. */
  readonly comments: number[] = [];
  private isPlain = true;

  constructor(text: string) {
    this.text = text;
    const room = (text.length >> 2) + 64;
    this.kinds = new Uint8Array(room);
    this.starts = new Int32Array(room);
    this.ends = new Int32Array(room);
  }

  /** Adds the tokens between two offsets and an end. */
  scan(from: number, to: number): void {
    const { text } = this;
    const first = this.count;
    for (let at = from; at < to; ) {
      const code = text.charCodeAt(at);
      if (code === 32 || code === 10 || code === 9 || code === 0xfeff) at++;
      else if (code >= 128) throw surprise;
      else if (code === 34) at = this.scanQuoted(at);
      else if (code >= 48 && code <= 57) at = this.scanNumeral(at);
      else if (inWord[code] === 1) at = this.scanWord(at);
      else if (code === 35) at = this.scanComment(at);
      else if (code === 39) at = this.scanRaw(at);
      else if (code === 13 && text.charCodeAt(at + 1) === 10) at += 2;
      else at = this.scanSign(code, at);
      if (at > to) throw surprise;
    }
    this.add(endKind, to, to);
    if (!this.isPlain && holdsRefusedCharacter(text)) throw surprise;
    this.holdNesting(first);
  }

  private add(kind: Kind, start: number, end: number): number {
    const index = this.count++;
    if (index === this.kinds.length) this.grow();
    this.kinds[index] = kind;
    this.starts[index] = start;
    this.ends[index] = end;
    return end;
  }

  private grow(): void {
    const room = this.kinds.length * 2;
    const [kinds, starts, ends] = [new Uint8Array(room), new Int32Array(room), new Int32Array(room)];
    kinds.set(this.kinds);
    starts.set(this.starts);
    ends.set(this.ends);
    this.kinds = kinds;
    this.starts = starts;
    this.ends = ends;
  }

  /** What the whole text is searched for when one of these was met. */
  private noteCharacter(code: number): void {
    if (code >= 127 || (code < 32 && code !== 9)) this.isPlain = false;
  }

  private scanQuoted(start: number): number {
    const { text } = this;
    let kind = quoted;
    for (let at = start + 1; ; at++) {
      let code = text.charCodeAt(at);
      if (code === 34) return this.add(kind, start, at + 1);
      if (code === 92) {
        kind = escapedText;
        code = text.charCodeAt(++at);
      }
      if (code >= 32 && code < 127) continue;
      if (code === 10 || code === 13 || Number.isNaN(code)) throw surprise;
      this.noteCharacter(code);
    }
  }

  private scanRaw(start: number): number {
    const { text } = this;
    for (let at = start + 1; ; at++) {
      const code = text.charCodeAt(at);
      if (code === 39) return this.add(raw, start, at + 1);
      if (code === 10 || code === 13 || Number.isNaN(code)) throw surprise;
      this.noteCharacter(code);
    }
  }

  private scanComment(start: number): number {
    const { text } = this;
    let at = start;
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at);
      if (code === 10 || code === 13) break;
      this.noteCharacter(code);
    }
    this.comments.push(start, at);
    return at;
  }

  /** A word: a name where it stands beside a dot, before a colon or after `has`, whatever it says. */
  private scanWord(start: number): number {
    const { text } = this;
    let at = start + 1;
    while (inWord[text.charCodeAt(at)] === 1) at++;
    const before = this.count === 0 ? endKind : this.kinds[this.count - 1]!;
    const kind = before === dot || before === has ? name : wordKind(text.slice(start, at));
    return this.add(kind, start, at);
  }

  private scanSign(code: number, start: number): number {
    const found = signs[code]?.find(({ text }) => text.length === 1 || this.text.startsWith(text, start));
    if (found === undefined || found.kind === 0) throw surprise;
    const last = this.count - 1;
    const isLabel = last >= 0 && traits[found.kind]! & isLabelSign;
    if (isLabel && traits[this.kinds[last]!]! & (isReserved | isName)) this.kinds[last] = name;
    return this.add(found.kind, start, start + found.text.length);
  }

  private scanNumeral(start: number): number {
    const { text } = this;
    for (const { kind, pattern } of numerals) {
      pattern.lastIndex = start;
      if (!pattern.test(text)) continue;
      const end = pattern.lastIndex;
      if (kind === instant && !/(?:Z|[+-]\d\d:\d\d)$/.test(text.slice(start, end))) throw surprise;
      // What follows a number without a blank is a misspelt amount, duration or number.
      if (kind === number && inWord[text.charCodeAt(end)] === 1) throw surprise;
      return this.add(kind, start, end);
    }
    throw surprise;
  }

  /** The same measure as that of the slow path: brackets with the prefix operators before them. */
  private holdNesting(first: number): void {
    const open: number[] = [];
    let depth = 0;
    let prefixes = 0;
    for (let index = first; index < this.count; index++) {
      const trait = traits[this.kinds[index]!]!;
      if (trait & isPrefix) {
        prefixes++;
      } else {
        if (trait & opens) {
          open.push(prefixes + 1);
          depth += prefixes + 1;
        } else if (trait & closes) depth -= open.pop() ?? 0;
        prefixes = 0;
      }
      if (depth + prefixes > nestingMax) throw surprise;
    }
  }
}

function wordKind(text: string): Kind {
  return wordKinds.get(text) ?? (/^[A-Z]{3}$/.test(text) ? currency : name);
}
