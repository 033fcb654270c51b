// Finds what the active policies ask for and this installation does not have: members of an approval group, a
// person whom a table names as approver, an issuer of users, an enforcement point of a name. Requests that
// depend on it can never be granted, and nothing else would say so. People, enforcement points and pushed rows
// are read only after one of them, or the policies, changed.
// INVARIANT: nothing is decided by a gap.

import { isNamedBy, type RuleRequirement } from '../../language/model/rule-requirement.ts';
import { type Points, pointsIn } from '../agents/points/point.ts';
import { approvalGroups, peopleMax } from '../people/approval-groups.ts';
import type { Directory } from '../people/directory.ts';
import { grantScopeOf } from '../people/operations.ts';
import type { SetNeeds } from '../policies/set-needs.ts';
import { rowsIn } from '../tables/table-rows.ts';

/** What a gap is found from; the rules are those of the active policies. */
export interface NeededByPolicies {
  readonly asks: readonly RuleRequirement[];
  readonly needs: SetNeeds;
}

export interface GapDeps {
  readonly directory: Directory;
  /** Whether an issuer of users is configured. */
  readonly knowsUsers: boolean;
  /** The same object until other policies are active. */
  readonly needed: () => NeededByPolicies;
}

export interface PolicyGaps {
  /** One sentence for each gap, as of the last update. */
  current(): readonly string[];
  /**
   * Computes the gaps again, if anything has changed. Resolves to the moment at which each gap was first seen, in milliseconds
   * since 1970.
   */
  update(): Promise<readonly number[]>;
  /** Updates in the background; after a failure, the next update tries again. */
  updateSoon(): void;
}

/** Remembers the gaps since each was first seen by this process, and tells when they change. */
export function watchPolicyGaps(
  deps: GapDeps & {
    readonly onChange: (gaps: readonly string[]) => void;
    readonly onFailure: (error: unknown) => void;
  },
): PolicyGaps {
  let since: ReadonlyMap<string, number> = new Map();
  let basis: GapBasis | null = null;
  const update = async (): Promise<readonly number[]> => {
    // Read before the gaps: a change in between makes the next update compute them again.
    const present = await basisOf(deps);
    if (basis !== null && isSameBasis(basis, present)) return [...since.values()];
    const nowMs = deps.directory.clock();
    const gaps = await findPolicyGaps(deps, present);
    basis = present;
    const isChanged = gaps.length !== since.size || gaps.some((gap) => !since.has(gap));
    since = new Map(gaps.map((gap) => [gap, since.get(gap) ?? nowMs]));
    if (isChanged) deps.onChange(gaps);
    return [...since.values()];
  };
  return {
    current: () => [...since.keys()],
    update,
    updateSoon: () => void update().catch(deps.onFailure),
  };
}

/** Everything that gaps are found from, as of one moment. */
interface GapBasis {
  readonly needed: NeededByPolicies;
  /** Generations of the people, of the enforcement points, and of pushed rows if they name approvers. */
  readonly generations: readonly number[];
}

async function basisOf({ directory, needed }: GapDeps): Promise<GapBasis> {
  const { points } = pointsIn(directory.documents);
  const now = needed();
  const rows = now.needs.columns.length === 0 ? [] : [rowsIn(directory.documents).generation()];
  return {
    needed: now,
    generations: await Promise.all([directory.people.generation(), points.generation(), ...rows]),
  };
}

function isSameBasis(one: GapBasis, other: GapBasis): boolean {
  const isSame = one.generations.every((generation, at) => generation === other.generations[at]);
  return isSame && one.needed === other.needed;
}

/** More enforcement points than an installation has. */
const readMax = 10_000;
const rulesNamedMax = 3;

/** One sentence for each gap. */
async function findPolicyGaps(
  { directory, knowsUsers }: GapDeps,
  { needed: { asks, needs } }: GapBasis,
): Promise<readonly string[]> {
  return [
    ...(await groupGaps(directory, asks)),
    ...(await personGaps(directory, needs)),
    ...(knowsUsers || needs.user.length === 0
      ? []
      : [
          `${rulesText(needs.user, ['reads', 'read'])} request.user, which is never known: users.issuer is not set`,
        ]),
    ...(await pointGaps(pointsIn(directory.documents), needs.points)),
  ];
}

async function groupGaps(directory: Directory, asks: readonly RuleRequirement[]): Promise<readonly string[]> {
  return (await approvalGroups(directory, asks)).flatMap(({ groups, needs, rules, members: { length } }) => {
    if (length >= needs) return [];
    const missing = length === 0 ? 'nobody' : `only ${length} of the ${needs} required people`;
    const [which, verb, where] =
      groups.length === 1 ? ['the group', 'has', 'it'] : ['the groups', 'have', 'them'];
    return [
      `${rulesText(rules, ['asks', 'ask'])} ${which} ${groups.join(' or ')}, which ${verb} ${missing} in ${where}: nothing can be approved`,
    ];
  });
}

/** The most rows of a table that are read, the latest first. */
const rowsMax = 10_000;
const peopleNamedMax = 10;

/** People whom tables name as approvers, and who cannot approve. */
async function personGaps(directory: Directory, needs: SetNeeds): Promise<readonly string[]> {
  const named = await peopleNamed(directory.documents, needs);
  if (named.size === 0) return [];
  const people = (await directory.people.list({ countMax: peopleMax })).map(({ value }) => value);
  const gaps = [...named].flatMap(([name, rules]) => {
    const person = people.find((one) => isNamedBy(one, name));
    if (
      person !== undefined &&
      person.status === 'active' &&
      grantScopeOf(person.roles, 'requests.approve').asOwner
    )
      return [];
    const lack = person === undefined ? 'has no account' : 'has an account that may not approve';
    return [
      `${rulesText(rules, ['asks', 'ask'])} ${name}, whom a table names and who ${lack}: what is asked of them cannot be approved`,
    ];
  });
  const left = gaps.length - peopleNamedMax;
  if (left <= 0) return gaps;
  return [
    ...gaps.slice(0, peopleNamedMax),
    `Tables name ${left} more as approvers who have no account that may approve`,
  ];
}

/** By address or id, the rules that ask the person: from rows of the policies, and from pushed rows. */
async function peopleNamed(
  documents: Directory['documents'],
  { people, columns }: SetNeeds,
): Promise<ReadonlyMap<string, readonly string[]>> {
  const named = new Map<string, readonly string[]>();
  const add = (text: unknown, rules: readonly string[]): void => {
    const name = typeof text === 'string' ? text.trim() : '';
    if (name !== '') named.set(name, [...new Set([...(named.get(name) ?? []), ...rules])]);
  };
  for (const { name, rules } of people) add(name, rules);
  for (const { table, name, rules } of columns)
    for (const { value } of await rowsIn(documents).list({ parent: table, countMax: rowsMax }))
      add(value.row?.[name], rules);
  return named;
}

async function pointGaps({ points }: Points, needed: SetNeeds['points']): Promise<readonly string[]> {
  if (needed.length === 0) return [];
  const active = (await points.list({ countMax: readMax })).filter(({ value }) => value.status === 'active');
  const names = new Set(active.map(({ value }) => value.name));
  return needed
    .filter(({ name }) => !names.has(name))
    .map(
      ({ name, rules }) =>
        `${rulesText(rules, ['compares', 'compare'])} request.point with "${name}", which is not an active enforcement point`,
    );
}

/** The rules, and the verb in singular or plural. */
function rulesText(rules: readonly string[], [one, many]: readonly [string, string]): string {
  const named = rules.slice(0, rulesNamedMax).join(', ');
  const more = rules.length - rulesNamedMax;
  if (rules.length === 1) return `The rule ${named} ${one}`;
  return `The rules ${named}${more > 0 ? ` and ${more} more` : ''} ${many}`;
}
