// Finds people in their present state for the request path, which does not depend on accounts, and determines
// a caller's rights over requests.

import type { Directory } from '../../people/directory.ts';
import { grantScopeOf, type OperationName } from '../../people/operations.ts';
import { type Actor, recordName } from '../../people/person.ts';
import { absentPeople } from '../../people/stand-ins.ts';
import type { CurrentPerson, FindPeople } from '../../requests/approvals/current-person.ts';
import type { Caller, Rights } from '../../requests/approvals/rights.ts';

type PeopleDirectory = Pick<Directory, 'people' | 'standIns' | 'clock'>;

export function createFindPeople(directory: PeopleDirectory): FindPeople {
  async function find(id: string): Promise<CurrentPerson> {
    const storedPerson = await directory.people.find(id);
    const seen = { kind: 'person', id, version: storedPerson?.version ?? 0 };
    if (storedPerson === null) return { ...nobody, id, version: seen };
    const { roles, groups, status } = storedPerson.value;
    const { asked: isApprover, asOwner } = grantScopeOf(roles, 'requests.approve');
    const approvesFor = isApprover ? groups : [];
    const standsInFor = await absentPeople(directory, storedPerson.value);
    const isActive = status === 'active';
    return { id, version: seen, isActive, isApprover, approvesFor, asOwner, standsInFor };
  }
  return async (ids) => new Map((await Promise.all(ids.map(find))).map((person) => [person.id, person]));
}

const nobody = { isActive: false, isApprover: false, approvesFor: [], asOwner: false, standsInFor: [] };

/** The actor with those for whom they may vote now. */
export async function withAbsentPeople<One extends Actor>(
  directory: PeopleDirectory,
  actor: One,
): Promise<One> {
  return { ...actor, standsInFor: await absentPeople(directory, { ...actor.person, roles: actor.roles }) };
}

/** A person as a caller, with the rights that their roles give them; each right counts by itself. */
export function callerOf({ person, roles, standsInFor = [] }: Actor): Caller {
  const rights = (operation: OperationName): Rights => {
    const { all, own, asked, asOwner } = grantScopeOf(roles, operation);
    return { all, own, groups: asked ? person.groups : [], asOwner, given: false };
  };
  const view = rights('requests.view');
  // Whoever gave a standing approval sees what it was used for, and may do nothing else with it.
  const { asked: given } = grantScopeOf(roles, 'requests.view');
  return {
    id: person.id,
    email: person.email,
    who: recordName(person),
    view: { ...view, groups: [...view.groups, ...standsInFor.map(({ group }) => group)], given },
    approve: rights('requests.approve'),
    reject: rights('requests.reject'),
    stepUp: rights('agents.step-up'),
    report: rights('requests.report'),
    standsInFor,
  };
}
