// How long a search runs before it restarts: the Luby sequence, which loses least whatever the search is
// like.

/** The sequence 1 1 2 1 1 2 4 ...; `run` counts from 1. */
export function luby(run: number): number {
  let size = 1;
  while (2 ** size - 1 < run) size += 1;
  return 2 ** size - 1 === run ? 2 ** (size - 1) : luby(run - 2 ** (size - 1) + 1);
}
