// Makes edits of policy texts that keep the formatting and comments around them: an entry more or less in a list,
// a rule in a policy, an exception in a rule. Each edit has a description in words.

import { posix } from 'node:path';
import { formattedText } from '../../language/assist/formatted-text.ts';
import type { Edit } from '../../language/diagnostic/diagnostic.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import type {
  Declaration,
  DeclarationOf,
  ExpressionNode,
  LiteralNode,
  PolicyDeclaration,
  PolicyFile,
  RuleNode,
} from '../../language/syntax/tree/tree.ts';
import { fold } from '../../language/value/text.ts';
import type { PolicySources } from '../../pipeline.ts';
import { entryRemoval, removal } from '../../testing/mutation/edit.ts';

/** What an edit changes, which is also how suggestions are told apart. */
export type EditKind = 'rule' | 'exception' | 'list' | 'bound';

/** One change of the policies that may take several edits. */
export interface PolicyChange {
  readonly kind: EditKind;
  readonly edits: readonly Edit[];
  /** Such as `adds "Acme" to the list known_vendors`. */
  readonly text: string;
}

/** The texts and trees of a set. */
export interface SourceSet {
  readonly sources: PolicySources;
  readonly files: readonly PolicyFile[];
}

export function textOf({ sources }: SourceSet, path: string): string {
  const policy = sources.files.find((file) => file.path === path);
  if (policy !== undefined) return policy.text;
  const list = sources.readListFile(path);
  return 'text' in list ? list.text : '';
}

/** Returns the text of a span as it is written. */
export function written(set: SourceSet, { file, start, end }: Span): string {
  return textOf(set, file).slice(start, end);
}

export function declarationOf<Kind extends Declaration['kind']>(
  { files }: SourceSet,
  kind: Kind,
  name: string,
): DeclarationOf<Kind> | null {
  const isIt = (one: Declaration): one is DeclarationOf<Kind> =>
    one.kind === kind && 'name' in one && one.name.text === name;
  return files.flatMap(({ declarations }) => declarations).find(isIt) ?? null;
}

// ---- lists

/** An entry of a list: the text as a literal of the language, and as a line of a list file. */
export interface ListEntry {
  readonly literal: string;
  readonly line: string | null;
}

/** Adds an entry to a declared list, or to the first of the lists that it joins; null if that is not possible. */
export function entryAdded(set: SourceSet, name: string, entry: ListEntry): PolicyChange | null {
  const source = declarationOf(set, 'list', name)?.source;
  if (source === undefined) return null;
  const text = `adds ${entry.literal} to the list \`${name}\``;
  switch (source.kind) {
    case 'entries': {
      const edit = entryBehind(set, source.entries, entry.literal);
      return edit === null ? null : { kind: 'list', edits: [edit], text };
    }
    case 'join':
      return entryAdded(set, source.lists[0]!.text, entry);
    case 'list-file': {
      const edit = entry.line === null ? null : lineAdded(set, listPath(source.path), entry.line);
      return edit === null ? null : { kind: 'list', edits: [edit], text };
    }
  }
}

/** An entry behind the last one, on a line of its own if the last one is; null for a list without entries. */
export function entryBehind(
  set: SourceSet,
  entries: readonly { readonly span: Span }[],
  literal: string,
): Edit | null {
  const last = entries.at(-1)?.span;
  if (last === undefined) return null;
  const text = textOf(set, last.file);
  const line = text.slice(text.lastIndexOf('\n', last.start - 1) + 1, last.start);
  const between = line.trim() === '' && text.includes('\n') ? `,\n${line}` : ', ';
  return { span: { ...last, start: last.end }, text: `${between}${literal}` };
}

function lineAdded(set: SourceSet, path: string, line: string): Edit | null {
  if (/\.(?:ya?ml|json|csv)$/.test(path) || line.includes('\n') || line.trim() !== line) return null;
  const text = textOf(set, path);
  const isEnded = text === '' || text.endsWith('\n');
  const span = { file: path, start: text.length, end: text.length };
  return { span, text: `${isEnded ? '' : '\n'}${line}\n` };
}

/** Removes the entry that equals a text from a declared list; null if there is no such entry. */
export function entryRemoved(set: SourceSet, name: string, value: string): PolicyChange | null {
  const declaration = declarationOf(set, 'list', name);
  if (declaration === null) return null;
  const { source, ignoringCase } = declaration;
  const isEqual = (one: string): boolean => one === value || (ignoringCase && fold(one) === fold(value));
  const text = `removes ${JSON.stringify(value)} from the list \`${name}\``;
  if (source.kind === 'entries') {
    const at = source.entries.findIndex((entry) => entry.kind === 'text' && isEqual(entry.value));
    const file = source.span.file;
    if (at < 0 || source.entries.length < 2) return null;
    return { kind: 'list', edits: [entryRemoval(textOf(set, file), source.entries, at)], text };
  }
  if (source.kind !== 'list-file') return null;
  const span = lineEqual(set, listPath(source.path), isEqual);
  return span === null ? null : { kind: 'list', edits: [removal(textOf(set, span.file), span)], text };
}

function lineEqual(set: SourceSet, file: string, isEqual: (line: string) => boolean): Span | null {
  if (/\.(?:ya?ml|json|csv)$/.test(file)) return null;
  for (const { index, 0: line } of textOf(set, file).matchAll(/[^\n]+/g))
    if (isEqual(line.trim())) return { file, start: index, end: index + line.length };
  return null;
}

/** Removes one of the entries that a condition writes out; null if it would be the last. */
export function writtenEntryRemoved(
  set: SourceSet,
  entries: readonly { readonly span: Span }[],
  at: number,
): Edit | null {
  if (entries.length < 2) return null;
  return entryRemoval(textOf(set, entries[at]!.span.file), entries, at);
}

/** Relative to the policy directory, like the path of the file that names the list. */
function listPath({ span, value }: { readonly span: Span; readonly value: string }): string {
  return posix.join(posix.dirname(span.file), value);
}

// ---- constants

/** Writes another constant in place of one. */
export function constantReplaced(set: SourceSet, span: Span, literal: string): PolicyChange {
  const old = written(set, span);
  const text = old.includes('_') ? grouped(literal) : literal;
  return { kind: 'bound', edits: [{ span, text }], text: `changes \`${old}\` to \`${text}\`` };
}

/** Writes `10000.01 USD` as `10_000.01 USD`. */
function grouped(literal: string): string {
  return literal.replace(/^\d+/, (digits) => digits.replace(/\B(?=(\d{3})+$)/g, '_'));
}

/** The constant of a row in a table that a policy file writes out; null if the table is not written so. */
export function rowValue(set: SourceSet, table: string, key: string): LiteralNode | null {
  const source = declarationOf(set, 'table', table)?.source;
  if (source?.kind !== 'rows') return null;
  return source.rows.find((row) => row.key.text === key)?.value ?? null;
}

// ---- rules

/** A rule to be written: its first line, and its condition. */
export interface NewRule {
  readonly head: string;
  readonly condition: string;
}

/** Adds an `allow` at the end of a policy. */
export function ruleInserted(set: SourceSet, policy: PolicyDeclaration, rule: NewRule): Edit {
  const { file, end } = policy.span;
  const text = textOf(set, file);
  const brace = text.lastIndexOf('}', end - 1);
  const isOnLine = text.slice(text.lastIndexOf('\n', brace - 1) + 1, brace).trim() === '';
  const start = isOnLine ? text.lastIndexOf('\n', brace - 1) + 1 : brace;
  const blank = policy.rules.length > 0 ? '\n' : '';
  return { span: { file, start, end: start }, text: `${isOnLine ? blank : '\n'}${ruleText(rule)}` };
}

/** Adds a policy of its own for one action, behind another policy of the same file. */
export function policyInserted(
  set: SourceSet,
  behind: PolicyDeclaration,
  { name, action, ...rule }: NewRule & { readonly name: string; readonly action: string },
): Edit {
  const { file, end } = behind.span;
  const newline = textOf(set, file).indexOf('\n', end);
  const start = newline < 0 ? end : newline + 1;
  const text = `${newline < 0 ? '\n' : ''}\npolicy ${name} on ${action} {\n${ruleText(rule)}}\n`;
  return { span: { file, start, end: start }, text };
}

function ruleText({ head, condition }: NewRule): string {
  return formattedLines([
    `  ${head}`,
    `    when ${condition}`,
    '    because "An exception for requests like one that was stopped"',
  ]);
}

/** The lines of a rule in the way of `writ fmt`; as they are when they cannot be formatted. */
function formattedLines(rule: readonly string[]): string {
  const text = `policy p on a {\n${rule.join('\n')}\n}\n`;
  return (formattedText(text) ?? text).split('\n').slice(1, -2).join('\n').concat('\n');
}

/** Adds an exception to a rule: a new `unless`, or one case more in the one that it has. */
export function exceptionInserted(set: SourceSet, rule: RuleNode, condition: string): readonly Edit[] {
  const { file } = rule.span;
  const unless = rule.clauses.find((clause) => clause.kind === 'unless');
  if (unless !== undefined) return alternativeAdded(unless.condition, condition);
  const when = rule.clauses.find((clause) => clause.kind === 'when');
  const text = textOf(set, file);
  const behind = when?.span.end ?? headEnd(rule);
  const newline = text.indexOf('\n', behind);
  const lineEnd = newline < 0 ? text.length : newline;
  const rest = text.slice(behind, lineEnd).trim();
  // A comment behind the clause stays on its line.
  const start = rest === '' || rest.startsWith('#') ? lineEnd : behind;
  const [, ...lines] = formattedLines(['  deny r', `    unless ${condition}`])
    .trimEnd()
    .split('\n');
  return [{ span: { file, start, end: start }, text: `\n${lines.join('\n')}` }];
}

/** The end of the parameters on the line of the name. */
function headEnd({ name, clauses }: RuleNode): number {
  const firstApart = clauses.findIndex(({ kind }) => ['standing', 'because', 'points'].includes(kind));
  const head = firstApart < 0 ? clauses : clauses.slice(0, firstApart);
  return Math.max(name.span.end, ...head.map(({ span }) => span.end));
}

function alternativeAdded({ kind, span }: ExpressionNode, condition: string): readonly Edit[] {
  const isBracketed = kind === 'if' || kind === 'else' || kind === 'quantifier' || kind === 'unary';
  const end = { ...span, start: span.end };
  const start = { ...span, end: span.start };
  return isBracketed
    ? [
        { span: start, text: '(' },
        { span: end, text: `)\n      or ${condition}` },
      ]
    : [{ span: end, text: `\n      or ${condition}` }];
}

// ---- several edits

/** The edits together, each once; null if two of them change the same text. */
export function joinedEdits(edits: readonly Edit[]): readonly Edit[] | null {
  const key = ({ span, text }: Edit): string => JSON.stringify([span.file, span.start, span.end, text]);
  const unique = [...new Map(edits.map((edit) => [key(edit), edit])).values()];
  const sorted = unique.toSorted(
    (a, b) =>
      (a.span.file < b.span.file ? -1 : Number(a.span.file > b.span.file)) || a.span.start - b.span.start,
  );
  const isApart = sorted.every((edit, at) => {
    const next = sorted[at + 1];
    return next === undefined || next.span.file !== edit.span.file || edit.span.end <= next.span.start;
  });
  return isApart ? sorted : null;
}
