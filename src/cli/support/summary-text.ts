// Renders a summary on a terminal, in Markdown for reviews, and as JSON, each sentence with the line that it
// comes from.

import { displayPath } from '../../analysis/findings/display-path.ts';
import { entryAbout, ownersIn } from '../../language/check/owners/owners-file.ts';
import { escapeForTerminal, position, type SourceOf } from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import type { Summary, SummarySentence } from '../../reasoning/summary/summary.ts';
import type { ReadSources } from '../../service/policies/read-policies.ts';
import { createMarks } from '../output/output.ts';

type LoadedSources = Pick<ReadSources, 'root' | 'sourceOf' | 'sources'>;

const note = 'Unknown facts never let a request pass.';

export function isConfirmed({ actions }: Summary): boolean {
  return actions.every(({ sentences }) => sentences.every(({ unconfirmed }) => unconfirmed === null));
}

/** The actions in groups by the owner of their rules; null is the owner of a set without owners. */
function byOwner(
  actions: Summary['actions'],
  { sources }: LoadedSources,
): readonly (readonly [string | null, Summary['actions'][number]])[] {
  const owners = ownersIn(sources.readListFile);
  if (owners.length === 0) return actions.map((one) => [null, one]);
  const ownerOf = ({ sentences: [first] }: Summary['actions'][number]): string =>
    (first === undefined ? null : entryAbout(owners, first.span.file)?.files) ?? 'no owner';
  return [...Map.groupBy(actions, ownerOf)].flatMap(([owner, own]) =>
    own.map((one) => [owner, one] as const),
  );
}

/** Writes a heading above the first block of each owner. */
function underOwners(
  blocks: readonly { readonly owner: string | null; readonly text: string }[],
  heading: (owner: string) => string,
): readonly string[] {
  return blocks.map(({ owner, text }, at) =>
    owner === null || owner === blocks[at - 1]?.owner ? text : `${heading(owner)}\n${text}`,
  );
}

/** One action, or several with the same sentences, as text for a terminal. */
export function actionToText(
  { actions: keys, title, sentences }: Summary['actions'][number],
  sourceOf: SourceOf,
): string {
  const marks = createMarks();
  const lines = sentences.map((one) => {
    const mark = one.unconfirmed === null ? marks.good('✓') : marks.bad('?');
    return `  ${mark} ${escapeForTerminal(sentenceText(one))} ${marks.faint(placeText(one.span, sourceOf))}\n`;
  });
  const about = title === null ? '' : `: ${title}`;
  return `${escapeForTerminal(`${keys.join(', ')}${about}`)}\n${lines.join('')}`;
}

export function summaryToText({ actions, words }: Summary, read: LoadedSources): string {
  const blocks = byOwner(actions, read).map(([owner, one]) => ({
    owner,
    text: actionToText(one, read.sourceOf),
  }));
  const all = underOwners(blocks, (owner) => `${escapeForTerminal(owner)}\n`);
  const meant = words.map(({ name, text }) => `  ${escapeForTerminal(`${plain(name)}: ${text}`)}\n`);
  return [...all, ...(meant.length === 0 ? [] : [`Words\n${meant.join('')}`]), `${note}\n`].join('\n');
}

export function summaryToMarkdown({ actions, words }: Summary, read: LoadedSources): string {
  const blocks = byOwner(actions, read).map(([owner, { actions: keys, title, sentences }]) => {
    const lines = sentences.map((one) => `- ${inMarkdown(sentenceText(one))} ${link(one.span, read)}`);
    const about = title === null ? '' : `: ${inMarkdown(title)}`;
    const keysText = keys.map((key) => `\`${key}\``).join(', ');
    return { owner, text: `### ${keysText}${about}\n\n${lines.join('\n')}\n` };
  });
  const all = underOwners(blocks, (owner) => `## \`${owner}\`\n`);
  const meant = words.map(({ name, text }) => `- **${inMarkdown(plain(name))}**: ${inMarkdown(text)}`);
  return [...all, ...(meant.length === 0 ? [] : [`### Words\n\n${meant.join('\n')}\n`]), `${note}\n`].join(
    '\n',
  );
}

export function summaryToJson({ actions, words }: Summary, sourceOf: SourceOf) {
  return {
    actions: actions.map(({ actions: keys, title, sentences }) => ({
      actions: keys,
      title,
      sentences: sentences.map(({ kind, text, rule, span, unconfirmed }) => ({
        kind,
        text,
        rule,
        ...fileAndLineOf(span, sourceOf),
        confirmed: unconfirmed === null,
        ...(unconfirmed === null ? {} : { unproved_reason: unconfirmed }),
      })),
    })),
    words: words.map(({ name, text, span }) => ({ name, text, ...fileAndLineOf(span, sourceOf) })),
  };
}

/** A sentence that is not confirmed is marked as such, and never told as a fact. */
function sentenceText({ text, unconfirmed }: SummarySentence): string {
  return unconfirmed === null ? text : `Not confirmed (${unconfirmed}): ${text}`;
}

function fileAndLineOf(
  { file, start }: Span,
  sourceOf: SourceOf,
): { readonly file: string; readonly line: number } {
  return { file, line: position(sourceOf(file) ?? '', start).line };
}

function placeText(span: Span, sourceOf: SourceOf): string {
  const { file, line } = fileAndLineOf(span, sourceOf);
  return `${escapeForTerminal(file)}:${line}`;
}

function link(span: Span, { sourceOf, root }: LoadedSources): string {
  const { file, line } = fileAndLineOf(span, sourceOf);
  const path = root === null ? file : displayPath(root, file);
  return `[${file}:${line}](${encodeURI(path)}#L${line})`;
}

function inMarkdown(text: string): string {
  return text.replaceAll(/(`[^`]*`)|[\\*_<>[\]]/g, (escaped, code) => code ?? `\\${escaped}`);
}

function plain(name: string): string {
  return name.replaceAll('_', ' ');
}
