// /v1/chat-links: the chat accounts of a person, and the codes by which they are linked. Links are made in a session with a
// proof, and confirmed in a session; an admin sees and ends those of others.

import { isoTime } from '../../../../language/value/iso-time.ts';
import * as chatLinks from '../../../people/chat-links.ts';
import type { ChatLink, ChatLinkDraft } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { type ChatService, chatServices } from '../../../store/contract/chat-account.ts';
import { conflict, notFound } from '../../auth/auth-refusals.ts';
import { ProblemError } from '../../contract/problem.ts';
import { idParameter, listReply, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { personExample } from './person-view.ts';

interface ChatLinkDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory' | 'notify'>;
  /** The chats that are set up. */
  readonly chat: { readonly services: readonly ChatService[] };
}

const accountProperties = {
  service: { type: 'string', enum: chatServices },
  workspace: text(100),
  user: text(100),
  name: text(100),
} as const;

const linkSchema = objectSchema({
  id: text(40),
  status: {
    type: 'string',
    enum: ['waiting', 'entered', 'linked'],
    description:
      '`waiting`: nobody has entered the code. `entered`: the account has entered the code, and the person has to confirm it.',
  },
  account: {
    ...objectSchema(accountProperties),
    type: ['object', 'null'],
    description: 'The chat account; null while nobody has entered the code.',
  },
  created_at: time,
  ends_at: { ...time, type: ['string', 'null'], description: 'When the code ends; null for a link.' },
});

const linkExample = {
  id: '3d1f0a5c9b7e4f2a8c6d0e1b2a3f4c5d',
  status: 'linked',
  account: { service: 'slack', workspace: 'T0123ABCD', user: 'U0123ABCD', name: 'ann' },
  created_at: '2026-03-02T10:00:00.000Z',
  ends_at: null,
};

const listSchema = objectSchema({
  items: { type: 'array', items: linkSchema },
  services: {
    type: 'array',
    items: { type: 'string', enum: chatServices },
    description: 'The chats that are set up.',
  },
});

const listChatLinks = route<ChatLinkDeps>({
  method: 'GET',
  url: '/v1/chat-links',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'listChatLinks',
    summary: "The caller's linked chat accounts and open link codes",
    replies: {
      200: {
        description: 'The links, then the codes',
        schema: listSchema,
        example: { items: [linkExample], services: ['slack'] },
      },
    },
  },
  handle: async ({ signInDeps: { directory }, chat }, call) => {
    const { links, drafts } = await chatLinks.linksOf(directory, actorOf(call).person.id);
    return { items: [...links.map(linkView), ...drafts.map(draftView)], services: [...chat.services] };
  },
});

const createChatLinkCode = route<ChatLinkDeps, object>({
  method: 'POST',
  url: '/v1/chat-links',
  access: 'signed-in',
  credential: 'proved-session',
  operation: {
    id: 'createChatLinkCode',
    summary: 'Creates a code by which a chat account is linked to the caller',
    description:
      'The code can be entered once within ten minutes: in Slack as `/writ link CODE`, in Teams as the message `link CODE` to the bot. The account is linked when the caller has confirmed it.',
    body: {
      description: 'The proof that the caller is the person of the session.',
      schema: objectSchema({}),
      examples: { code: {} },
    },
    replies: {
      201: {
        description: 'Created; `code` is shown only once',
        schema: objectSchema({ id: text(40), code: text(20), ends_at: time }),
        example: { id: linkExample.id, code: 'K7TQ2MZP4X', ends_at: '2026-03-02T10:10:00.000Z' },
      },
    },
    problems: ['conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const made = await chatLinks.createLinkCode(directory, actorOf(call));
    if (made.kind === 'too-many')
      throw new ProblemError('conflict', 'you have several open codes: use one of them, or wait ten minutes');
    call.reply.code(201);
    return { id: made.draft.id, code: made.code, ends_at: isoTime(made.draft.endsAtMs) };
  },
});

const confirmChatLink = route<ChatLinkDeps>({
  method: 'POST',
  url: '/v1/chat-links/:id/confirm',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'confirmChatLink',
    summary: 'Links the chat account that has entered a code of the caller',
    parameters: [idParameter('The id in the list.', linkExample.id)],
    replies: { 200: { description: 'Linked', schema: linkSchema, example: linkExample } },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory, notify } }, call) => {
    const actor = actorOf(call);
    const result = await chatLinks.confirmLink(directory, actor, call.params.id ?? '');
    if (result.kind === 'linked') {
      notify(result.notice, actor.person);
      return linkView(result.link);
    }
    if (result.kind === 'unknown') throw notFound('link code');
    if (result.kind === 'conflict') throw conflict();
    throw new ProblemError('conflict', whyNotLinked[result.kind]);
  },
});

const whyNotLinked = {
  unclaimed: 'nobody has entered the code yet',
  'account-taken': 'this chat account is linked already: end that link first',
  'has-another': 'you have linked another account of this workspace: end that link first',
} as const;

const deleteChatLink = route<ChatLinkDeps>({
  method: 'DELETE',
  url: '/v1/chat-links/:id',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'deleteChatLink',
    summary: "Ends one of the caller's links, or an open link code",
    parameters: [idParameter('The id in the list.', linkExample.id)],
    replies: { 204: noContent('Ended') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const actor = actorOf(call);
    const ended = { id: call.params.id ?? '', personId: actor.person.id };
    refuseUnended(await chatLinks.endLink(directory, actor, ended));
  },
});

const personId = idParameter('The id in the list of people.', personExample.id);

const listPersonChatLinks = route<ChatLinkDeps>({
  method: 'GET',
  url: '/v1/people/:id/chat-links',
  access: 'people.change',
  operation: {
    id: 'listPersonChatLinks',
    summary: 'The linked chat accounts of a person',
    parameters: [personId],
    replies: { 200: listReply('The links', linkSchema, linkExample) },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const person = await directory.people.find(call.params.id ?? '');
    if (person === null) throw notFound('person');
    return { items: (await chatLinks.linksOf(directory, person.value.id)).links.map(linkView) };
  },
});

const deletePersonChatLink = route<ChatLinkDeps>({
  method: 'DELETE',
  url: '/v1/people/:id/chat-links/:link',
  access: 'people.change',
  operation: {
    id: 'deletePersonChatLink',
    summary: 'Ends the link of a chat account to a person',
    parameters: [personId, { ...idParameter('The id in the list.', linkExample.id), name: 'link' }],
    replies: { 204: noContent('Ended') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const ended = { id: call.params.link ?? '', personId: call.params.id ?? '' };
    refuseUnended(await chatLinks.endLink(directory, actorOf(call), ended));
  },
});

export const chatLinkRoutes: readonly Route<ChatLinkDeps>[] = [
  listChatLinks,
  createChatLinkCode,
  confirmChatLink,
  deleteChatLink,
  listPersonChatLinks,
  deletePersonChatLink,
];

function refuseUnended(result: Awaited<ReturnType<typeof chatLinks.endLink>>): void {
  if (result === 'unknown') throw notFound('link');
  if (result === 'conflict') throw conflict();
}

function linkView({ id, account, name, createdAtMs }: ChatLink) {
  return {
    id,
    status: 'linked',
    account: { ...account, name },
    created_at: isoTime(createdAtMs),
    ends_at: null,
  };
}

function draftView({ id, claim, createdAtMs, endsAtMs }: ChatLinkDraft) {
  return {
    id,
    status: claim === null ? 'waiting' : 'entered',
    account: claim === null ? null : { ...claim.account, name: claim.name },
    created_at: isoTime(createdAtMs),
    ends_at: isoTime(endsAtMs),
  };
}
