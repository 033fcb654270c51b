// Everything that is stored about people, as collections, and the one way to change it: together with a
// record of who made the change.

import type { CanonicalValue } from '../store/contract/canonical-json.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { DocumentResult, DocumentStore, DocumentWrite } from '../store/contract/documents.ts';
import type { Notice } from './notices.ts';
import {
  type Application,
  type ChatLink,
  type ChatLinkDraft,
  type Invitation,
  type LinkedIdentity,
  type Passkey,
  type Person,
  type PersonalToken,
  type ProvisionedGroup,
  type ProvisionedPerson,
  passwordDigestOf,
  type RecoveryCodes,
  type ResetLink,
  type Session,
  type SignOn,
  type StandIn,
} from './person.ts';

export interface Directory {
  readonly people: Collection<Person>;
  readonly sessions: Collection<Session>;
  readonly passkeys: Collection<Passkey>;
  readonly tokens: Collection<PersonalToken>;
  readonly notices: Collection<Notice>;
  readonly invitations: Collection<Invitation>;
  readonly applications: Collection<Application>;
  readonly resetLinks: Collection<ResetLink>;
  readonly recoveryCodes: Collection<RecoveryCodes>;
  readonly identities: Collection<LinkedIdentity>;
  readonly signOns: Collection<SignOn>;
  readonly chatLinks: Collection<ChatLink>;
  readonly chatLinkDrafts: Collection<ChatLinkDraft>;
  readonly standIns: Collection<StandIn>;
  readonly provisioned: Collection<ProvisionedPerson>;
  readonly provisionedGroups: Collection<ProvisionedGroup>;
  readonly documents: DocumentStore;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  /** Stores the writes together with the record of the change. */
  change(writes: readonly DocumentWrite[], change: RecordedChange): Promise<DocumentResult>;
}

export interface RecordedChange {
  readonly who: string;
  readonly what: string;
  readonly subject: string;
  readonly before: CanonicalValue;
  readonly after: CanonicalValue;
}

export function createDirectory(documents: DocumentStore, clock: () => number): Directory {
  return {
    documents,
    clock,
    people: createCollection<Person>(documents, 'person', ({ email }) => ({ name: email })),
    sessions: createCollection<Session>(documents, 'session', ({ personId, endsAtMs }) => ({
      parent: personId,
      endsAtMs,
    })),
    passkeys: createCollection<Passkey>(documents, 'passkey', ({ personId }) => ({ parent: personId })),
    tokens: createCollection<PersonalToken>(documents, 'token', ({ personId, endsAtMs }) => ({
      parent: personId,
      endsAtMs,
    })),
    notices: createCollection<Notice>(documents, 'notice', ({ personId, endsAtMs }) => ({
      parent: personId,
      endsAtMs,
    })),
    invitations: createCollection<Invitation>(documents, 'invitation', ({ digest, endsAtMs }) => ({
      name: digest,
      endsAtMs,
    })),
    applications: createCollection<Application>(documents, 'application', () => ({})),
    resetLinks: createCollection<ResetLink>(documents, 'reset-link', ({ digest, personId, endsAtMs }) => ({
      name: digest,
      parent: personId,
      endsAtMs,
    })),
    recoveryCodes: createCollection<RecoveryCodes>(documents, 'recovery-codes', () => ({})),
    identities: createCollection<LinkedIdentity>(documents, 'identity', ({ personId }) => ({
      parent: personId,
    })),
    signOns: createCollection<SignOn>(documents, 'sign-on', ({ personId, endsAtMs }) => ({
      parent: personId,
      endsAtMs,
    })),
    chatLinks: createCollection<ChatLink>(documents, 'chat-link', ({ personId, account }) => ({
      name: `${personId} ${account.service} ${account.workspace}`,
      parent: personId,
    })),
    chatLinkDrafts: createCollection<ChatLinkDraft>(
      documents,
      'chat-link-draft',
      ({ digest, personId, endsAtMs }) => ({ name: digest, parent: personId, endsAtMs }),
    ),
    // One stand-in for each person and group.
    standIns: createCollection<StandIn>(documents, 'stand-in', ({ personId, group, standInId }) => ({
      name: `${personId} ${group}`,
      parent: standInId,
    })),
    provisioned: createCollection<ProvisionedPerson>(
      documents,
      'provisioned-person',
      ({ userName, personId }) => ({ name: userName, ...(personId === null ? {} : { parent: personId }) }),
    ),
    provisionedGroups: createCollection<ProvisionedGroup>(
      documents,
      'provisioned-group',
      ({ displayName }) => ({ name: displayName }),
    ),
    change: (writes, change) => documents.write(writes, { ...change, atMs: Math.trunc(clock()) }),
  };
}

/**
 * Returns the person as they are now, if they are active and still have the password with which they gave the
 * proof; otherwise null. What a proof allows is written together with this person, so that a password changed
 * at the same moment either comes first or makes the write fail.
 */
export async function asProved({ people }: Directory, person: Person): Promise<ReadDocument<Person> | null> {
  const storedPerson = await people.find(person.id);
  if (storedPerson?.value.status !== 'active') return null;
  return passwordDigestOf(storedPerson.value) === passwordDigestOf(person) ? storedPerson : null;
}
