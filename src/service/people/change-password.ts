// Replaces a person's password. INVARIANT: the change ends all sessions and tokens of the person, including
// any made at the same moment.

import { asProved } from './directory.ts';
import { newNotice } from './notices.ts';
import { hashPassword, passwordProblem } from './passwords.ts';
import { type Person, recordName } from './person.ts';
import { endings } from './sessions.ts';
import type { SignInDeps } from './sign-in.ts';

export type PasswordChangeResult =
  | { readonly kind: 'changed'; readonly person: Person }
  | { readonly kind: 'invalid'; readonly detail: string }
  | { readonly kind: 'conflict' };

/**
 * Sets a new password and ends all sessions and tokens of the person, so that nobody keeps access by the old
 * password. The caller has had the person prove who they are.
 */
export async function changePassword(
  { directory, notify }: SignInDeps,
  person: Person,
  newPassword: string,
): Promise<PasswordChangeResult> {
  const detail = await passwordProblem(newPassword, person);
  if (detail !== null) return { kind: 'invalid', detail };
  const passwordHash = await hashPassword(newPassword);
  const storedPerson = await asProved(directory, person);
  if (storedPerson === null || passwordHash === null) return { kind: 'conflict' };
  const changedAtMs = Math.trunc(directory.clock());
  const changed: Person = { ...storedPerson.value, passwordHash, changedAtMs };
  const notice = newNotice(directory, person, { what: 'password-changed' });
  const writes = [
    directory.people.put(changed, storedPerson.version),
    directory.notices.put(notice, 0),
    ...(await endings(directory, person.id)),
  ];
  const result = await directory.change(writes, {
    who: recordName(person),
    what: 'password-changed',
    subject: person.id,
    before: null,
    after: null,
  });
  if (result !== 'changed') return { kind: 'conflict' };
  notify(notice, person);
  return { kind: 'changed', person: changed };
}
