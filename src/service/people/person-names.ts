// Finds the people that records name by id or by address.

import type { Directory } from './directory.ts';

export interface PersonView {
  readonly id: string;
  readonly name: string;
  readonly email: string;
}

/** Finds people by id or address, each once; null for nobody. */
export type PersonNames = (of: string) => Promise<PersonView | null>;

export function createNames({ people }: Pick<Directory, 'people'>): PersonNames {
  const viewsById = new Map<string, Promise<PersonView | null>>();
  const find = async (of: string): Promise<PersonView | null> => {
    const person = (await people.find(of)) ?? (await people.findByName(of));
    if (person === null) return null;
    const { id, name, email } = person.value;
    return { id, name, email };
  };
  return (of) => {
    const personView = viewsById.get(of) ?? find(of);
    viewsById.set(of, personView);
    return personView;
  };
}
