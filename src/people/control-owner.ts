// Whose agent it is: an agent names its control owner as text, a person's address or id.

import type { Person } from './person.ts';

export function isControlOwner({ id, email }: Pick<Person, 'id' | 'email'>, controlOwner: string): boolean {
  return controlOwner === id || controlOwner.toLowerCase() === email.toLowerCase();
}
