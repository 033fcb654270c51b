// /v1/events: a stream of hints that something has changed, so that a page need not poll.

import { Readable } from 'node:stream';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { currentActor } from '../../auth/identify-person.ts';
import { ProblemError } from '../../contract/problem.ts';
import { changeKinds, type EventStreams, streamsOfPersonMax } from '../../events/event-streams.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface EventDeps {
  readonly signInDeps: SignInDeps;
  readonly eventStreams: EventStreams;
}

const eventStreamExample = 'retry: 2000\n\nevent: requests\ndata: {"at":"2026-03-02T10:00:00.000Z"}\n\n';

const streamEvents = route<EventDeps>({
  method: 'GET',
  url: '/v1/events',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'streamEvents',
    summary: 'The event stream: Server-Sent Events about changes',
    description: `Events are ${Object.keys(changeKinds).join(', ')}, as far as the caller may see them; \`data\` is \`{"at": time}\`. An event means that the client should read the resource again; at most one event of each kind is sent per half second. Read everything once when the stream opens. The stream ends with the session or token, or when the service stops. At most ${streamsOfPersonMax} open streams per person.`,
    replies: {
      200: {
        description: 'The event stream',
        contentType: 'text/event-stream',
        headers: ['X-Accel-Buffering'],
        schema: { description: 'An endless stream of events.' },
        example: eventStreamExample,
      },
    },
    problems: ['too_many_streams'],
  },
  handle: async ({ eventStreams, signInDeps }, call) => {
    const { request, reply } = call;
    const isHead = request.method === 'HEAD';
    const look = () => currentActor(signInDeps, request);
    const body = isHead ? Readable.from([]) : await eventStreams.open(actorOf(call), { currentActor: look });
    if (body === null) {
      throw new ProblemError('too_many_streams', `close one of your ${streamsOfPersonMax} streams first`);
    }
    // No other request follows on the connection, which would hold up a stop if it stayed open.
    reply.type('text/event-stream').header('x-accel-buffering', 'no').header('connection', 'close');
    reply.raw.once('close', () => body.destroy());
    return body;
  },
});

export const eventRoutes: readonly Route<EventDeps>[] = [streamEvents];
