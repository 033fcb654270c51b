// /v1/events: a stream of hints that something has changed, so that a page need not poll.

import { Readable } from 'node:stream';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { stillIn } from '../../auth/identify-person.ts';
import { ProblemError } from '../../contract/problem.ts';
import { type ChangeFeed, changeKinds, streamsOfPersonMax } from '../../events/change-feed.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';

interface NewsDeps {
  readonly signInDeps: SignInDeps;
  readonly changeFeed: ChangeFeed;
}

const newsExample = 'retry: 2000\n\nevent: requests\ndata: {"at":"2026-03-02T10:00:00.000Z"}\n\n';

const streamEvents = route<NewsDeps>({
  method: 'GET',
  url: '/v1/events',
  access: 'signed-in',
  credential: 'session-or-token',
  operation: {
    id: 'streamEvents',
    summary: 'Server-Sent Events that say what kind of thing has changed',
    description: `Events are ${Object.keys(changeKinds).join(', ')}, as far as one may see the things; \`data\` is \`{"at": time}\`. An event is a hint to look again, and of each kind one comes in half a second at most; look at all when the stream opens. It ends when the session or token does, and when the service stops. At most ${streamsOfPersonMax} streams of a person are open.`,
    replies: {
      200: {
        description: 'The stream',
        contentType: 'text/event-stream',
        headers: ['X-Accel-Buffering'],
        schema: { description: 'Events without end.' },
        example: newsExample,
      },
    },
    problems: ['too_many_streams'],
  },
  handle: async ({ changeFeed, signInDeps }, call) => {
    const { request, reply } = call;
    const isHead = request.method === 'HEAD';
    const look = () => stillIn(signInDeps, request);
    const body = isHead ? Readable.from([]) : await changeFeed.open(actorOf(call), { look });
    if (body === null) {
      throw new ProblemError('too_many_streams', `close one of your ${streamsOfPersonMax} streams first`);
    }
    // No other request follows on the connection, which would hold up a stop if it stayed open.
    reply.type('text/event-stream').header('x-accel-buffering', 'no').header('connection', 'close');
    reply.raw.once('close', () => body.destroy());
    return body;
  },
});

export const newsRoutes: readonly Route<NewsDeps>[] = [streamEvents];
