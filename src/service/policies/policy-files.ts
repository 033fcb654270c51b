// Turns the files of a set into one text that a store can keep, and such a text back into a set. INVARIANT:
// the set is compiled like any other directory and has the same digest.

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve, sep } from 'node:path';
import { type HostedPolicies, openPolicies } from './policy-host.ts';
import { entriesOf, type SetTexts, textOfFile } from './texts.ts';

interface PolicyFile {
  /** Relative to the policy directory, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

export function filesOf(texts: SetTexts): string {
  const files = entriesOf(texts).map(
    (entry): PolicyFile => ({ path: entry.path, text: textOfFile(texts, entry) }),
  );
  return JSON.stringify(files);
}

/** Rejects when the files cannot be used. */
export async function createHostedFromFiles(filesJson: string, timeoutMs?: number): Promise<HostedPolicies> {
  // `filesOf` wrote the text, so its form is known.
  const files = JSON.parse(filesJson) as readonly PolicyFile[];
  const directory = await mkdtemp(join(tmpdir(), 'writ-policies-'));
  try {
    await writeFiles(directory, files);
    const host = await openPolicies({ directory, ...(timeoutMs === undefined ? {} : { timeoutMs }) });
    try {
      return host.current();
    } finally {
      await host.close();
    }
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** `directory`: absolute. Rejects when a file would lie outside of the directory. */
export async function writeFiles(directory: string, files: readonly PolicyFile[]): Promise<void> {
  for (const { path, text } of files) {
    const target = resolve(directory, path);
    if (!target.startsWith(directory + sep))
      throw new Error(`a policy file lies outside its directory: ${path}`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}
