// Loads one of the two sides of a comparison: the policies of a revision, of a folder, or of the files as
// they are now.

import { existsSync } from 'node:fs';
import { ownersIn } from '../../language/check/owners/owners-file.ts';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';
import { type CompileCache, createCompileCache, findErrors } from '../../pipeline.ts';
import { readSources } from '../../service/policies/bundles/read-sources.ts';
import { digest } from '../../service/policies/digest.ts';
import { displayPath } from '../findings/display-path.ts';
import type { ComparedSide } from './diff-report.ts';
import { checkOut, isRevision } from './git-revision.ts';

export interface SideSource {
  /** The revision; null for the files as they are now. */
  readonly revision: string | null;
  readonly name: string;
  readonly path: string;
}

export type LoadedSide = ComparedSide & { readonly set: PolicySet; readonly files: readonly PolicyFile[] };

export type ReadSide = { readonly side: LoadedSide } | FailedSide;

/** A side that does not compile. */
export interface FailedSide {
  readonly side: null;
  readonly errors: readonly Diagnostic[];
  readonly sourceOf: SourceOf;
  readonly name: string;
}

/**
 * Reads and compiles a side. Throws a RevisionError when there is no such revision, or no such path in it.
 */
export async function readSide(
  { revision, name, path }: SideSource,
  cache: CompileCache = createCompileCache(),
): Promise<ReadSide> {
  const checkout = revision === null ? null : await checkOut(revision, path);
  try {
    const read = await readSources(checkout?.path ?? path);
    const checked = findErrors(read.sources, cache);
    const errors = sortDiagnostics([...read.diagnostics, ...checked.diagnostics]).filter((one) =>
      hasErrors([one]),
    );
    const { set } = checked;
    if (errors.length > 0 || set === null) return { side: null, errors, sourceOf: read.sourceOf, name };
    // A revision lies in a temporary folder, but its files are shown under the path in the repository.
    const root = checkout === null ? read.root : null;
    const { files } = checked;
    const owners = ownersIn(read.sources.readListFile);
    const named = { name, path: root ?? path, sourceOf: read.sourceOf };
    return { side: sideOf({ set, files }, owners.length === 0 ? named : { ...named, owners }) };
  } finally {
    await checkout?.remove();
  }
}

export function sideOf(
  { set, files }: Pick<LoadedSide, 'set' | 'files'>,
  {
    name,
    path,
    sourceOf,
    ...owned
  }: Pick<ComparedSide, 'name' | 'sourceOf' | 'owners'> & { readonly path: string },
): LoadedSide {
  return {
    name,
    // Computed on demand: few callers need the digest, and it takes the text of the whole set.
    get digest() {
      return digest(set);
    },
    set,
    files,
    sourceOf,
    shown: (file) => displayPath(path, file),
    ...owned,
  };
}

/** Whether a single argument is a path: something exists there, and git knows no such revision. */
export async function isOnlyPath(argument: string): Promise<boolean> {
  if (argument.includes('..') && !existsSync(argument)) return false;
  return existsSync(argument) && !(await isRevision(argument, '.').catch(() => false));
}
