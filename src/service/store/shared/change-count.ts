// Counts how often things of a kind were changed through a store of this process, so that a cache can tell
// whether it may be out of date. INVARIANT: a count grows before a change can be seen, and again before the
// caller that made the change goes on.

export interface ChangeCount {
  of(kind: string): number;
  during<T>(kinds: Iterable<string>, change: () => Promise<T>): Promise<T>;
}

export function createChangeCount(): ChangeCount {
  const counts = new Map<string, number>();
  const of = (kind: string) => counts.get(kind) ?? 0;
  const grow = (kinds: ReadonlySet<string>) => {
    for (const kind of kinds) counts.set(kind, of(kind) + 1);
  };
  return {
    of,
    async during(kinds, change) {
      const changed = new Set(kinds);
      grow(changed);
      try {
        return await change();
      } finally {
        grow(changed);
      }
    },
  };
}
