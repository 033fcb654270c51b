// Counts each person for one requirement only. A vote may be given for several requirements that the person can
// answer; it then counts where it is needed. INVARIANT: as many people count as possible: if some assignment
// meets all requirements, the returned one does.

/** How many people a requirement needs; `group` names the requirement. */
export interface NeededPeople {
  readonly group: string;
  readonly needs: number;
}

/** A person who has approved, and the requirements that their vote may count for. */
export interface AssignablePerson {
  readonly person: string;
  readonly groups: readonly string[];
}

/**
 * Returns the requirement that each person counts for. People who are not needed are absent. Earlier people,
 * and the earlier of their requirements, come first where there is a choice.
 */
export function assignPeople(
  needed: readonly NeededPeople[],
  people: readonly AssignablePerson[],
): ReadonlyMap<string, string> {
  const needs = new Map(needed.map(({ group, needs: count }) => [group, count]));
  const assigned = new Map<string, string>();
  const byName = new Map(people.map((one) => [one.person, one]));
  const peopleOf = (group: string): readonly string[] =>
    [...assigned].flatMap(([person, own]) => (own === group ? [person] : []));
  /** Finds a place for the person, if need be by moving others. */
  const assign = ({ person, groups }: AssignablePerson, tried: Set<string>): boolean => {
    for (const group of groups) {
      const count = needs.get(group);
      if (count === undefined || tried.has(group)) continue;
      tried.add(group);
      const present = peopleOf(group);
      const isFree = present.length < count || present.some((one) => assign(byName.get(one)!, tried));
      if (!isFree) continue;
      assigned.set(person, group);
      return true;
    }
    return false;
  };
  for (const one of people) assign(one, new Set());
  return assigned;
}
