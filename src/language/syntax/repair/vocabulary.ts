// The words that begin declarations and rules, with the words of other languages that mean the same, for suggestions.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { nearestOf } from '../../diagnostic/suggest.ts';
import { syntaxError } from '../parse/context.ts';
import type { Declaration, EffectWord } from '../tree/tree.ts';

interface Vocabulary<Meant extends string> {
  readonly code: 'unknown-declaration' | 'unknown-effect';
  /** What one of the words begins. */
  readonly what: string;
  readonly words: readonly Meant[];
  readonly synonyms: Readonly<Record<string, Meant>>;
}

export const declarationVocabulary: Vocabulary<Declaration['kind']> = {
  code: 'unknown-declaration',
  what: 'declaration',
  words: ['action', 'type', 'group', 'approvers', 'list', 'hours', 'let', 'meter', 'policy', 'guarantee'],
  synonyms: {
    rule: 'policy',
    package: 'policy',
    permission: 'policy',
    enum: 'type',
    record: 'type',
    struct: 'type',
    const: 'let',
    var: 'let',
    def: 'let',
    define: 'let',
    set: 'list',
    team: 'approvers',
    role: 'approvers',
    invariant: 'guarantee',
    assert: 'guarantee',
    limit: 'meter',
    counter: 'meter',
    schedule: 'hours',
  },
};

export const effectVocabulary: Vocabulary<EffectWord> = {
  code: 'unknown-effect',
  what: 'rule',
  words: ['allow', 'deny', 'escalate', 'reauth', 'risk'],
  synonyms: {
    permit: 'allow',
    grant: 'allow',
    accept: 'allow',
    pass: 'allow',
    approve: 'escalate',
    forbid: 'deny',
    block: 'deny',
    reject: 'deny',
    refuse: 'deny',
    prohibit: 'deny',
    disallow: 'deny',
    review: 'escalate',
    ask: 'escalate',
    pause: 'escalate',
    hold: 'escalate',
    confirm: 'reauth',
    reauthenticate: 'reauth',
    mfa: 'reauth',
    stepup: 'reauth',
    step_up: 'reauth',
    score: 'risk',
  },
};

/** The word of the vocabulary that was probably meant; null where none is near. */
export function meantWord<Meant extends string>(
  text: string,
  { words, synonyms }: Vocabulary<Meant>,
): Meant | null {
  const small = text.toLowerCase();
  if (Object.hasOwn(synonyms, small)) return synonyms[small]!;
  const same = words.find((one) => one === small);
  const near = same ?? nearestOf(small, words);
  return words.find((one) => one === near) ?? null;
}

export function unknownWord<Meant extends string>(
  text: string,
  span: Span,
  vocabulary: Vocabulary<Meant>,
): Diagnostic {
  const { code, what, words } = vocabulary;
  const message = `\`${text}\` begins no ${what}`;
  const better = meantWord(text, vocabulary);
  if (better === null) {
    return syntaxError(code, span, message, `it may be ${words.map((one) => `\`${one}\``).join(', ')}`);
  }
  return {
    ...syntaxError(code, span, message, `did you mean \`${better}\`?`),
    fix: { title: `write \`${better}\``, edits: [{ span, text: better }] },
  };
}
