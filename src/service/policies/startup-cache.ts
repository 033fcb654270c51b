// Keeps the active policies for the next start in one file: a bundle without texts, but with what serving
// needs beside the program. INVARIANT: the kept set is found only for the texts, code and platform it was
// made from, and only when no bit of the file has changed. A fault of the file costs a compilation and
// nothing else.

import { hash } from 'node:crypto';
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { readBundle, writeBundle } from './compiled/bundle.ts';
import { engineMark } from './compiled/compiler-fingerprint.ts';
import type { CompiledSet } from './compiler-messages.ts';
import type { ReadSources } from './read-policies.ts';
import type { CompiledContent } from './set-compiler.ts';
import { packTexts } from './texts.ts';

/** The part of a set that is kept; the caller keeps its program, and no text is copied. */
export type CacheableSet = Omit<CompiledSet, 'texts' | 'commit'>;

/** Returns the bytes of the kept set; null when there are none. Never rejects. */
export async function readCacheFile(file: string): Promise<Uint8Array | null> {
  return await readFile(file).catch(() => null);
}

/**
 * Returns the kept set, if it was made from what was read; else null. The set shares the memory of the bytes,
 * which must not be used elsewhere. Never rejects.
 */
export async function findCachedSet(
  bytes: Uint8Array | null,
  read: ReadSources,
): Promise<CompiledContent | null> {
  if (bytes === null || read.diagnostics.length > 0) return null;
  const cachedBundle = await readBundle(bytes, undefined, { sha256, isGivenAway: true }).catch(() => null);
  if (cachedBundle?.facts === undefined || cachedBundle.engine !== engineMark()) return null;
  const { content, titles, ...named } = cachedBundle.facts;
  if (read.contentHash(content.listFiles) !== content.hash) return null;
  const set = {
    ...named,
    program: cachedBundle.program,
    titles: new Map(titles),
    texts: packTexts(read, content.listFiles),
  };
  return { listFiles: content.listFiles, result: { kind: 'compiled', set } };
}

/**
 * Replaces the kept set; returns whether the old file was equal bit by bit. Rejects when the file cannot be
 * written.
 */
export async function writeCachedSet(file: string, set: CacheableSet): Promise<boolean> {
  const { program, content, digest, actions, rules, titles, about } = set;
  const facts = { content, digest, actions, rules, titles: [...titles], about };
  const bytes = await writeBundle(
    { madeMs: 0, commit: null, texts: [], program, facts, engine: engineMark() },
    null,
  );
  const before = await readFile(file).catch(() => null);
  if (before?.equals(bytes) === true) return true;
  await mkdir(dirname(file), { recursive: true, mode: 0o700 });
  // If a crash leaves only part of the file, its checksum shows that.
  await writeFile(`${file}.new`, bytes, { mode: 0o600 });
  await rename(`${file}.new`, file);
  return false;
}

/** Deletes what is kept for the next start. Rejects when the file cannot be deleted. */
export async function deleteCachedSet(file: string): Promise<void> {
  await rm(file, { force: true });
}

function sha256(bytes: Uint8Array): Uint8Array {
  return hash('sha256', bytes, 'buffer');
}
