// The active policies, kept for the next start in one file: a bundle without the texts of the set, with what serving needs beside the
// program. INVARIANT: it is found only for the texts, the code and the platform that it was made from, and where no bit of it is another;
// whatever is wrong with the file costs a compilation and nothing else.

import { hash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readBundle, writeBundle } from './compiled/bundle.ts';
import { engineMark } from './compiled/engine-mark.ts';
import type { CompiledSet } from './compiler-messages.ts';
import type { ReadSources } from './read.ts';
import type { CompiledContent } from './set-compiler.ts';
import { packTexts } from './texts.ts';

/** What is kept of a set: its program stays with the caller, and no text is copied. */
export type SetToKeep = Omit<CompiledSet, 'texts' | 'commit'>;

/** The bytes of what was kept; null for none. Never rejects. */
export async function readKeptFile(file: string): Promise<Uint8Array | null> {
  return await readFile(file).catch(() => null);
}

/** What was kept for what was read, out of bytes that are used for nothing else; null for none. Never rejects. */
export async function findKeptSet(
  bytes: Uint8Array | null,
  read: ReadSources,
): Promise<CompiledContent | null> {
  if (bytes === null || read.diagnostics.length > 0) return null;
  const kept = await readBundle(bytes, undefined, { sha256, isGivenAway: true }).catch(() => null);
  if (kept?.facts === undefined || kept.engine !== engineMark()) return null;
  const { content, titles, ...named } = kept.facts;
  if (read.contentHash(content.listFiles) !== content.hash) return null;
  const set = {
    ...named,
    program: kept.program,
    titles: new Map(titles),
    texts: packTexts(read, content.listFiles),
  };
  return { listFiles: content.listFiles, result: { kind: 'compiled', set } };
}

/** In the place of what was kept before: whether that was the same, bit by bit. Rejects where the file cannot be written. */
export async function keepSet(file: string, set: SetToKeep): Promise<boolean> {
  const { program, content, digest, actions, rules, titles, about } = set;
  const facts = { content, digest, actions, rules, titles: [...titles], about };
  const bytes = await writeBundle(
    { madeMs: 0, commit: null, texts: [], program, facts, engine: engineMark() },
    null,
  );
  const before = await readFile(file).catch(() => null);
  if (before?.equals(bytes) === true) return true;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // Whatever a crash leaves of it is told by its checksum.
  await writeFile(`${file}.new`, bytes, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return false;
}

/** Deletes what is kept for the next start. Rejects where the file cannot be deleted. */
export async function forgetKeptSet(file: string): Promise<void> {
  await rm(file, { force: true });
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}
