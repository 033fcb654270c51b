// What people do in a chat into what they do in Writ: vote, comment, and link their account. INVARIANT: a chat account acts
// as the person it is linked to at the moment of the write, with that person's rights, and with no other's; without a link
// nothing is done, and a failure is told to the person as one.

import { claimLinkCode, linkedPerson } from '../people/chat-links.ts';
import type { Directory } from '../people/directory.ts';
import type { Actor } from '../people/person.ts';
import type { ChangeResult } from '../requests/approvals/change-request.ts';
import type { ThroughChat } from '../requests/approvals/chat-votes.ts';
import type { Caller } from '../requests/approvals/rights.ts';
import { requestDigest } from '../requests/record/vote-scope.ts';
import type { RequestChanges } from '../requests/request-changes.ts';
import type { ChatAccount, ChatService } from '../store/contract/chat-account.ts';
import type { DocumentStore } from '../store/contract/documents.ts';
import { chatMessagesOf, placeName } from './chat-messages.ts';

export interface ChatVote {
  readonly kind: 'approve' | 'reject';
  readonly requestId: string;
  /** The digest of the request that the message showed. */
  readonly digest: string;
  readonly comment: string;
}

export interface ChatActions {
  /** Returns what to tell the person; null when the message itself shows it. */
  vote(account: ChatAccount, vote: ChatVote): Promise<string | null>;
  /** Comments on the request of a message; null when it is done, or no message about a request is there. */
  comment(account: ChatAccount, said: SaidInChat): Promise<string | null>;
  /** Notes that the account has entered a link code. */
  link(account: ChatAccount, entered: { readonly code: string; readonly name: string }): Promise<string>;
}

export interface SaidInChat {
  readonly channel: string;
  /** The id of the message that is answered. */
  readonly message: string;
  readonly text: string;
}

export interface ChatActionDeps {
  readonly directory: Directory;
  readonly requestChanges: RequestChanges;
  readonly callerOf: (actor: Actor) => Caller;
  /** The address at which people reach the service, without a path. */
  readonly publicUrl: string;
  readonly onFailure: (error: unknown) => void;
}

const textMax = 2_000;

export function createChatActions(deps: ChatActionDeps): ChatActions {
  return {
    vote: (account, vote) => told(deps, () => giveVote(deps, account, vote)),
    comment: (account, said) => told(deps, () => addComment(deps, account, said)),
    async link(account, { code, name }) {
      const entered = () => enterCode(deps, { account, name: name.slice(0, 100) }, code);
      return (await told(deps, entered)) ?? '';
    },
  };
}

/** A failure must reach the person: otherwise they would believe that their vote counts. */
async function told(deps: ChatActionDeps, work: () => Promise<string | null>): Promise<string | null> {
  try {
    return await work();
  } catch (error) {
    deps.onFailure(error);
    return 'Writ could not record this. Nothing was decided. Try again.';
  }
}

async function giveVote(
  deps: ChatActionDeps,
  account: ChatAccount,
  { kind, requestId, digest, comment }: ChatVote,
): Promise<string | null> {
  const linked = await linkedPerson(deps.directory, account);
  if (linked === null) return unlinkedText(deps, account.service);
  if (kind === 'reject' && comment.trim() === '') return 'A rejection needs a comment. Nothing was decided.';
  const caller = deps.callerOf(linked.actor);
  const chat = throughChat(deps, { account, digest, personId: caller.id });
  const draft = { caller, group: null, comment: comment.trim().slice(0, textMax), chat };
  const { approve, reject } = deps.requestChanges;
  return refusalText(deps, requestId, await (kind === 'approve' ? approve : reject)(requestId, draft));
}

async function addComment(
  deps: ChatActionDeps,
  account: ChatAccount,
  { channel, message, text }: SaidInChat,
): Promise<string | null> {
  const { documents } = deps.directory;
  const name = placeName(account.service, channel, message);
  const about = (await chatMessagesOf(documents).findByName(name))?.value;
  if (about === undefined || text.trim() === '') return null;
  const linked = await linkedPerson(deps.directory, account);
  if (linked === null) return unlinkedText(deps, account.service);
  const caller = deps.callerOf(linked.actor);
  const seen = await deps.requestChanges.snapshot(about.requestId);
  if (seen === null) return null;
  const digest = requestDigest(seen.state.record);
  const chat = throughChat(deps, { account, digest, personId: caller.id });
  const said = text.trim().slice(0, textMax);
  const kind = said.endsWith('?') ? 'question' : 'comment';
  const result = await deps.requestChanges.comment(about.requestId, { caller, kind, text: said, chat });
  return refusalText(deps, about.requestId, result);
}

function throughChat(
  { directory }: Pick<ChatActionDeps, 'directory'>,
  { account, digest, personId }: Omit<ThroughChat, 'link'> & { readonly personId: string },
): ThroughChat {
  return {
    account,
    digest,
    link: async () => {
      const linked = await linkedPerson(directory, account);
      return linked?.actor.person.id === personId ? linked.version : null;
    },
  };
}

async function enterCode(
  { directory, publicUrl }: ChatActionDeps,
  claim: { readonly account: ChatAccount; readonly name: string },
  code: string,
): Promise<string> {
  const result = await claimLinkCode(directory, code, claim);
  return result === 'claimed'
    ? `Almost done: confirm this account on your account page in Writ: ${publicUrl}/account`
    : `This code is not valid or has ended. Create a new one on your account page in Writ: ${publicUrl}/account`;
}

const enterWords: Readonly<Record<ChatService, string>> = {
  slack: 'enter it here as /writ link CODE',
  teams: 'send it to this bot as link CODE',
};

function unlinkedText({ publicUrl }: Pick<ChatActionDeps, 'publicUrl'>, service: ChatService): string {
  return `This account is not linked to a person in Writ. Create a code on your account page (${publicUrl}/account), and ${enterWords[service]}.`;
}

function refusalText(
  { publicUrl }: Pick<ChatActionDeps, 'publicUrl'>,
  id: string,
  result: ChangeResult,
): string | null {
  const page = `${publicUrl}/approvals/${id}`;
  switch (result.kind) {
    case 'changed':
      return null;
    case 'unknown':
      return 'Not recorded: there is no such request, or you may not see it.';
    case 'conflict':
    case 'not-allowed':
    case 'stopped':
      return `Not recorded: ${result.detail}. Look at it in Writ: ${page}`;
    case 'which-group':
      return `Not recorded: several of your groups are asked. Choose one in Writ: ${page}`;
    case 'invalid-result':
      return `Not recorded. Look at it in Writ: ${page}`;
  }
}

const deliveryKind = 'chat-delivery';

/** Takes a delivery of a chat; false when it was taken before, by whichever process. It is known until `endsAtMs`. */
export async function takeDelivery(
  documents: DocumentStore,
  id: string,
  { nowMs, endsAtMs }: { readonly nowMs: number; readonly endsAtMs: number },
): Promise<boolean> {
  const fixed = { kind: deliveryKind, id, seen: 0, name: null, parent: null, json: '{}' };
  const put = { ...fixed, createdAtMs: Math.trunc(nowMs), endsAtMs: Math.trunc(endsAtMs) };
  return (await documents.write([put], null)) === 'changed';
}
