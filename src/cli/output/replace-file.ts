// Replaces the text of a file in one step: readers see the old text or the new one, never a part.
// INVARIANT: the file keeps its mode, and a link stays a link to the replaced file.

import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileError } from './file-error.ts';
import { UsageError } from './output.ts';

/** Throws a UsageError when the file or its folder may not be written. */
export async function replaceFile(path: string, text: string): Promise<void> {
  try {
    const target = await realpath(path);
    // The draft's name begins with a dot, so programs that watch or read the folder do not take the draft for
    // a policy.
    const draft = join(dirname(target), `.${basename(target)}.${process.pid}.new`);
    try {
      await writeDraft(draft, text, (await stat(target)).mode);
      await rename(draft, target);
    } finally {
      await rm(draft, { force: true });
    }
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${fileError(error)}`);
  }
}

async function writeDraft(path: string, text: string, mode: number): Promise<void> {
  const file = await open(path, 'wx');
  try {
    await file.writeFile(text);
    await file.chmod(mode);
    await file.sync();
  } finally {
    await file.close();
  }
}
