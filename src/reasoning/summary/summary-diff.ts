// The sentences in which two sets differ for the same actions, and the words whose meaning differs.
// INVARIANT: only sentences that are confirmed for their set are shown.

import type { SummarySource } from './sentences.ts';
import { type Summary, type SummarySentence, summaryOf } from './summary.ts';

export interface SentenceChange {
  /** An action, or a word in quotation marks. */
  readonly subject: string;
  /** Sentences of the old set that the new set lacks; `added` lists those that the new set adds. */
  readonly removed: readonly string[];
  readonly added: readonly string[];
}

export interface BothSources {
  readonly before: SummarySource;
  readonly after: SummarySource;
}

/** The changed sentences: for the actions in the given order, then for the words that the sentences use. */
export function sentenceChanges(
  { before, after }: BothSources,
  actions: readonly string[],
): readonly SentenceChange[] {
  const only = new Set(actions);
  const [old, now] = [summaryOf(before, only), summaryOf(after, only)];
  const ofActions = actions.map((action) => changeOf(action, saidOf(old, action), saidOf(now, action)));
  const words = new Map(
    [...old.words, ...now.words].map(({ name }) => [name, [wordIn(old, name), wordIn(now, name)]]),
  );
  // A word that is new or no longer used shows in its sentences, so only a changed meaning is listed.
  const ofWords = [...words].flatMap(([name, [was, is]]) =>
    was === undefined || is === undefined || was === is
      ? []
      : [{ subject: `‘${name.replaceAll('_', ' ')}’`, removed: [was ?? ''], added: [is ?? ''] }],
  );
  return [...ofActions, ...ofWords].filter(({ removed, added }) => removed.length + added.length > 0);
}

function changeOf(subject: string, old: readonly string[], now: readonly string[]): SentenceChange {
  return {
    subject,
    removed: old.filter((text) => !now.includes(text)),
    added: now.filter((text) => !old.includes(text)),
  };
}

function saidOf({ actions }: Summary, action: string): readonly string[] {
  const summary = actions.find((one) => one.actions.includes(action));
  return (summary?.sentences ?? []).filter(isConfirmed).map(({ text }) => text);
}

function isConfirmed({ unconfirmed }: SummarySentence): boolean {
  return unconfirmed === null;
}

function wordIn({ words }: Summary, name: string): string | undefined {
  return words.find((one) => one.name === name)?.text;
}
