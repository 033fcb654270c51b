// Finds everybody who has an active account. The accounts are read in parts, so that requests are served
// between two parts.

import { setImmediate as pause } from 'node:timers/promises';
import type { Directory } from '../../people/directory.ts';
import type { Person } from '../../people/person.ts';

const peopleAtOnce = 200;

export async function activePeople({ people }: Pick<Directory, 'people'>): Promise<readonly Person[]> {
  const found: Person[] = [];
  let after: Person | null = null;
  for (;;) {
    const page = await people.list({ countMax: peopleAtOnce, after });
    found.push(...page.map(({ value }) => value).filter(({ status }) => status === 'active'));
    if (page.length < peopleAtOnce) return found;
    after = page.at(-1)?.value ?? null;
    await pause();
  }
}
