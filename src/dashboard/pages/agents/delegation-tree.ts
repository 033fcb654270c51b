// Orders delegations as a tree: each before those below it, and its own before those of its neighbours.

interface Node {
  readonly id: string;
  /** The ids of the delegations above, the agent's own first. */
  readonly above: readonly string[];
}

export function inTreeOrder<T extends Node>(delegations: readonly T[]): readonly T[] {
  const ids = new Set(delegations.map(({ id }) => id));
  const below = (parent: string | null): readonly T[] =>
    delegations
      .filter(({ above }) => (above.findLast((id) => ids.has(id)) ?? null) === parent)
      .flatMap((one) => [one, ...below(one.id)]);
  return below(null);
}
