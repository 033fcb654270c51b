// Lists where a person is signed in, and ends sessions there: by the person themselves, or by an admin.

import { isoTime } from '../../../../language/value/iso-time.ts';
import { type Session, signInWays } from '../../../people/person.ts';
import * as sessions from '../../../people/sessions.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { conflict, notFound } from '../../auth/auth-refusals.ts';
import { idParameter, listReply, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { personExample } from './person-view.ts';

interface SessionListDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory'>;
}

const sessionSchema = objectSchema({
  id: text(20),
  address: text(100),
  method: { type: 'string', enum: signInWays },
  created_at: time,
  last_seen_at: time,
  ends_at: time,
  is_current: { type: 'boolean' },
});

const sessionExample = {
  id: '0123456789abcdef',
  address: '192.0.2.1',
  method: 'password-and-code',
  created_at: '2026-03-02T10:00:00.000Z',
  last_seen_at: '2026-03-02T10:30:00.000Z',
  ends_at: '2026-03-02T22:00:00.000Z',
  is_current: true,
};

const personId = idParameter('The id in the list of people.', personExample.id);

const listSessions = route<SessionListDeps>({
  method: 'GET',
  url: '/v1/sessions',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'listSessions',
    summary: "The caller's sessions, newest first",
    replies: { 200: listReply('The sessions', sessionSchema, sessionExample) },
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const openSessions = await sessions.openSessions(directory, actorOf(call).person);
    return { items: openSessions.map((one) => sessionListItem(one, call.session)) };
  },
});

const endSession = route<SessionListDeps>({
  method: 'DELETE',
  url: '/v1/sessions/:id',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'endSession',
    summary: "Ends one of the caller's sessions",
    parameters: [idParameter('The id in the list.', sessionExample.id)],
    replies: { 204: noContent('Ended') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const actor = actorOf(call);
    const ending = { personId: actor.person.id, shownId: call.params.id ?? '' };
    const result = await sessions.endSession(directory, actor, ending);
    if (result === 'unknown') throw notFound('session');
  },
});

const listPersonSessions = route<SessionListDeps>({
  method: 'GET',
  url: '/v1/people/:id/sessions',
  access: 'people.change',
  operation: {
    id: 'listPersonSessions',
    summary: 'The sessions of a person, newest first',
    parameters: [personId],
    replies: { 200: listReply('The sessions', sessionSchema, sessionExample) },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const person = await directory.people.find(call.params.id ?? '');
    if (person === null) throw notFound('person');
    const openSessions = await sessions.openSessions(directory, person.value);
    return { items: openSessions.map((one) => sessionListItem(one, call.session)) };
  },
});

const endPersonSession = route<SessionListDeps>({
  method: 'DELETE',
  url: '/v1/people/:id/sessions/:session',
  access: 'people.change',
  operation: {
    id: 'endPersonSession',
    summary: 'Ends a session of a person',
    parameters: [personId, { ...idParameter('The id in the list.', sessionExample.id), name: 'session' }],
    replies: { 204: noContent('Ended') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const ending = { personId: call.params.id ?? '', shownId: call.params.session ?? '' };
    const result = await sessions.endSession(directory, actorOf(call), ending);
    if (result === 'unknown') throw notFound('session');
  },
});

const endPersonSessions = route<SessionListDeps>({
  method: 'DELETE',
  url: '/v1/people/:id/sessions',
  access: 'people.change',
  operation: {
    id: 'endPersonSessions',
    summary: 'Ends all sessions of a person, who can sign in again',
    parameters: [personId],
    replies: { 204: noContent('Ended') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await sessions.endAllSessions(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('person');
    if (result === 'conflict') throw conflict();
  },
});

export const sessionListRoutes: readonly Route<SessionListDeps>[] = [
  listSessions,
  endSession,
  listPersonSessions,
  endPersonSession,
  endPersonSessions,
];

function sessionListItem(session: Session, present: Session | null) {
  const { address, way, createdAtMs, seenAtMs, endsAtMs } = session;
  return {
    id: sessions.sessionReference(session),
    address,
    method: way,
    created_at: isoTime(createdAtMs),
    last_seen_at: isoTime(seenAtMs),
    ends_at: isoTime(endsAtMs),
    is_current: session.id === present?.id,
  };
}
