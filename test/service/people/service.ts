// People over a real store, at a time that the test sets.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import {
  acceptInvitation,
  createSetUpLink,
  invite,
  setUpFirstAdmin,
} from '../../../src/service/people/access.ts';
import { createAttempts } from '../../../src/service/people/attempts.ts';
import { confirmTotp, offerTotp } from '../../../src/service/people/codes.ts';
import { createDirectory, type Directory } from '../../../src/service/people/directory.ts';
import type { Notice } from '../../../src/service/people/notices.ts';
import type { Role } from '../../../src/service/people/operations.ts';
import type { Actor, Person } from '../../../src/service/people/person.ts';
import type { SignInDeps } from '../../../src/service/people/sign-in.ts';
import { totpAt } from '../../../src/service/people/totp.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';

export const password = 'correct horse battery';
export const origin = 'https://writ.example.com';

export interface PeopleService extends SignInDeps {
  readonly store: Store;
  readonly directory: Directory;
  readonly time: { nowMs: number };
  /** Notices that people got outside of the dashboard. */
  readonly told: readonly Notice[];
  /** The first admin as the actor of changes. */
  readonly admin: Actor;
}

async function emptyStore(): Promise<Store> {
  const folder = mkdtempSync(join(tmpdir(), 'writ-people-'));
  const store = await openStore({ path: join(folder, 'writ.db') });
  onTestFinished(async () => {
    await store.close();
    rmSync(folder, { recursive: true });
  });
  return store;
}

/** A directory without people. */
export async function emptyDirectory(): Promise<Directory> {
  const { documents } = await emptyStore();
  return createDirectory(documents, () => Date.UTC(2026, 2, 2, 10));
}

export async function startPeople(): Promise<PeopleService> {
  const store = await emptyStore();
  const time = { nowMs: Date.UTC(2026, 2, 2, 10) };
  const directory = createDirectory(store.documents, () => time.nowMs);
  const secret = (await createSetUpLink(directory)) ?? '';
  const joined = await setUpFirstAdmin(directory, {
    secret,
    password,
    email: 'ann@example.com',
    name: 'Ann',
  });
  if (joined.kind !== 'joined') throw new Error(joined.kind);
  const told: Notice[] = [];
  return {
    directory,
    attempts: createAttempts(),
    masterKey: store.masterKey,
    origin,
    newFactorMs: 60 * 60_000,
    isSsoOnly: false,
    notify: (notice) => told.push(notice),
    store,
    time,
    told,
    admin: actor(joined.person),
  };
}

export function actor(person: Person): Actor {
  return { person, roles: person.roles };
}

export async function joinAs(
  { directory, admin }: PeopleService,
  email: string,
  roles: readonly Role[],
  groups: readonly string[] = roles.includes('approver') ? ['finance'] : [],
): Promise<Person> {
  const invited = await invite(directory, admin, { email, name: 'Somebody', roles, groups });
  if (invited.kind !== 'invited') throw new Error(JSON.stringify(invited));
  const joined = await acceptInvitation(directory, { secret: invited.secret, password });
  if (joined.kind !== 'joined') throw new Error(JSON.stringify(joined));
  return joined.person;
}

/** Sets up one-time codes for the person; returns the secret from which an app makes the codes. */
export async function setUpCodes(service: PeopleService, person: Person): Promise<string> {
  const { secret } = offerTotp(person);
  const code = totpAt(secret, service.time.nowMs);
  const result = await confirmTotp(service, person, { secret, code });
  if (result.kind !== 'set-up') throw new Error(result.kind);
  return secret;
}
