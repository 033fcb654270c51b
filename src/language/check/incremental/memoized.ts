// Memoizes the outcomes of parts of the set across revisions, and reads each list file once per revision.

import type { ListFile } from '../messages/list-files.ts';
import type { Environment } from './environment.ts';
import type { CheckOutcome } from './recorder.ts';

/** Returns what `make` makes of a part of the tree or the model; the earlier outcome if that still holds. */
export function memoized<T>(env: Environment, part: object, make: () => T): T {
  const { outcomes } = env.checkState;
  // Outcomes that are kept for a part are always made by the same pass.
  const outcome = env.recorder.memoize(outcomes.get(part) as CheckOutcome<T> | undefined, make);
  outcomes.set(part, outcome);
  return outcome.value;
}

/**
 * As `memoized`, for a part that has many parts itself, such as a file with its policies: while the outcome
 * holds, none of these is looked at.
 */
export function memoizedMerged<T>(env: Environment, part: object, make: () => T): T {
  const { outcomes } = env.checkState;
  const outcome = env.recorder.memoizeMerged(outcomes.get(part) as CheckOutcome<T> | undefined, make);
  outcomes.set(part, outcome);
  return outcome.value;
}

/** Whether the kept outcome of a part has parts of its own, such as the lets that it reads. */
export function hasParts(env: Environment, part: object): boolean {
  return env.checkState.outcomes.get(part)?.diagnostics.some((one) => !('code' in one)) === true;
}

/** Returns what the host found under the path, which is read once per revision. */
export function listFileOf(path: string, env: Environment): ListFile {
  const cached = env.listFiles.get(path);
  if (cached !== undefined) return cached;
  const file = env.readListFile(path);
  env.listFiles.set(path, file);
  return file;
}

/** Encodes the text of a list file, or why the file cannot be read, as one text. */
export function textOfListFile(file: ListFile): string {
  return 'text' in file ? `=${file.text}` : `!${file.code} ${file.message}`;
}
