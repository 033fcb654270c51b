// The file that is open at first: the one that the address names, else the first policy file.

export function startPath(requestedPath: string | null, paths: readonly string[]): string {
  if (requestedPath !== null && paths.includes(requestedPath)) return requestedPath;
  return paths.find((path) => path.endsWith('.policy')) ?? paths[0] ?? '';
}
