// The file that is open at first: the one that the address names, else the first policy file.

export function startPath(asked: string | null, paths: readonly string[]): string {
  if (asked !== null && paths.includes(asked)) return asked;
  return paths.find((path) => path.endsWith('.policy')) ?? paths[0] ?? '';
}
