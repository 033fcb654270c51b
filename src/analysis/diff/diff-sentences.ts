// Shows a change in the sentences for people who read no policies: the sentences that are gone and the new
// ones.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type SentenceChange, sentenceChanges } from '../../reasoning/summary/summary-diff.ts';
import type { LoadedSide } from './diff-side.ts';
import { codeSpan } from './diff-text.ts';

/** Sentences take proofs, which cost too much for each action of a large change. */
const actionsMax = 20;

export function changedSentences(
  { before, after }: { readonly before: LoadedSide; readonly after: LoadedSide },
  actions: readonly string[],
): readonly SentenceChange[] {
  return sentenceChanges({ before, after }, actions.slice(0, actionsMax));
}

export function sentencesToMarkdown(changes: readonly SentenceChange[]): string {
  if (changes.length === 0) return '';
  const blocks = changes.map(({ subject, removed, added }) => {
    const lines = [...removed.map((text) => `- ${text}`), ...added.map((text) => `+ ${text}`)];
    return `\n${codeSpan(subject)}\n\n${fenced(lines)}\n`;
  });
  return `\n#### In sentences\n${blocks.join('')}`;
}

/** A code block in the form of a diff. Its fence is longer than any run of backticks in the lines. */
function fenced(lines: readonly string[]): string {
  const text = lines.map(escapeForTerminal).join('\n');
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  return `${fence}diff\n${text}\n${fence}`;
}
