// The name of a person in a record, and the words for who may approve.

import type { Reply } from '../../../api/operations.ts';

export type People = Reply<'getRequest'>['people'];

const recordName = /^(.*) \(([\w-]+)\)$/;

/** The name today of a person in the record, "ben@example.com (b3f1…)"; the recorded address when nobody has the id. */
export function personName(by: string, people: People): string {
  const [, address = by, id] = recordName.exec(by) ?? [];
  return people.find((one) => one.id === id)?.name ?? address;
}

/** Used in place of a group's name: the control owner of the requesting agent. */
export const ownerGroup = 'owner';

/** The words for a group whose approval is asked. */
export function groupLabel(group: string): string {
  return group === ownerGroup ? 'control owner' : group;
}

/** An approver of several, as the API names them. */
interface ApproverView {
  readonly group?: string;
  readonly person?: string;
  readonly name?: string;
  readonly unknown?: string;
}

/** Who may approve: a group, or any of several, people by their names; says why an approver is not known. */
export function approversLabel({
  group,
  any_of: anyOf,
}: {
  readonly group: string;
  readonly any_of?: readonly ApproverView[];
}): string {
  return anyOf === undefined ? groupLabel(group) : anyOfLabel(anyOf);
}

export function anyOfLabel(anyOf: readonly ApproverView[]): string {
  const words = anyOf.map(({ group: one, person, name, unknown }) => {
    if (one !== undefined) return groupLabel(one);
    if (person === undefined) return `nobody: the approver is unknown, ${unknown ?? ''}`;
    return name === undefined || name === person ? person : `${name} (${person})`;
  });
  return words.join(' or ');
}
