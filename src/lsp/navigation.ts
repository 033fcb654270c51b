// Leads from a name to its declaration and its uses, and renames all of them.

import type { DocumentHighlight, Location, Range, WorkspaceEdit } from 'vscode-languageserver';
import { DocumentHighlightKind } from 'vscode-languageserver';
import { isPatternOf, nameKinds } from '../language/assist/declared-words.ts';
import { type Occurrence, occurrencesOf } from '../language/assist/names.ts';
import { whyReserved } from '../language/check/expressions/names.ts';
import { isReservedWord } from '../language/syntax/parse/tokens.ts';
import { editsOf } from './diagnostics.ts';
import { nameAt, sameNames } from './hover.ts';
import { type DocumentPosition, locationOf, rangeOf } from './set/positions.ts';
import type { SetSnapshot } from './set/workspace.ts';

export function definitionsAt(position: DocumentPosition): readonly Location[] {
  return linked(position)
    .filter(({ isDeclared }) => isDeclared)
    .map(({ span }) => locationOf(position.snapshot, span));
}

export function referencesAt(position: DocumentPosition, isDeclarationWanted: boolean): readonly Location[] {
  return linked(position)
    .filter(({ isDeclared }) => isDeclarationWanted || !isDeclared)
    .map(({ span }) => locationOf(position.snapshot, span));
}

export function highlightsAt(position: DocumentPosition): readonly DocumentHighlight[] {
  return linked(position)
    .filter(({ span }) => span.file === position.file)
    .map(({ span, isDeclared }) => ({
      range: rangeOf(position.document, span),
      kind: isDeclared ? DocumentHighlightKind.Write : DocumentHighlightKind.Read,
    }));
}

/** All occurrences of the name at a place. For a field, only those in actions that the place is about. */
function linked(position: DocumentPosition): readonly Occurrence[] {
  const { snapshot } = position;
  const occurrence = nameAt(position);
  if (occurrence === null || occurrence.kind === 'builtin' || occurrence.kind === 'fact') return [];
  const same = sameNames(snapshot, occurrence);
  return occurrence.kind === 'field' ? same.filter((one) => areTogether(snapshot, one, occurrence)) : same;
}

/** Whether there is an action that both occurrences are about. */
function areTogether({ files }: SetSnapshot, one: Occurrence, other: Occurrence): boolean {
  const [a, b] = [one.patterns, other.patterns];
  if (a === null || b === null) return true;
  const actions = files.flatMap(({ declarations }) =>
    declarations.flatMap((declared) =>
      declared.kind !== 'action'
        ? []
        : declared.keys.map(({ text: key }) => ({ key, groups: declared.groups.map(({ text }) => text) })),
    ),
  );
  const speaksOf = (patterns: readonly string[], action: (typeof actions)[number]) =>
    patterns.some((pattern) => isPatternOf(pattern, action));
  return actions.some((action) => speaksOf(a, action) && speaksOf(b, action));
}

/**
 * Kinds of names that a set declares. The fields of a payload are not among them, because policies cannot
 * rename them.
 */
const renamed: ReadonlySet<string> = new Set([...Object.keys(nameKinds), 'rule', 'variable']);

/** The range and the current name; null when the place has no name that can be changed. */
export function renamedAt(position: DocumentPosition): { range: Range; placeholder: string } | null {
  const { snapshot, document } = position;
  const occurrence = nameAt(position);
  if (occurrence === null || !renamed.has(occurrence.kind)) return null;
  if (!sameNames(snapshot, occurrence).some(({ isDeclared }) => isDeclared)) return null;
  return { range: rangeOf(document, occurrence.span), placeholder: shortName(occurrence) };
}

function shortName({ kind, name }: Occurrence): string {
  if (kind === 'variable') return name.split(' ')[0] ?? name;
  return kind === 'rule' ? (name.split('/')[1] ?? name) : name;
}

/** The edits in all files, or a text with the reason why the name cannot be changed. */
export function renameAt(position: DocumentPosition, to: string): WorkspaceEdit | string {
  const { snapshot } = position;
  const occurrence = nameAt(position);
  if (occurrence === null || renamedAt(position) === null) return 'there is no name to rename here';
  const why = whyNoName(to);
  if (why !== null) return why;
  const isTaken = occurrencesOf(snapshot.files).some(
    (one) => one.isDeclared && one.kind !== 'field' && shortName(one) === to && isBeside(one, occurrence),
  );
  if (isTaken) return `\`${to}\` is already declared`;
  const edits = sameNames(snapshot, occurrence).map(({ span }) => ({ span, text: to }));
  return { changes: editsOf(snapshot, edits) };
}

function whyNoName(name: string): string | null {
  if (!/^[a-z][a-z0-9_]*$/.test(name))
    return 'names start with a lower-case letter, followed by lower-case letters, digits and `_`';
  return isReservedWord(name) ? `\`${name}\` is a keyword` : whyReserved(name);
}

/**
 * Whether two names would clash if they were the same: two rules of a policy, or two declarations of the top
 * level.
 */
function isBeside(one: Occurrence, other: Occurrence): boolean {
  if (one.kind === 'rule' || other.kind === 'rule')
    return one.kind === other.kind && one.name.split('/')[0] === other.name.split('/')[0];
  return one.kind !== 'action';
}
