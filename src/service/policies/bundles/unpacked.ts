// Keeps bundles on this machine: the texts of the served bundle, in a directory that a policy host follows,
// and the last active bundle, for a start that cannot reach its source. INVARIANT: the link `current` leads
// to the whole texts of one bundle at every moment.

import { mkdir, open, readdir, readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { OpenedBundle } from '../compiled/bundle.ts';
import { writeFiles } from '../policy-files.ts';

/** The bundles under one folder that no other process writes to. */
export interface UnpackedBundles {
  /** The link that a policy host follows as its directory. */
  readonly directory: string;
  /**
   * Replaces the unpacked texts by those of this bundle. `name`: 64 hexadecimal digits, the same for the same
   * bytes.
   */
  put(name: string, bundle: OpenedBundle): Promise<void>;
  /** Keeps the bytes of the active bundle. */
  keep(bytes: Uint8Array): Promise<void>;
  /** The bytes that were kept last; null when there are none. */
  kept(): Promise<Uint8Array | null>;
}

export async function openUnpackedBundles(folder: string): Promise<UnpackedBundles> {
  const [link, sets, keptFile] = [join(folder, 'current'), join(folder, 'sets'), join(folder, 'last.writ')];
  await mkdir(sets, { recursive: true, mode: 0o700 });
  return {
    directory: link,
    put: async (name, bundle) => {
      const target = join('sets', name);
      if ((await readlink(link).catch(() => null)) === target) return;
      await unpack(join(sets, name), bundle);
      const next = `${link}.new`;
      await rm(next, { force: true });
      await symlink(target, next);
      await rename(next, link);
      for (const other of await readdir(sets))
        if (other !== name) await rm(join(sets, other), { recursive: true, force: true });
    },
    keep: async (bytes) => {
      const file = await open(`${keptFile}.new`, 'w', 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(`${keptFile}.new`, keptFile);
    },
    kept: () => readFile(keptFile).catch(() => null),
  };
}

async function unpack(directory: string, { texts, commit }: OpenedBundle): Promise<void> {
  await rm(directory, { recursive: true, force: true });
  await mkdir(directory, { mode: 0o700 });
  await writeFiles(directory, texts);
  if (commit === null) return;
  // A policy host reads the commit from `.git`, as it does in every policy directory.
  await mkdir(join(directory, '.git'), { recursive: true });
  await writeFile(join(directory, '.git', 'HEAD'), `${commit}\n`);
}
