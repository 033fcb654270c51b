// The words that begin declarations and rules, with the words of other languages that mean the same, for
// suggestions.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { nearestOf } from '../../diagnostic/suggest.ts';
import { syntaxError, withFix } from '../parse/context.ts';
import type { Declaration, EffectWord } from '../tree/tree.ts';

type IntendedKeyword = Declaration['kind'] | EffectWord;

interface Vocabulary {
  readonly code: 'unknown-declaration' | 'unknown-effect';
  readonly noun: string;
  /** Words of this language, each with the words of other languages that mean the same. */
  readonly words: Readonly<Partial<Record<IntendedKeyword, readonly string[]>>>;
}

export const declarationVocabulary: Vocabulary = {
  code: 'unknown-declaration',
  noun: 'declaration',
  words: {
    action: [],
    type: ['enum', 'record', 'struct'],
    group: [],
    approvers: ['team', 'role'],
    list: ['set'],
    table: ['map', 'dict', 'lookup'],
    hours: ['schedule'],
    let: ['const', 'var', 'def', 'define'],
    meter: ['limit', 'counter'],
    policy: ['policies', 'rule', 'package', 'permission'],
    guarantee: ['invariant', 'assert'],
  } satisfies Record<Declaration['kind'], readonly string[]>,
};

export const effectVocabulary: Vocabulary = {
  code: 'unknown-effect',
  noun: 'rule',
  words: {
    allow: ['permit', 'grant', 'accept', 'pass'],
    deny: ['forbid', 'block', 'reject', 'refuse', 'prohibit', 'disallow', 'denies', 'denied'],
    escalate: ['approve', 'review', 'ask', 'pause', 'hold'],
    reauth: ['confirm', 'reauthenticate', 'mfa', 'stepup', 'step_up'],
    risk: ['score'],
  } satisfies Record<EffectWord, readonly string[]>,
};

function wordsOf({ words }: Vocabulary): readonly IntendedKeyword[] {
  return Object.keys(words) as IntendedKeyword[];
}

/** The word that means the same as a word of another language; null if there is none. */
export function synonymOf(text: string, vocabulary: Vocabulary): IntendedKeyword | null {
  const small = text.toLowerCase();
  return wordsOf(vocabulary).find((one) => vocabulary.words[one]?.includes(small)) ?? null;
}

/** The word of the vocabulary that was probably meant; null if none is near. */
export function intendedKeyword(text: string, vocabulary: Vocabulary): IntendedKeyword | null {
  const small = text.toLowerCase();
  const words = wordsOf(vocabulary);
  const near = words.find((one) => one === small) ?? nearestOf(small, words);
  return synonymOf(text, vocabulary) ?? words.find((one) => one === near) ?? null;
}

export function unknownKeyword(text: string, span: Span, vocabulary: Vocabulary): Diagnostic {
  const { code, noun: what } = vocabulary;
  const message = `\`${text}\` begins no ${what}`;
  const better = intendedKeyword(text, vocabulary);
  if (better === text)
    return syntaxError(
      code,
      span,
      `${message} with \`:\` after it`,
      `a name follows it, as in \`${better} example\``,
    );
  if (better === null) {
    const words = wordsOf(vocabulary).map((one) => `\`${one}\``);
    return syntaxError(code, span, message, `it may be ${words.join(', ')}`);
  }
  const diagnostic = syntaxError(code, span, message, `did you mean \`${better}\`?`);
  return withFix(diagnostic, { title: `write \`${better}\``, text: better });
}
