// Turns a proposed change, a patch or whole files, into the texts of its files before and after. INVARIANT: every
// line that a patch removes or keeps is there, at one place; nothing is guessed.

import { applyPatch, parsePatch, type StructuredPatch, structuredPatch } from 'diff';
import type { FileChange } from '../../service/policies/change-files.ts';
import { isFilePath } from '../../service/policies/texts.ts';

export type ProposedChange =
  /** A unified diff, as `git diff` writes it. `prefix`: the policy directory, as the patch may name it. */
  | { readonly kind: 'patch'; readonly patch: string; readonly prefix: string | null }
  /** Whole files; a file without a text is deleted. */
  | {
      readonly kind: 'files';
      readonly files: readonly { readonly path: string; readonly text: string | null }[];
    }
  /** A change that was made against other texts. */
  | { readonly kind: 'earlier'; readonly files: readonly FileChange[] };

export type AppliedChange =
  | { readonly files: readonly FileChange[] }
  /** Why the change cannot be applied, as the end of a sentence. */
  | { readonly problem: string };

/** The text of a file as it is now; null when there is none. */
type ReadText = (path: string) => Promise<string | null>;

const filesMax = 50;
/** The most UTF-16 units of all texts, before and after. */
const textMax = 1024 * 1024;

/** The files that the change changes, sorted by path. */
export async function applyChange(change: ProposedChange, readText: ReadText): Promise<AppliedChange> {
  const found = editsOf(change);
  if ('problem' in found) return found;
  const { edits } = found;
  const refusal = refusalOfPaths(edits.map(({ path }) => path));
  if (refusal !== null) return refusal;
  const files: FileChange[] = [];
  for (const { path, apply } of edits) {
    const before = await readText(path);
    const after = apply(before);
    if (after !== null && typeof after === 'object') return { problem: `\`${path}\` ${after.problem}` };
    if (after !== before) files.push({ path, before, after });
  }
  const size = files.reduce(
    (sum, { before, after }) => sum + (before?.length ?? 0) + (after?.length ?? 0),
    0,
  );
  return size > textMax
    ? { problem: 'the files that it changes have more than a million characters together, before and after' }
    : { files: files.toSorted((a, b) => (a.path < b.path ? -1 : 1)) };
}

function refusalOfPaths(paths: readonly string[]): AppliedChange | null {
  const odd = paths.find((path) => !isFilePath(path));
  if (odd !== undefined)
    return { problem: `\`${odd.slice(0, 200)}\` is no path relative to the policy directory` };
  const twice = paths.find((path, at) => paths.indexOf(path) !== at);
  if (twice !== undefined) return { problem: `\`${twice}\` is changed twice` };
  return paths.length > filesMax ? { problem: `it changes more than ${filesMax} files` } : null;
}

interface FileEdit {
  readonly path: string;
  /** The text after the edit; null when the file is deleted. */
  readonly apply: (before: string | null) => string | null | { readonly problem: string };
}

type FileEdits = { readonly edits: readonly FileEdit[] } | { readonly problem: string };

function editsOf(change: ProposedChange): FileEdits {
  switch (change.kind) {
    case 'files':
      return { edits: change.files.map(({ path, text }) => ({ path, apply: () => text })) };
    case 'earlier':
      return { edits: change.files.map(editAgain) };
    case 'patch':
      return editsOfPatch(change.patch, change.prefix);
  }
}

/** The same change of a text that may have changed elsewhere. */
function editAgain({ path, before, after }: FileChange): FileEdit {
  const hunks = structuredPatch(path, path, before ?? '', after ?? '');
  return {
    path,
    apply: (now) => {
      if (now === before || now === after) return after;
      if (after === null) return { problem: 'has changed since, and would be deleted' };
      if (now === null || before === null)
        return { problem: now === null ? 'no longer exists' : 'exists by now' };
      return patched(now, hunks);
    },
  };
}

function editsOfPatch(patch: string, prefix: string | null): FileEdits {
  let parsed: readonly StructuredPatch[];
  try {
    parsed = parsePatch(patch);
  } catch {
    return { problem: 'the patch is not a unified diff' };
  }
  const edits = parsed.map(editOfPatch);
  const fault = edits.find((edit) => 'problem' in edit);
  if (fault !== undefined) return fault;
  const all = edits.filter((edit): edit is FileEdit => 'path' in edit);
  if (all.length === 0) return { problem: 'the patch changes no file' };
  return { edits: withoutPrefix(all, prefix) };
}

/** Patches of a whole repository name the policy directory; patches made in that directory do not. */
function withoutPrefix(edits: readonly FileEdit[], prefix: string | null): readonly FileEdit[] {
  const start = `${prefix ?? ''}/`;
  if (prefix === null || prefix === '' || !edits.every(({ path }) => path.startsWith(start))) return edits;
  return edits.map((edit) => ({ ...edit, path: edit.path.slice(start.length) }));
}

function editOfPatch(patch: StructuredPatch): FileEdit | { readonly problem: string } {
  const [old, fresh] = [patch.oldFileName, patch.newFileName].map(nameIn);
  const path = fresh ?? old;
  if (path === undefined || path === null) return { problem: 'a part of the patch names no file' };
  if (patch.isRename === true || patch.isCopy === true || (old != null && fresh != null && old !== fresh))
    return { problem: `\`${path}\` is renamed: delete the file and add a new one` };
  const isNew = old === null || patch.isCreate === true;
  const isGone = fresh === null || patch.isDelete === true;
  if (patch.hunks.length === 0 && !isNew && !isGone) return { problem: `\`${path}\` has no text changes` };
  return {
    path,
    apply: (before) => {
      if (isNew !== (before === null))
        return { problem: isNew ? 'is new in the patch, but exists' : 'is not among the files' };
      const after = patched(before ?? '', patch);
      if (!isGone || typeof after === 'object') return after;
      return after === '' ? null : { problem: 'is deleted by the patch, but has other text' };
    },
  };
}

/** The name without Git's prefix; null for no file, undefined when the patch does not say. */
function nameIn(name: string | undefined): string | null | undefined {
  return name === '/dev/null' ? null : name?.replace(/^[ab]\//, '');
}

function patched(text: string, patch: StructuredPatch): string | { readonly problem: string } {
  const after = applyPatch(text, patch, { fuzzFactor: 0, autoConvertLineEndings: false });
  return after === false ? { problem: 'has other text where the patch changes it' } : after;
}
