// Answers an editor's questions about a policy that is being written, from the vocabulary and the files of a
// set alone: completion, the description of a name, the colours of names, and the canonical form. Problems of
// the set are left to the check, which also reads the list files that policies name.

import type { SourceText } from '../diagnostic/span.ts';
import { parse } from '../syntax/parse.ts';
import type { PolicyFile } from '../syntax/tree/tree.ts';
import { completePolicy } from './complete-policy.ts';
import type { CompletionList } from './completion-list.ts';
import { describeName, type NameDescription } from './describe-name.ts';
import { formattedText } from './formatted-text.ts';
import { type ColouredName, colouredNames } from './name-colours.ts';
import { occurrenceAt } from './names.ts';
import type { Vocabulary } from './vocabulary.ts';
import { describeWord } from './word-descriptions.ts';

/** The set to which the edited text belongs. */
export interface AssistantContext {
  readonly words: Vocabulary;
  readonly files: readonly SourceText[];
}

/** Questions about the text as edited; the set may hold another text with the same path. */
export interface AssistantQuestions {
  readonly complete: SourceText & { readonly at: number; readonly isAsked: boolean };
  readonly hover: SourceText & { readonly at: number };
  readonly colours: SourceText;
  readonly format: SourceText;
}

export interface Hover {
  readonly start: number;
  readonly end: number;
  readonly description: readonly NameDescription[];
}

export interface AssistantAnswers {
  readonly complete: CompletionList | null;
  readonly hover: Hover | null;
  readonly colours: readonly ColouredName[];
  /** The formatted text; null when the text has an error. */
  readonly format: string | null;
}

export type AssistantQuestionKind = keyof AssistantQuestions;

export interface PolicyAssistant {
  take(set: AssistantContext): void;
  answer<Kind extends AssistantQuestionKind>(
    kind: Kind,
    question: AssistantQuestions[Kind],
  ): AssistantAnswers[Kind];
}

export function createPolicyAssistant(): PolicyAssistant {
  let set: AssistantContext | null = null;
  /** Trees by path, so that an unchanged file is parsed once. */
  const trees = new Map<string, { readonly text: string; readonly tree: PolicyFile }>();
  const treeOf = ({ path, text }: SourceText): PolicyFile => {
    const cached = trees.get(path);
    const tree = cached?.text === text ? cached.tree : parse({ path, text }).file;
    trees.set(path, { text, tree });
    return tree;
  };
  const filesWith = (open: SourceText): readonly SourceText[] =>
    [...(set?.files ?? []).filter(({ path }) => path !== open.path), open].toSorted((a, b) =>
      a.path < b.path ? -1 : 1,
    );

  const answers: {
    readonly [Kind in AssistantQuestionKind]: (question: AssistantQuestions[Kind]) => AssistantAnswers[Kind];
  } = {
    complete: ({ text, ...position }) => (set === null ? null : completePolicy(set.words, text, position)),
    hover({ at, path, text }) {
      if (set === null) return null;
      const texts = new Map(filesWith({ path, text }).map((one) => [one.path, one]));
      const files = [...texts.values()].map(treeOf);
      const occurrence = occurrenceAt(files, path, at);
      if (occurrence === null) return describeWord(text, at);
      const textOf = (file: string): string => texts.get(file)?.text ?? '';
      const description = describeName({ words: set.words, files, textOf }, occurrence);
      return description.length === 0
        ? describeWord(text, at)
        : { start: occurrence.span.start, end: occurrence.span.end, description };
    },
    colours: ({ path, text }) => colouredNames(filesWith({ path, text }).map(treeOf), path, text),
    format: ({ text }) => formattedText(text),
  };
  return {
    take(next) {
      set = next;
      const paths = new Set(next.files.map(({ path }) => path));
      for (const path of trees.keys()) if (!paths.has(path)) trees.delete(path);
    },
    answer: (kind, question) => answers[kind](question),
  };
}
