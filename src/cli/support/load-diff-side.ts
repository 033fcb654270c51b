// Loads one of the two sides of a comparison for a command, and prints what is wrong with it.

import {
  type FailedSide,
  type LoadedSide,
  readSide,
  type SideSource,
} from '../../analysis/diff/diff-side.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import type { CompileCache } from '../../pipeline.ts';
import { printError } from '../output/output.ts';
import { showDiagnostics } from './load-policies.ts';

/** Null when the side does not compile; its errors are printed then. */
export async function loadSide(source: SideSource, memory?: CompileCache): Promise<LoadedSide | null> {
  const read = await readSide(source, memory);
  if (read.side !== null) return read.side;
  showFailedSide(read);
  return null;
}

export function showFailedSide({ errors, sourceOf, name }: FailedSide): void {
  showDiagnostics(errors, sourceOf);
  printError(`${escapeForTerminal(name)}: the policies do not compile\n`);
}
