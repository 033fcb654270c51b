// What a person is told of changes to how they come in: in the dashboard until they put it away, and by mail. INVARIANT: a
// notice is stored together with the change that it tells of.

import { randomUUID } from 'node:crypto';
import type { Directory } from './directory.ts';
import type { Person } from './person.ts';

export const noticeKinds = [
  'passkey-added',
  'passkey-removed',
  'codes-set-up',
  'codes-removed',
  'factors-reset',
  'password-changed',
  'token-made',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export interface Notice {
  readonly id: string;
  readonly personId: string;
  readonly what: NoticeKind;
  /** Of the passkey or token; null where there is none. */
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** Tells a person of a notice that was stored, beyond the dashboard. */
export type Notify = (notice: Notice, person: Person) => void;

const keptMs = 90 * 24 * 60 * 60_000;
const shownMax = 20;

export function newNotice(
  { clock }: Directory,
  { id }: Person,
  { what, name = null }: { readonly what: NoticeKind; readonly name?: string | null },
): Notice {
  const createdAtMs = Math.trunc(clock());
  return { id: randomUUID(), personId: id, what, name, createdAtMs, endsAtMs: createdAtMs + keptMs };
}

/** The latest first. */
export async function noticesOf({ notices }: Directory, { id }: Person): Promise<readonly Notice[]> {
  return (await notices.list({ parent: id, countMax: shownMax })).map(({ value }) => value);
}

/** Puts a notice of one's own away. */
export async function dismissNotice(
  { notices, documents }: Directory,
  person: Person,
  id: string,
): Promise<'dismissed' | 'unknown'> {
  const found = await notices.find(id);
  if (found === null || found.value.personId !== person.id) return 'unknown';
  await documents.write([notices.remove(found.value, found.version)], null);
  return 'dismissed';
}
