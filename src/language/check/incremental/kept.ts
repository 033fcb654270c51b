// What came of parts of the set, kept from one check to the next, and list files, each read once in a check.

import type { ListFile } from '../messages/list-files.ts';
import type { Environment } from './environment.ts';
import type { CheckOutcome } from './recorder.ts';

/** What came of a part of the tree or the model, made now unless the earlier outcome still holds. */
export function kept<T>(env: Environment, part: object, make: () => T): T {
  const { outcomes } = env.checkState;
  // What is kept of a part is always made by the same pass.
  const outcome = env.recorder.keep(outcomes.get(part) as CheckOutcome<T> | undefined, make);
  outcomes.set(part, outcome);
  return outcome.value;
}

/** As `kept`, of what has many parts, such as the policies of a file: while it holds, none of them is looked at. */
export function keptWhole<T>(env: Environment, part: object, make: () => T): T {
  const { outcomes } = env.checkState;
  const outcome = env.recorder.keepWhole(outcomes.get(part) as CheckOutcome<T> | undefined, make);
  outcomes.set(part, outcome);
  return outcome.value;
}

/** Whether the kept outcome of a part has parts of its own, such as the lets that it reads. */
export function hasParts(env: Environment, part: object): boolean {
  return env.checkState.outcomes.get(part)?.said.some((one) => !('code' in one)) === true;
}

/** What stands under the path, read once in a round. */
export function listFileOf(path: string, env: Environment): ListFile {
  const known = env.listFiles.get(path);
  if (known !== undefined) return known;
  const file = env.readListFile(path);
  env.listFiles.set(path, file);
  return file;
}

/** The text of a list file, or why there is none, as one text. */
export function textOfListFile(file: ListFile): string {
  return 'text' in file ? `=${file.text}` : `!${file.code} ${file.message}`;
}
