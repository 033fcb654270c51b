// Switches and people for tests of the request path that test neither: no switch is on, and everybody is
// active and approves for any group.

import type { KillSwitchSource } from '../../../src/service/requests/approvals/change-request.ts';
import type { CurrentPerson, FindPeople } from '../../../src/service/requests/approvals/current-person.ts';
import type { Caller, Rights } from '../../../src/service/requests/approvals/rights.ts';

const none = { generation: 0, stoppedBy: () => null };

const noSwitches: KillSwitchSource = { current: () => none, refresh: async () => none };

/** Finds everybody as an approver of these groups. */
function everybodyOf(approvesFor: readonly string[]): FindPeople {
  const person = (id: string): CurrentPerson => ({
    id,
    version: { kind: 'person', id, version: 0 },
    isActive: true,
    isApprover: true,
    approvesFor,
    asOwner: true,
    standsInFor: [],
  });
  return async (ids) => new Map(ids.map((id) => [id, person(id)]));
}

const nothing: Rights = { all: false, own: false, groups: [], asOwner: false, given: false };

/** An approver of these groups who may see every request and report every outcome. */
export function approverOf(groups: readonly string[], { id = 'p1', email = 'ann@example.com' } = {}): Caller {
  const asked: Rights = { ...nothing, groups, asOwner: true };
  const everything: Rights = { ...nothing, all: true };
  return {
    id,
    email,
    who: `${email} (${id})`,
    view: everything,
    approve: asked,
    reject: asked,
    stepUp: { ...nothing, own: true },
    report: everything,
    standsInFor: [],
  };
}

export const bystanders = { switches: noSwitches, findPeople: everybodyOf(['finance', 'owner', 'security']) };
