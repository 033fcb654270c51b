// /v1/sessions: where a person is signed in, and ending it there.

import type { Session } from '../../../people/person.ts';
import * as sessions from '../../../people/sessions.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { notFound } from '../../calls/refusals.ts';
import { actorOf, type Route, route } from '../../calls/route.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  time,
  timeText,
} from '../../contract/schemas.ts';

interface SessionListDeps {
  readonly signInDeps: Pick<SignInDeps, 'directory'>;
}

const sessionSchema = objectSchema({
  id: text(20),
  address: text(100),
  created_at: time,
  last_seen_at: time,
  ends_at: time,
  is_this_one: { type: 'boolean' },
});

const sessionExample = {
  id: '0123456789abcdef',
  address: '192.0.2.1',
  created_at: '2026-03-02T10:00:00.000Z',
  last_seen_at: '2026-03-02T10:30:00.000Z',
  ends_at: '2026-03-02T22:00:00.000Z',
  is_this_one: true,
};

const listSessions = route<SessionListDeps>({
  method: 'GET',
  url: '/v1/sessions',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'listSessions',
    summary: "The person's own sessions, the latest first",
    replies: { 200: listReply('The sessions', sessionSchema, sessionExample) },
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const found = await sessions.openSessions(directory, actorOf(call).person);
    return { items: found.map((one) => shownSession(one, call.session)) };
  },
});

const endSession = route<SessionListDeps>({
  method: 'DELETE',
  url: '/v1/sessions/:id',
  access: 'signed-in',
  credential: 'session',
  operation: {
    id: 'endSession',
    summary: "Ends one of the person's own sessions",
    parameters: [idParameter('The id in the list.', sessionExample.id)],
    replies: { 204: noContent('Ended') },
    problems: ['not_found'],
  },
  handle: async ({ signInDeps: { directory } }, call) => {
    const result = await sessions.endSession(directory, actorOf(call), call.params.id ?? '');
    if (result === 'unknown') throw notFound('session');
  },
});

export const sessionListRoutes: readonly Route<SessionListDeps>[] = [listSessions, endSession];

function shownSession(session: Session, present: Session | null) {
  const { address, createdAtMs, seenAtMs, endsAtMs } = session;
  return {
    id: sessions.shownSessionId(session),
    address,
    created_at: timeText(createdAtMs),
    last_seen_at: timeText(seenAtMs),
    ends_at: timeText(endsAtMs),
    is_this_one: session.id === present?.id,
  };
}
