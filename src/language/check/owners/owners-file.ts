// Reads `owners.yaml`: which files may decide about which actions. Turns its text into entries, or into errors.
// INVARIANT: a file with an error has no entries, so that no part of it is taken for the whole.

import { parseDocument } from 'yaml';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { ListFile } from '../messages/list-files.ts';

/** The path of the file, in the policy directory. */
export const ownersFile = 'owners.yaml';

/** The policy files of a folder, and the actions about which they may decide. */
export interface OwnersEntry {
  /** Such as `payments/**`, `payments/limits.policy` or `**`. */
  readonly files: string;
  /** Such as `payment.*`, `payment.create` or `*`. */
  readonly actions: readonly string[];
  /** Who reviews changes, as CODEOWNERS names them; empty when the file does not say. */
  readonly reviewers: readonly string[];
}

export type OwnersResult =
  | { readonly entries: readonly OwnersEntry[] }
  | { readonly errors: readonly Diagnostic[] };

/** The longest text, in UTF-16 units. */
const textMax = 200_000;

export function readOwners(text: string): OwnersResult {
  if (text.length > textMax) return malformed('it is too large');
  const root = plainOf(text);
  if (typeof root === 'string') return malformed(root);
  const { owners, ...others } = root;
  if (!isRecord(owners) || Object.keys(others).length > 0)
    return malformed('it must have the one key `owners`, with an entry for each folder');
  const results = Object.entries(owners).map(([files, value]) => entryOf(files, value));
  const errors = results.filter((one) => typeof one === 'string');
  if (errors.length > 0) return { errors: errors.map(error) };
  return { entries: results.filter((one) => typeof one !== 'string') };
}

/** The content of the YAML, or what is wrong with it. */
function plainOf(text: string): Readonly<Record<string, unknown>> | string {
  const document = parseDocument(text, { schema: 'core' });
  const [fault] = document.errors;
  if (fault !== undefined) return `it is not YAML: ${fault.message.split('\n', 1)[0] ?? ''}`;
  try {
    // Aliases are not needed, and could make a small file expand to a large one.
    const root: unknown = document.toJS({ maxAliasCount: 0 });
    return isRecord(root) ? root : 'it must have the one key `owners`';
  } catch {
    return 'it has aliases';
  }
}

/** An entry, or what is wrong with it. */
function entryOf(files: string, value: unknown): OwnersEntry | string {
  if (!isFilePattern(files))
    return `\`${files}\` must be a folder such as \`payments/**\`, a file, or \`**\``;
  const { actions, reviewers = [], ...others } = isRecord(value) ? value : { actions: value };
  if (!areTexts(reviewers) || Object.keys(others).length > 0)
    return `\`${files}\` takes \`actions\` and \`reviewers\`, which are lists`;
  if (!areTexts(actions) || actions.length === 0)
    return `\`${files}\` must list actions, such as \`payment.*\``;
  const unfit = actions.find((one) => !isActionPattern(one));
  return unfit === undefined
    ? { files, actions, reviewers }
    : `\`${files}\`: \`${unfit}\` must be an action, \`area.*\`, \`*.verb\` or \`*\``;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function areTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === 'string' && one.trim() !== '');
}

/** `**`, a folder with everything below it, or one file; relative, without `.` and `..`. */
function isFilePattern(text: string): boolean {
  if (text === '**') return true;
  const path = text.endsWith('/**') ? text.slice(0, -3) : text;
  const segments = path.split('/');
  return segments.every((one) => one !== '' && one !== '.' && one !== '..' && !/[*?[\]{}\\]/.test(one));
}

function isActionPattern(text: string): boolean {
  return /^(?:\*|(?:\*\.)?\w+(?:\.\w+)*|\w+(?:\.\w+)*\.\*)$/.test(text);
}

function malformed(why: string): OwnersResult {
  return { errors: [error(why)] };
}

function error(why: string): Diagnostic {
  return {
    code: 'owners-malformed',
    severity: 'error',
    span: { file: ownersFile, start: 0, end: 0 },
    message: `\`${ownersFile}\` cannot be read: ${why}`,
    help: 'write `owners:`, and below it lines such as `payments/**: [payment.*]`',
  };
}

/** Whether an entry is about a file, by its path relative to the policy directory. */
function isAboutFile({ files }: OwnersEntry, path: string): boolean {
  if (files === '**') return true;
  return files.endsWith('/**') ? path.startsWith(files.slice(0, -2)) : path === files;
}

/** The entry about a file: the one that names the smallest folder, or the file itself. Null when nobody owns it. */
export function entryAbout(entries: readonly OwnersEntry[], path: string): OwnersEntry | null {
  const about = entries.filter((entry) => isAboutFile(entry, path));
  return about.toSorted((a, b) => b.files.length - a.files.length)[0] ?? null;
}

/** Whether the file may decide about the action. */
export function isOwnedBy(entries: readonly OwnersEntry[], path: string, action: string): boolean {
  return entryAbout(entries, path)?.actions.some((one) => matches(one, action)) === true;
}

function matches(pattern: string, action: string): boolean {
  if (pattern === '*') return true;
  if (pattern.endsWith('.*')) return action.startsWith(pattern.slice(0, -1));
  return pattern.startsWith('*.') ? action.endsWith(pattern.slice(1)) : action === pattern;
}

/** The entries of a set without errors; empty when it has no owners. */
export function ownersIn(readListFile: (path: string) => ListFile): readonly OwnersEntry[] {
  const file = readListFile(ownersFile);
  const read = 'text' in file ? readOwners(file.text) : { errors: [] };
  return 'entries' in read ? read.entries : [];
}
