// Reads the token of a workload from a file that its platform renews. INVARIANT: each request gets the token that is
// in the file at that moment; a file that cannot be read, or has no token, is an error, and nothing is asked.

import { readFileSync, statSync } from 'node:fs';

/**
 * Returns a function with the present token of the file, to be given to `connect` as `key`. The file is read again
 * when it has changed; by default it is the one in WRIT_TOKEN_FILE.
 */
export function tokenFile(path: string | undefined = process.env.WRIT_TOKEN_FILE): () => string {
  if (path === undefined || path === '') throw new Error('set WRIT_TOKEN_FILE to the file with the token');
  let seen: { readonly changedAt: string; readonly token: string } | null = null;
  return () => {
    const { mtimeNs, ino, size } = statSync(path, { bigint: true });
    const changedAt = `${mtimeNs} ${ino} ${size}`;
    if (seen?.changedAt === changedAt) return seen.token;
    const token = readFileSync(path, 'utf8').trim();
    if (token === '') throw new Error(`${path} has no token`);
    seen = { changedAt, token };
    return token;
  };
}
