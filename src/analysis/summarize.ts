// Describes a set in plain sentences, as `writ summary` does, some actions at a time, because proving each
// sentence takes time.

import { position, type SourceOf } from '../language/diagnostic/render.ts';
import type { Span } from '../language/diagnostic/span.ts';
import type { SummarySource } from '../reasoning/summary/sentences.ts';
import { type Summary, summaryOf } from '../reasoning/summary/summary.ts';
import { type SentenceChange, sentenceChanges } from '../reasoning/summary/summary-diff.ts';
import type { PlaygroundInputs, SentenceChanges, SummaryPart } from './playground-questions.ts';
import { createWorkspace, type EditedPolicies } from './workspace.ts';

/** Milliseconds for one answer. The first actions are always included, however long they take. */
const withinMs = 1_500;
const actionsAtOnce = 4;

/** The actions after the given one, in their order. */
export function summarise(laid: EditedPolicies, { after }: PlaygroundInputs['summary']): SummaryPart {
  const source = sourceOf(laid);
  const keys = [...(source?.set.actions.keys() ?? [])]
    .toSorted()
    .filter((key) => after === null || key > after);
  if (source === null) return { actions: [], words: [], next: null };
  const begin = performance.now();
  const parts: Summary[] = [];
  let done = 0;
  while (done < keys.length && (done === 0 || performance.now() - begin < withinMs)) {
    parts.push(summaryOf(source, new Set(keys.slice(done, done + actionsAtOnce))));
    done += actionsAtOnce;
  }
  const words = new Map(parts.flatMap((part) => part.words.map((word) => [word.name, word] as const)));
  return {
    actions: parts.flatMap((part) => part.actions.map((one) => actionView(one, laid.sourceOf))),
    words: [...words.values()].map(({ name, text, span }) => ({
      name,
      text,
      ...fileAndLineOf(span, laid.sourceOf),
    })),
    next: done < keys.length ? (keys[done - 1] ?? null) : null,
  };
}

function sourceOf({ policies, trees, sourceOf: texts }: EditedPolicies): SummarySource | null {
  return policies === null ? null : { set: policies.set, files: trees, sourceOf: texts };
}

function actionView({ actions, title, sentences }: Summary['actions'][number], texts: SourceOf) {
  return {
    actions,
    title,
    sentences: sentences.map(({ kind, text, rule, span, unconfirmed }) => ({
      kind,
      text,
      rule,
      ...fileAndLineOf(span, texts),
      unproved_reason: unconfirmed,
    })),
  };
}

function fileAndLineOf(
  { file, start }: Span,
  texts: SourceOf,
): { readonly file: string; readonly line: number } {
  return { file, line: position(texts(file) ?? '', start).line };
}

/** The sentences about these actions that differ between two sets, as far as they are found in time. */
export function changedSentences({
  old,
  new: now,
  actions,
}: PlaygroundInputs['changed sentences']): SentenceChanges {
  const [before, after] = [old, now].map((texts) => {
    const workspace = createWorkspace();
    workspace.take(texts);
    return sourceOf(workspace.compileWith([]));
  });
  if (before == null || after == null) return { items: [], is_complete: false };
  const begin = performance.now();
  const bySentence = new Map<string, SentenceChange>();
  let done = 0;
  while (done < actions.length && (done === 0 || performance.now() - begin < withinMs)) {
    for (const change of sentenceChanges({ before, after }, [actions[done]!]))
      bySentence.set(change.subject, change);
    done += 1;
  }
  return { items: [...bySentence.values()], is_complete: done === actions.length };
}
