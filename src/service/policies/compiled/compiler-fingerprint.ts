// Computes a mark of the compiler (release, code and platform), by which a compiled program is known to be
// its work.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { release } from './bundle.ts';

/**
 * Returns a mark that differs whenever the same texts may compile to something else: in another release, with
 * other code in a checkout, or on another platform.
 */
export function engineMark(): string {
  if (mark !== null) return mark;
  const hash = createHash('sha256').update(
    `${release} ${process.arch} ${JSON.stringify(process.versions)}\n`,
  );
  for (const path of codeFiles()) hash.update(`${path}\n`).update(readFileSync(path));
  mark = hash.digest('hex');
  return mark;
}

/**
 * The compiler's code beside this file. An installed package has its code elsewhere, and its release
 * identifies it.
 */
function codeFiles(): readonly string[] {
  const source = join(import.meta.dirname, '../../..');
  const folders = ['language', 'service/policies'].map((name) => join(source, name)).filter(existsSync);
  const inFolders = folders.flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  );
  return [join(source, 'pipeline.ts'), ...inFolders]
    .filter((path) => path.endsWith('.ts') && existsSync(path))
    .toSorted();
}

let mark: string | null = null;
