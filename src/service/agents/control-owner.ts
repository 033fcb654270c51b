// Whether a person is the control owner of an agent. An agent names its control owner as text: a person's
// address or id.

import { isNamedBy, type KnownPerson } from '../../language/model/asked.ts';

export function isControlOwner(person: KnownPerson, controlOwner: string): boolean {
  return isNamedBy(person, controlOwner);
}
