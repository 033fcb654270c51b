// Splits a pattern of `matches` into the parts that each read one character, for checks that ask which
// characters it accepts. The pattern must have been compiled. Flags such as `(?s)` are followed through groups.

import { compileRegex } from './regex.ts';

export interface PatternPart {
  /** As written: `.`, `\s`, `[^/]`, `a`. */
  readonly text: string;
  /** Whether the part stands for one character alone, not for any of several. */
  readonly isLiteral: boolean;
  /** Whether `*`, `+` or `{` follows. */
  readonly isRepeated: boolean;
  /** Whether the part accepts the character. */
  readonly accepts: (character: string) => boolean;
}

/** Returns the parts in the order of the pattern. */
export function patternParts(pattern: string): readonly PatternPart[] {
  const parts: PatternPart[] = [];
  const flagsAround: string[] = [];
  let flags = '';
  let at = 0;
  while (at < pattern.length) {
    const rest = pattern.slice(at);
    const token = tokenIn(rest);
    at += token.length;
    if (token.startsWith('(')) {
      flagsAround.push(flags);
      const changed = /^\(\?([a-zA-Z]*(?:-[a-zA-Z]+)?)([:)])$/.exec(token);
      if (changed !== null) flags = flagsAfter(flags, changed[1]!);
      // `(?s)` holds for the rest of the group around it.
      if (changed?.[2] === ')') flagsAround.pop();
    } else if (token === ')') {
      flags = flagsAround.pop() ?? '';
    } else if (token.startsWith('\\Q')) {
      for (const character of token.slice(2).replace(/\\E$/, '')) parts.push(literal(character, character));
    } else if (!isBetween(token)) {
      parts.push(partOf(token, flags, /^(?:[*+]|\{\d)/.test(pattern.slice(at))));
    }
  }
  return parts;
}

/** The next piece of a pattern: a class, an escape, a quoted text, the start of a group, or one character. */
function tokenIn(rest: string): string {
  const [quoted] = /^\\Q[\s\S]*?(?:\\E|$)/.exec(rest) ?? [];
  const [group] = /^\((?:\?(?:P?<[^>]*>|[a-zA-Z-]*[:)]))?/.exec(rest) ?? [];
  const [escaped] = /^\\(?:[pP](?:\{[^}]*\}|.)|x(?:\{[^}]*\}|..)|[0-7]{1,3}|[\s\S])/u.exec(rest) ?? [];
  const [bracketed] = /^\[\^?\]?(?:\[:\^?\w+:\]|\\[\s\S]|[^\]\\])*\]/.exec(rest) ?? [];
  const [repeat] = /^\{\d+(?:,\d*)?\}/.exec(rest) ?? [];
  return quoted ?? group ?? escaped ?? bracketed ?? repeat ?? String.fromCodePoint(rest.codePointAt(0)!);
}

/** Whether a piece reads no character. */
function isBetween(token: string): boolean {
  return /^(?:[|^$*+?]|\{\d.*\}|\\[AbBz])$/.test(token);
}

function flagsAfter(flags: string, change: string): string {
  const [added = '', removed = ''] = change.split('-');
  return [...new Set(flags + added)].filter((flag) => !removed.includes(flag)).join('');
}

function partOf(token: string, flags: string, isRepeated: boolean): PatternPart {
  const isSet = token === '.' || token.startsWith('[') || /^\\(?:[dDsSwW]|[pP])/.test(token);
  if (!isSet) return { ...literal(token, flags === '' ? token : `(?${flags})${token}`), isRepeated };
  return {
    text: token,
    isLiteral: false,
    isRepeated,
    accepts: reader(flags === '' ? token : `(?${flags})${token}`),
  };
}

function literal(text: string, pattern: string): PatternPart {
  const isQuoted = text === pattern && !text.startsWith('\\');
  const accepts = isQuoted ? (character: string) => character === text : reader(pattern);
  return { text, isLiteral: true, isRepeated: false, accepts };
}

function reader(pattern: string): (character: string) => boolean {
  const test = compileRegex(pattern);
  return typeof test === 'function' ? test : () => false;
}
