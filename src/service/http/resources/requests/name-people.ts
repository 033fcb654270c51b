// Adds the names of people whom data name as approvers. The names are for people who read a request; a decision
// has only the address or the id.

import type { Directory } from '../../../people/directory.ts';
import type { Person } from '../../../people/person.ts';
import type { RequestSummary } from '../../../requests/record/reply.ts';

/** Returns the request with a `name` for each approver by address or id who is known here. */
export async function withNames<View extends Pick<RequestSummary, 'requires'>>(
  { people }: Pick<Directory, 'people'>,
  view: View,
): Promise<View> {
  const { requires } = view;
  if (requires === null || requires.approvals.every(({ any_of: anyOf }) => anyOf === undefined)) return view;
  const nameOf = async (text: string): Promise<Person | undefined> =>
    ((await people.find(text)) ?? (await people.findByName(text)))?.value;
  const approvals = await Promise.all(
    requires.approvals.map(async (approval) => {
      if (approval.any_of === undefined) return approval;
      const named = approval.any_of.map(async (one) => {
        const person = 'person' in one ? await nameOf(one.person) : undefined;
        return person === undefined ? one : { ...one, name: person.name };
      });
      return { ...approval, any_of: await Promise.all(named) };
    }),
  );
  return { ...view, requires: { ...requires, approvals } };
}
