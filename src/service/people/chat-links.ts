// Links between people and their chat accounts. A person makes a code in a session, enters it in the chat, and confirms in
// the session which account entered it. INVARIANT: an account that nobody has confirmed in a session is linked to nobody;
// an account belongs to one person, a person has one account in a workspace, and a code is entered once.

import { randomInt, randomUUID } from 'node:crypto';
import type { ChatAccount } from '../store/contract/chat-account.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import type { DocumentVersion } from '../store/contract/grant-precondition.ts';
import type { Directory } from './directory.ts';
import { type Notice, newNotice } from './notices.ts';
import { type Actor, type ChatLink, type ChatLinkDraft, type Person, recordName } from './person.ts';
import { digestOf } from './secrets.ts';

/** How long a code can be entered and the account confirmed, in milliseconds. */
const linkDraftMs = 10 * 60_000;
/** Without letters and digits that look alike. */
const codeLetters = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const codeLength = 10;
const draftsMax = 5;
const linksMax = 20;

export interface NewLinkCode {
  readonly kind: 'made';
  readonly draft: ChatLinkDraft;
  /** Shown only this once. */
  readonly code: string;
}

/** Makes a code. The caller has checked that the person has just proved who they are in a session. */
export async function createLinkCode(
  directory: Directory,
  { person }: Actor,
): Promise<NewLinkCode | { readonly kind: 'too-many' }> {
  const nowMs = Math.trunc(directory.clock());
  const present = await directory.chatLinkDrafts.list({ parent: person.id, countMax: draftsMax });
  if (present.filter(({ value }) => nowMs < value.endsAtMs).length >= draftsMax) return { kind: 'too-many' };
  const code = Array.from({ length: codeLength }, () => codeLetters[randomInt(codeLetters.length)]).join('');
  const draft: ChatLinkDraft = {
    id: randomUUID(),
    digest: digestOf(code),
    personId: person.id,
    claim: null,
    createdAtMs: nowMs,
    endsAtMs: nowMs + linkDraftMs,
  };
  await directory.documents.write([directory.chatLinkDrafts.put(draft, 0)], null);
  return { kind: 'made', draft, code };
}

export interface ClaimingAccount {
  readonly account: ChatAccount;
  /** The name of the account in the chat. */
  readonly name: string;
}

/** Notes which account has entered a code. It is linked only when the person of the code confirms it. */
export async function claimLinkCode(
  directory: Directory,
  text: string,
  claim: ClaimingAccount,
): Promise<'claimed' | 'unknown'> {
  const code = text.toUpperCase().replaceAll(/[^A-Z0-9]/g, '');
  const found = await directory.chatLinkDrafts.findByName(digestOf(code));
  if (found === null || found.value.claim !== null || found.value.endsAtMs <= directory.clock())
    return 'unknown';
  const claimed: ChatLinkDraft = { ...found.value, claim };
  const result = await directory.documents.write(
    [directory.chatLinkDrafts.put(claimed, found.version)],
    null,
  );
  return result === 'changed' ? 'claimed' : 'unknown';
}

export type ConfirmedLink =
  | { readonly kind: 'linked'; readonly link: ChatLink; readonly notice: Notice }
  | { readonly kind: 'unknown' | 'unclaimed' | 'account-taken' | 'has-another' | 'conflict' };

/** Links the account that has entered the person's code. */
export async function confirmLink(
  directory: Directory,
  { person }: Actor,
  draftId: string,
): Promise<ConfirmedLink> {
  const { chatLinks, chatLinkDrafts, people, notices } = directory;
  const draft = await ownDraft(directory, person, draftId);
  const present = await people.find(person.id);
  if (draft === null || present?.value.status !== 'active') return { kind: 'unknown' };
  const { claim } = draft.value;
  if (claim === null) return { kind: 'unclaimed' };
  const createdAtMs = Math.trunc(directory.clock());
  const link: ChatLink = { id: linkIdOf(claim.account), personId: person.id, createdAtMs, ...claim };
  if ((await chatLinks.find(link.id)) !== null) return { kind: 'account-taken' };
  const notice = newNotice(directory, person, { what: 'chat-linked', name: claim.name.slice(0, nameMax) });
  const result = await directory.change(
    [
      // Written together, so that a person who is disabled at this moment gets no link.
      people.put(present.value, present.version),
      chatLinkDrafts.remove(draft.value, draft.version),
      chatLinks.put(link, 0),
      notices.put(notice, 0),
    ],
    {
      who: recordName(person),
      what: 'chat-linked',
      subject: person.id,
      before: null,
      after: linkSummary(link),
    },
  );
  if (result === 'name-taken') return { kind: 'has-another' };
  return result === 'changed' ? { kind: 'linked', link, notice } : { kind: 'conflict' };
}

const nameMax = 100;

/** Ends a link of the person, or forgets a code of theirs; `by` is the person or an admin. */
export async function endLink(
  directory: Directory,
  { person: by }: Actor,
  { id, personId }: { readonly id: string; readonly personId: string },
): Promise<'ended' | 'unknown' | 'conflict'> {
  const { chatLinks, chatLinkDrafts } = directory;
  const link = await chatLinks.find(id);
  if (link?.value.personId === personId) {
    const result = await directory.change([chatLinks.remove(link.value, link.version)], {
      who: recordName(by),
      what: 'chat-unlinked',
      subject: personId,
      before: linkSummary(link.value),
      after: null,
    });
    return result === 'changed' ? 'ended' : 'conflict';
  }
  const draft = await chatLinkDrafts.find(id);
  if (draft === null || draft.value.personId !== personId) return 'unknown';
  const removal = chatLinkDrafts.remove(draft.value, draft.version);
  return (await directory.documents.write([removal], null)) === 'changed' ? 'ended' : 'conflict';
}

export interface LinksOfPerson {
  readonly links: readonly ChatLink[];
  /** Codes that have not ended, with the account that has entered each. */
  readonly drafts: readonly ChatLinkDraft[];
}

export async function linksOf(directory: Directory, personId: string): Promise<LinksOfPerson> {
  const nowMs = directory.clock();
  const links = await directory.chatLinks.list({ parent: personId, countMax: linksMax });
  const drafts = await directory.chatLinkDrafts.list({ parent: personId, countMax: linksMax });
  return {
    links: links.map(({ value }) => value),
    drafts: drafts.map(({ value }) => value).filter(({ endsAtMs }) => nowMs < endsAtMs),
  };
}

export interface LinkedPerson {
  readonly actor: Actor;
  /** The link as it was read. */
  readonly version: DocumentVersion;
}

/** The active person of a chat account, with all of their roles; null when there is none. */
export async function linkedPerson(
  { chatLinks, people }: Pick<Directory, 'chatLinks' | 'people'>,
  account: ChatAccount,
): Promise<LinkedPerson | null> {
  const id = linkIdOf(account);
  const link = await chatLinks.find(id);
  const person = link === null ? null : ((await people.find(link.value.personId))?.value ?? null);
  if (link === null || person?.status !== 'active') return null;
  return {
    actor: { person, roles: person.roles },
    version: { kind: 'chat-link', id, version: link.version },
  };
}

/** The id of the link of an account, of which there is at most one. */
function linkIdOf({ service, workspace, user }: ChatAccount): string {
  return digestOf(JSON.stringify([service, workspace, user])).slice(0, 32);
}

async function ownDraft(
  { chatLinkDrafts, clock }: Directory,
  { id: personId }: Person,
  draftId: string,
): Promise<ReadDocument<ChatLinkDraft> | null> {
  const draft = await chatLinkDrafts.find(draftId);
  return draft?.value.personId === personId && clock() < draft.value.endsAtMs ? draft : null;
}

function linkSummary({ account: { service, workspace, user }, name }: ChatLink) {
  return { service, workspace, user, name };
}
