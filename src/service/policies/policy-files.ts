// The files of a set as one text that a store can keep, and a set out of such a text. INVARIANT: what comes out was compiled as
// any other directory is, and has the same digest.

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

/** Rejects where the files cannot be used. */
export async function createHostedFromFiles(filesJson: string, timeoutMs?: number): Promise<HostedPolicies> {
  // Written by `filesOf`.
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

/** `directory`: absolute. Rejects where a file would lie outside of it. */
export async function writeFiles(directory: string, files: readonly PolicyFile[]): Promise<void> {
  for (const { path, text } of files) {
    const target = resolve(directory, path);
    if (!target.startsWith(directory + sep))
      throw new Error(`a policy file lies outside its directory: ${path}`);
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, text);
  }
}
