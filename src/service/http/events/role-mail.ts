// Sends one mail to every active person who has one of some roles.

import type { Role } from '../../people/operations.ts';
import type { Mail } from '../../webhooks/mail.ts';
import { activePeople } from './active-people.ts';
import type { NewsDeps } from './news-deps.ts';

export async function mailRoles(
  { directory, mailer }: Pick<NewsDeps, 'directory' | 'mailer'>,
  roles: readonly Role[],
  mail: Omit<Mail, 'to'>,
): Promise<void> {
  if (mailer === null || roles.length === 0) return;
  for (const person of await activePeople(directory))
    if (person.roles.some((role) => roles.includes(role))) mailer.post({ ...mail, to: person.email });
}
