// Notices tell a person that a way to sign in to their account was changed: in the dashboard until the person dismisses
// them, and by mail. INVARIANT: a notice is stored together with the change that it reports.

import { randomUUID } from 'node:crypto';
import type { Collection } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import type { Person } from './person.ts';

export const noticeKinds = [
  'passkey-added',
  'passkey-removed',
  'codes-set-up',
  'codes-removed',
  'factors-reset',
  'recovery-codes-made',
  'recovery-code-used',
  'password-changed',
  'reset-link-made',
  'password-reset',
  'token-made',
  'chat-linked',
] as const;
export type NoticeKind = (typeof noticeKinds)[number];

export interface Notice {
  readonly id: string;
  readonly personId: string;
  readonly what: NoticeKind;
  /** The name of the passkey or token; null when the change concerns neither. */
  readonly name: string | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

/** Sends a person a notice that was stored, outside the dashboard. */
export type Notify = (notice: Notice, person: Person) => void;

const keptMs = 90 * 24 * 60 * 60_000;
const shownMax = 20;

export function newNotice(
  { clock }: { readonly clock: () => number },
  { id }: Person,
  { what, name = null }: { readonly what: NoticeKind; readonly name?: string | null },
): Notice {
  const createdAtMs = Math.trunc(clock());
  return { id: randomUUID(), personId: id, what, name, createdAtMs, endsAtMs: createdAtMs + keptMs };
}

interface NoticeStore {
  readonly notices: Collection<Notice>;
  readonly documents: DocumentStore;
}

/** Lists a person's notices, the latest first. */
export async function noticesOf(
  { notices }: Pick<NoticeStore, 'notices'>,
  { id }: Person,
): Promise<readonly Notice[]> {
  return (await notices.list({ parent: id, countMax: shownMax })).map(({ value }) => value);
}

/** Deletes one of the person's own notices. */
export async function dismissNotice(
  { notices, documents }: NoticeStore,
  person: Person,
  id: string,
): Promise<'dismissed' | 'unknown'> {
  const storedNotice = await notices.find(id);
  if (storedNotice === null || storedNotice.value.personId !== person.id) return 'unknown';
  await documents.write([notices.remove(storedNotice.value, storedNotice.version)], null);
  return 'dismissed';
}
