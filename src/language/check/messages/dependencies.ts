// Finds circles and overlong chains among declarations that refer to one another. The walk is a loop, so that
// no chain of declarations exhausts the stack.

/** The longest chain of declarations in which each refers to the next. */
export const dependencyDepthMax = 64;

export interface Dependencies {
  /** Names that lead back to themselves, each with its path; holds at least one name of every circle. */
  readonly circles: ReadonlyMap<string, readonly string[]>;
  /** Names that start a chain longer than `dependencyDepthMax`. */
  readonly tooDeep: ReadonlySet<string>;
  /** All names, each after the names that it refers to. */
  readonly order: readonly string[];
}

interface Visit {
  readonly name: string;
  readonly pending: string[];
  depth: number;
}

/**
 * Follows the references from each name. `refersTo` returns the declared names that a declaration refers to.
 */
export function followDependencies(
  names: Iterable<string>,
  refersTo: (name: string) => readonly string[],
): Dependencies {
  const circles = new Map<string, readonly string[]>();
  const depths = new Map<string, number>();
  for (const start of names) {
    if (depths.has(start)) continue;
    const path: Visit[] = [{ name: start, pending: [...refersTo(start)], depth: 1 }];
    for (let visit = path.at(-1); visit !== undefined; visit = path.at(-1)) {
      const next = visit.pending.pop();
      if (next === undefined) {
        path.pop();
        depths.set(visit.name, visit.depth);
        deepen(path.at(-1), visit.depth);
        continue;
      }
      const at = path.findIndex(({ name }) => name === next);
      const cached = depths.get(next);
      if (at >= 0) noteCircle(path.slice(at), circles);
      else if (cached !== undefined) deepen(visit, cached);
      else path.push({ name: next, pending: [...refersTo(next)], depth: 1 });
    }
  }
  const tooDeep = [...depths].filter(([, depth]) => depth > dependencyDepthMax).map(([name]) => name);
  return { circles, tooDeep: new Set(tooDeep), order: [...depths.keys()] };
}

function deepen(visit: Visit | undefined, depth: number): void {
  if (visit !== undefined) visit.depth = Math.max(visit.depth, depth + 1);
}

function noteCircle(visits: readonly Visit[], circles: Map<string, readonly string[]>): void {
  const names = visits.map(({ name }) => name);
  for (const [index, name] of names.entries()) {
    if (!circles.has(name)) circles.set(name, [...names.slice(index), ...names.slice(0, index), name]);
  }
}
