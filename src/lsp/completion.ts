// Offers what may stand at a place of a policy file, as the editor of the dashboard does.

import { type CompletionItem, CompletionItemKind } from 'vscode-languageserver';
import { vocabularyOf } from '../analysis/vocabulary.ts';
import { completePolicy } from '../language/assist/complete-policy.ts';
import type { CompletionOption } from '../language/assist/completion-list.ts';
import type { Vocabulary } from '../language/assist/vocabulary.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { DocumentPosition } from './set/positions.ts';
import type { SetSnapshot } from './set/workspace.ts';

// Makes the vocabulary of a set, once for each snapshot.

const noSet = {
  actions: new Map(),
  lists: new Map(),
  tables: new Map(),
  hours: new Map(),
  lets: new Map(),
  meters: new Map(),
  approvers: new Map(),
  policies: [],
  guarantees: [],
} satisfies PolicySet;

const vocabularies = new WeakMap<SetSnapshot, Vocabulary>();

/** The vocabulary, with the actions of the last set without an error, if there was one. */
export function setWords(snapshot: SetSnapshot): Vocabulary {
  const made = vocabularies.get(snapshot) ?? vocabularyOf(snapshot.lastSet ?? noSet, snapshot.files);
  vocabularies.set(snapshot, made);
  return made;
}

/**
 * The offers at a place. `isAsked` is true when the person has asked for them, and has not only typed a
 * letter.
 */
export function completionsAt(
  { snapshot, document, offset }: DocumentPosition,
  isAsked: boolean,
): readonly CompletionItem[] {
  const completed = completePolicy(setWords(snapshot), document.getText(), { at: offset, isAsked });
  if (completed === null) return [];
  const range = { start: document.positionAt(completed.from), end: document.positionAt(offset) };
  return completed.options.map((offer): CompletionItem => {
    const { label, detail, info, apply = label, boost = 0 } = offer;
    return {
      label,
      kind: kindOf(offer),
      sortText: `${String(50 - boost).padStart(2, '0')}${label}`,
      filterText: label,
      textEdit: { range, newText: apply },
      ...(detail === undefined ? {} : { detail }),
      ...(info === undefined ? {} : { documentation: info }),
    };
  });
}

const kinds: Readonly<Record<string, CompletionItemKind>> = {
  action: CompletionItemKind.Event,
  approvers: CompletionItemKind.Constant,
  group: CompletionItemKind.Module,
  hours: CompletionItemKind.Constant,
  let: CompletionItemKind.Variable,
  list: CompletionItemKind.Constant,
  meter: CompletionItemKind.Variable,
  type: CompletionItemKind.Class,
  variable: CompletionItemKind.Variable,
};

function kindOf({ detail }: CompletionOption): CompletionItemKind {
  if (detail === undefined) return CompletionItemKind.Keyword;
  return kinds[detail] ?? (detail.includes('(') ? CompletionItemKind.Function : CompletionItemKind.Field);
}
