// A service that breaks in every way, one way at a time: its answers to `POST /v1/authorize` in place of a
// readable decision.

import { createServer, type ServerResponse } from 'node:http';
import { listening } from '../../service/http/listening.ts';

export type Fault = (response: ServerResponse) => void;

export const grant = {
  request_id: 'a-request',
  decision: 'ALLOW',
  reason: 'fine',
  matched_policy: 'demo',
  risk_score: 1,
  status: 'auto_approved',
  message: 'allowed',
  expires_at: '2999-01-01T00:00:00.000Z',
};

export const wait = { ...grant, decision: 'ESCALATE', status: 'pending' };

export function says(body: unknown, status = 200): Fault {
  return (response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(typeof body === 'string' ? body : JSON.stringify(body));
  };
}

const whole = JSON.stringify(grant);
const words = ['allow', 'ALLOWED', 'ALLOW ', 'PERHAPS', '', 'constructor', null, true, ['ALLOW']];
const wrongs = [undefined, null, {}];

/** Each field of a grant is absent, null, or of another type; each word of the decision is replaced. */
const misread = Object.keys(grant).flatMap((name) =>
  wrongs.map(
    (value) =>
      [`${name} is ${JSON.stringify(value) ?? 'missing'}`, says({ ...grant, [name]: value })] as const,
  ),
);
const unknown = words.map(
  (decision) => [`the decision is ${JSON.stringify(decision)}`, says({ ...grant, decision })] as const,
);

/** One fault of each kind. */
export const faults: Readonly<Record<string, Fault>> = {
  'an unknown decision': says({ ...grant, decision: 'PERHAPS' }),
  'a missing field': says({ ...grant, expires_at: undefined }),
  'ALLOW with the status of a pending request': says({ ...grant, status: 'pending' }),
  'ESCALATE with the status of a grant': says({ ...wait, status: 'auto_approved' }),
  'a body that is not JSON': says('ALLOW'),
  'half a body with a matching length': says(whole.slice(0, -10)),
  'half a body, then a closed connection': (response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length });
    response.write(whole.slice(0, 60), () => response.destroy());
  },
  'a grant with an error status': says(grant, 500),
  'an error about the key': says({ type: 'urn:writ:error:invalid_api_key', detail: 'no' }, 401),
  'an error about the rate limit': says({ type: 'urn:writ:error:rate_limited', detail: 'later' }, 429),
  'a redirect': (response) => {
    response.writeHead(307, { location: '/v1/authorize-elsewhere' });
    response.end();
  },
  'a broken connection': (response) => {
    response.destroy();
  },
  'no answer': () => undefined,
};

export const moreFaults: Readonly<Record<string, Fault>> = {
  ...Object.fromEntries([...misread, ...unknown]),
  'an answer in a list': says([grant]),
  'a grant that was created': says(grant, 201),
  'nothing at all': says(''),
};

export interface BrokenService {
  readonly url: string;
  /** Replaces the present fault. */
  readonly become: (next: Fault) => void;
}

export async function brokenService(first: Fault): Promise<BrokenService> {
  let now = first;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => (request.url === '/v1/authorize' ? now(response) : says(grant)(response)));
  });
  return {
    url: await listening(server),
    become(next) {
      now = next;
    },
  };
}
