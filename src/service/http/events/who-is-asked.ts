// Finds the people who are asked by a pending request and can still decide it.

import type { Directory } from '../../people/directory.ts';
import { grantOf } from '../../people/operations.ts';
import { allAbsentPeople } from '../../people/stand-ins.ts';
import { permissionsOf } from '../../requests/approvals/permissions.ts';
import type { ReminderDeps } from '../../requests/approvals/remind.ts';
import { callerOf } from '../auth/request-rights.ts';
import { activePeople } from './access-messages.ts';
import { type Approvers, askedOf } from './asked-people.ts';

/** Everybody who may approve anything. */
export async function allApprovers(directory: Directory): Promise<Approvers> {
  const people = (await activePeople(directory)).filter(
    ({ roles }) => grantOf(roles, 'requests.approve') !== 'no',
  );
  return { people, absent: await allAbsentPeople(directory) };
}

export function createWhoIsAsked(directory: Directory): ReminderDeps['whoIsAsked'] {
  return async ({ state, agent, stopped, nowMs }, of) => {
    const approvers = await allApprovers(directory);
    const asked = askedOf(approvers, of, agent.controlOwner).filter(({ person }) => {
      const standsInFor = approvers.absent.get(person.id) ?? [];
      const caller = callerOf({ person, roles: person.roles, standsInFor });
      const { approve, step_up } = permissionsOf(state, { caller, agent, stopped, nowMs });
      return approve.length > 0 || step_up;
    });
    return asked.map(({ person }) => person.id);
  };
}
