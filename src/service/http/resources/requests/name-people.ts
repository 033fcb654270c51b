// Adds the names of people whom data name as approvers. The names are for people who read a request; a decision
// has only the address or the id.

import type { ResolvedApprover } from '../../../../language/model/decision.ts';
import type { Directory } from '../../../people/directory.ts';
import type { FallbackView, RequestSummary } from '../../../requests/record/reply.ts';

type NamedView = Pick<RequestSummary, 'requires'> & { readonly fallbacks?: readonly FallbackView[] };

/** Returns the request with a `name` for each approver by address or id who is known here. */
export async function withNames<View extends NamedView>(
  { people }: Pick<Directory, 'people'>,
  view: View,
): Promise<View> {
  const { requires, fallbacks } = view;
  const named = async (approvers: readonly ResolvedApprover[]): Promise<readonly ResolvedApprover[]> =>
    await Promise.all(
      approvers.map(async (one) => {
        const known = 'person' in one ? await people.find(one.person) : null;
        const person = known ?? ('person' in one ? await people.findByName(one.person) : null);
        return person === null ? one : { ...one, name: person.value.name };
      }),
    );
  const namedAll = <One extends { readonly any_of: readonly ResolvedApprover[] }>(all: readonly One[]) =>
    Promise.all(all.map(async (one) => ({ ...one, any_of: await named(one.any_of) })));
  const approvals = await Promise.all(
    (requires?.approvals ?? []).map(async (one) => ({
      ...one,
      ...(one.any_of && { any_of: await named(one.any_of) }),
      ...(one.fallbacks && { fallbacks: await namedAll(one.fallbacks) }),
    })),
  );
  return {
    ...view,
    ...(fallbacks && { fallbacks: await namedAll(fallbacks) }),
    requires: requires && { ...requires, approvals },
  };
}
