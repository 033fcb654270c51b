// Finds the people whom a request asks now, to tell them: members of its groups, their stand-ins, people asked by name,
// and the control owner.

import { isNamedBy } from '../../../language/model/rule-requirement.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { AbsentPerson, Person } from '../../people/person.ts';
import type { RequestNotice } from '../../requests/record/request-events.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';

export interface AskedPerson {
  readonly person: Person;
  /** Whether the person is asked to step up, in place of an approval. */
  readonly stepsUp: boolean;
}

/** Everybody who may approve anything, and for whom each of them stands in. */
export interface Approvers {
  readonly people: readonly Person[];
  /** By the id of the stand-in. */
  readonly absent: ReadonlyMap<string, readonly AbsentPerson[]>;
}

export function askedOf(
  { people: everybody, absent }: Approvers,
  { groups, people = [], asksStepUp }: Pick<RequestNotice, 'groups' | 'people' | 'asksStepUp'>,
  owner: string | null,
): readonly AskedPerson[] {
  return everybody.flatMap((person): readonly AskedPerson[] => {
    const isOwner = owner !== null && isControlOwner(person, owner);
    if (isOwner && asksStepUp) return [{ person, stepsUp: true }];
    const isOfGroup = person.roles.includes('approver') && person.groups.some((one) => groups.includes(one));
    const standsIn = absent.get(person.id)?.some(({ group }) => groups.includes(group)) === true;
    const isNamed = people.some((name) => isNamedBy(person, name));
    const isAsked = isOfGroup || standsIn || isNamed || (isOwner && groups.includes(controlOwnerGroup));
    return isAsked ? [{ person, stepsUp: false }] : [];
  });
}
