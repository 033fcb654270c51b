// Finds people in their present state for the request path, which does not depend on accounts, and determines
// a caller's rights over requests.

import type { Directory } from '../../people/directory.ts';
import { grantScopeOf, type OperationName } from '../../people/operations.ts';
import { type Actor, recordName } from '../../people/person.ts';
import type { CurrentPerson, FindPeople } from '../../requests/approvals/current-person.ts';
import type { Caller, Rights } from '../../requests/approvals/rights.ts';

export function createFindPeople({ people }: Pick<Directory, 'people'>): FindPeople {
  async function find(id: string): Promise<CurrentPerson> {
    const storedPerson = await people.find(id);
    const seen = { kind: 'person', id, version: storedPerson?.version ?? 0 };
    if (storedPerson === null)
      return { id, version: seen, isActive: false, isApprover: false, approvesFor: [], asOwner: false };
    const { roles, groups, status } = storedPerson.value;
    const { asked: isApprover, asOwner } = grantScopeOf(roles, 'requests.approve');
    const approvesFor = isApprover ? groups : [];
    return { id, version: seen, isActive: status === 'active', isApprover, approvesFor, asOwner };
  }
  return async (ids) => new Map((await Promise.all(ids.map(find))).map((person) => [person.id, person]));
}

/** A person as a caller, with the rights that their roles give them; each right counts by itself. */
export function callerOf({ person, roles }: Actor): Caller {
  const rights = (operation: OperationName): Rights => {
    const { all, own, asked, asOwner } = grantScopeOf(roles, operation);
    return { all, own, groups: asked ? person.groups : [], asOwner, given: false };
  };
  // Whoever gave a standing approval sees what it was used for, and may do nothing else with it.
  const { asked: given } = grantScopeOf(roles, 'requests.view');
  return {
    id: person.id,
    email: person.email,
    who: recordName(person),
    view: { ...rights('requests.view'), given },
    approve: rights('requests.approve'),
    reject: rights('requests.reject'),
    stepUp: rights('agents.step-up'),
    report: rights('requests.report'),
  };
}
