// Requests in every state at a running service, and the edits by which somebody who can write the store, but
// has no master key, would have one of them granted, taken again, or proved.

import type { Store } from '../../../src/service/store/contract/store.ts';
import { paymentPolicies } from '../http/payments-team.ts';
import { type Client, firstAdmin, personWith, signedIn } from '../http/person-client.ts';
import { authorize, type Service } from '../http/service.ts';
import { ask, give, usePolicies } from '../http/written-policies.ts';

/** The requests by name; each name says in which state its request is. */
const names = [
  'waiting',
  'halfApproved',
  'takenBack',
  'approved',
  'used',
  'rejected',
  'withdrawn',
  'granted',
  'executed',
  'denied',
] as const;
export type TargetName = (typeof names)[number];
export type Ids = Readonly<Record<TargetName, string>>;

export interface Team {
  readonly service: Service;
  readonly ids: Ids;
  readonly admin: Client;
  readonly ann: Client;
}

const policies = paymentPolicies
  .replace('pay.soon {', 'pay.soon, pay.free, pay.denied {')
  .replace(
    'allow all for 10m',
    'allow all for 10m\n  deny none when action.key == "pay.denied" because "never"',
  );

/** Every request has a payload of its own, so that `attach` finds it alone. */
const amounts = Object.fromEntries(names.map((name, at) => [name, at + 1])) as Record<TargetName, number>;

const actionOf = (name: TargetName): string => {
  if (name === 'granted' || name === 'executed') return 'pay.free';
  if (name === 'denied') return 'pay.denied';
  return name === 'halfApproved' || name === 'takenBack' ? 'pay.two' : 'pay.one';
};

export async function fillService(service: Service): Promise<Team> {
  await usePolicies(service, policies);
  const admin = await firstAdmin(service);
  const finance = { roles: ['approver'], groups: ['finance'] } as const;
  const ann = await personWith(service, admin, { email: 'anna@example.com', ...finance });
  const ben = await personWith(service, admin, { email: 'ben@example.com', ...finance });
  const lea = await personWith(service, admin, { email: 'lea@example.com', ...finance });
  const ids: Record<string, string> = {};
  for (const name of names) {
    const headers = { prefer: 'receipt', 'idempotency-key': `key of ${name}` };
    const view = await ask(service, actionOf(name), { payload: { amount: amounts[name] }, headers });
    ids[name] = view.request_id;
  }
  const all = ids as Ids;
  for (const name of ['halfApproved', 'takenBack', 'approved', 'used'] as const)
    expectOk(await give(ben, all[name], 'approve'));
  expectOk(await give(ben, all.rejected, 'reject'));
  for (const name of ['waiting', 'halfApproved'] as const)
    expectOk(
      await lea.send(`/v1/requests/${all[name]}/comments`, {
        method: 'POST',
        body: { kind: 'comment', text: 'looks fine' },
      }),
    );
  expectOk(await ben.send(`/v1/requests/${all.takenBack}/revoke-approval`, { method: 'POST', body: {} }));
  const asAgent = { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' };
  const post = async (path: string, body: object) =>
    expectOk(
      await fetch(`${service.url}${path}`, { method: 'POST', headers: asAgent, body: JSON.stringify(body) }),
    );
  await attach(service, 'used');
  await post(`/v1/requests/${all.used}/outcome`, { executed: true });
  await post(`/v1/requests/${all.executed}/outcome`, { executed: true });
  await post(`/v1/requests/${all.withdrawn}/withdraw`, {});
  return { service, ids: all, admin: await signedIn(service, 'ann@example.com'), ann };
}

function expectOk({ status }: { readonly status: number }): void {
  if (status >= 300) throw new Error(`the reply is ${status}`);
}

/** Asks the same again, and comes for an approval if there is one. */
function attach(service: Service, name: TargetName): Promise<Response> {
  const body = JSON.stringify({ action_key: actionOf(name), payload: { amount: amounts[name] } });
  return authorize(service, { body, headers: { prefer: 'attach, receipt' } });
}

/** Asks the same again under the key under which it was asked. */
function repeat(service: Service, name: TargetName): Promise<Response> {
  const body = JSON.stringify({ action_key: actionOf(name), payload: { amount: amounts[name] } });
  const headers = { prefer: 'receipt', 'idempotency-key': `key of ${name}` };
  return authorize(service, { body, headers });
}

const granting: readonly unknown[] = ['approved', 'auto_approved'];

/** The ways in which a grant is shown, given, taken or proved. Each tells whether it does so for the target. */
export const ways: Readonly<Record<string, (team: Team, name: TargetName) => Promise<boolean>>> = {
  poll: async ({ service, ids }, name) => {
    const reply = await fetch(`${service.url}/v1/requests/${ids[name]}`, {
      headers: { 'x-agent-api-key': service.apiKey },
    });
    return reply.ok && granting.includes((await json(reply)).status);
  },
  list: async ({ admin, ids }, name) => {
    const { status, body } = await admin.send('/v1/requests?limit=100');
    return (
      status === 200 &&
      body.items.some((one: Json) => one.request_id === ids[name] && granting.includes(one.status))
    );
  },
  vote: async ({ ann, ids }, name) => (await give(ann, ids[name], 'approve')).status === 200,
  attach: async ({ service, ids }, name) => isGrantOf(ids[name], await attach(service, name)),
  repeat: async ({ service, ids }, name) => isGrantOf(ids[name], await repeat(service, name)),
  receipt: async ({ service, ids }, name) => {
    const headers = { 'x-agent-api-key': service.apiKey };
    return (await fetch(`${service.url}/v1/requests/${ids[name]}/receipt`, { headers })).ok;
  },
  outcome: async ({ service, ids }, name) => {
    const headers = { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' };
    const path = `${service.url}/v1/requests/${ids[name]}/outcome`;
    return (await fetch(path, { method: 'POST', headers, body: '{"executed":true}' })).ok;
  },
};

type Json = Readonly<Record<string, unknown>>;

async function json(reply: Response): Promise<Json> {
  return (await reply.json()) as Json;
}

async function isGrantOf(id: string, reply: Response): Promise<boolean> {
  if (!reply.ok) return false;
  const view = await json(reply);
  return view.request_id === id && view.decision === 'ALLOW';
}

export interface Edit {
  readonly name: string;
  readonly target: TargetName;
  /** Statements, without tables that only a file has. */
  readonly statements: (ids: Ids, facts: Facts) => readonly string[];
  /** Statements that a file needs besides, to hide the edit as well as can be. */
  readonly inFile?: (ids: Ids) => readonly string[];
}

/** What an intruder can read of the store. */
export interface Facts {
  readonly lastSequence: number;
  readonly soonMs: number;
  /** Ids of people by mail address. */
  readonly people: Readonly<Record<string, string>>;
}

const eventColumns = 'at_ms, who, what, status, decided_ms, expires_ms, detail_json, hash';

const copyEvent = (from: string, what: string, to: string, sequence: number): string =>
  `INSERT INTO request_events (sequence, request_id, ${eventColumns})
   SELECT ${sequence}, '${to}', ${eventColumns} FROM request_events
   WHERE request_id = '${from}' AND what = '${what}' AND sequence =
     (SELECT max(sequence) FROM request_events WHERE request_id = '${from}' AND what = '${what}')`;

/** Sets the state in the row of the request to that of its last event. */
const follow = (id: string): string => {
  const last = (column: string) =>
    `(SELECT ${column} FROM request_events WHERE request_id = '${id}' ORDER BY sequence DESC LIMIT 1)`;
  return `UPDATE requests SET now_status = ${last('status')}, now_decided_ms = ${last('decided_ms')},
    now_expires_ms = ${last('expires_ms')} WHERE id = '${id}'`;
};

const without = (id: string, what: string): readonly string[] => [
  `DELETE FROM request_events WHERE request_id = '${id}' AND what = '${what}'`,
  follow(id),
];

const recount = (id: string): readonly string[] => [
  `UPDATE request_heads SET event_count = (SELECT count(*) FROM request_events WHERE request_id = '${id}') WHERE request_id = '${id}'`,
];
const uncount = (id: string): readonly string[] => [`DELETE FROM request_heads WHERE request_id = '${id}'`];

const stateOf = (id: string, status: string, { soonMs }: Facts): string =>
  `UPDATE requests SET now_status = '${status}', now_decided_ms = created_ms + 1, now_expires_ms = ${soonMs} WHERE id = '${id}'`;

const setRow = (id: string, change: string): string => `UPDATE requests SET ${change} WHERE id = '${id}'`;
const setEvent = (id: string, what: string, change: string): string =>
  `UPDATE request_events SET ${change} WHERE request_id = '${id}' AND what = '${what}'`;

export const edits: readonly Edit[] = [
  ...(['waiting', 'halfApproved', 'takenBack', 'used', 'rejected', 'withdrawn', 'denied'] as const).flatMap(
    (target): readonly Edit[] => [
      {
        name: 'the state in the row is approved',
        target,
        statements: (ids, facts) => [stateOf(ids[target], 'approved', facts)],
      },
      {
        name: 'the state in the row is granted at once',
        target,
        statements: (ids, facts) => [stateOf(ids[target], 'auto_approved', facts)],
      },
      {
        name: 'the record says that it was granted at once',
        target,
        statements: (ids, { soonMs }) => [
          setRow(
            ids[target],
            `status = 'auto_approved', outcome = 'ALLOW', decided_ms = created_ms, expires_ms = ${soonMs}, now_status = NULL,
             now_decided_ms = NULL, now_expires_ms = NULL`,
          ),
          `DELETE FROM request_events WHERE request_id = '${ids[target]}'`,
        ],
        inFile: (ids) => uncount(ids[target]),
      },
      {
        name: 'the end of an approval of another request is its own',
        target,
        statements: (ids, { lastSequence }) => [
          copyEvent(ids.approved, 'decided', ids[target], lastSequence + 1),
          follow(ids[target]),
        ],
        inFile: (ids) => recount(ids[target]),
      },
    ],
  ),
  {
    name: 'the states of a vote say that it is approved',
    target: 'halfApproved',
    statements: (ids, { soonMs }) => [
      setEvent(
        ids.halfApproved,
        'commented',
        `status = 'approved', decided_ms = at_ms, expires_ms = ${soonMs}`,
      ),
      follow(ids.halfApproved),
    ],
  },
  {
    name: 'a comment is a vote',
    target: 'halfApproved',
    statements: (ids, { people }) => [
      setEvent(
        ids.halfApproved,
        'commented',
        `what = 'approved', detail_json = (SELECT replace(replace(detail_json, '${people['ben@example.com']}', '${people['lea@example.com']}'), 'ben@', 'lea@')
           FROM request_events WHERE request_id = '${ids.halfApproved}' AND what = 'approved')`,
      ),
    ],
  },
  {
    name: 'a comment is a vote, for a request that waits for one more',
    target: 'halfApproved',
    statements: (ids, { people }) => [
      setEvent(
        ids.halfApproved,
        'approved',
        `detail_json = replace(replace(detail_json, '${people['ben@example.com']}', '${people['lea@example.com']}'), 'ben@', 'lea@')`,
      ),
    ],
  },
  {
    name: 'the group of a vote is another',
    target: 'halfApproved',
    statements: (ids) => [
      setEvent(ids.halfApproved, 'approved', `detail_json = replace(detail_json, '"finance"', '"legal"')`),
    ],
  },
  {
    name: 'a vote is there twice',
    target: 'halfApproved',
    statements: (ids, { lastSequence }) => [
      copyEvent(ids.halfApproved, 'approved', ids.halfApproved, lastSequence + 1),
      follow(ids.halfApproved),
    ],
    inFile: (ids) => recount(ids.halfApproved),
  },
  {
    name: 'a vote for another request is for this one',
    target: 'waiting',
    statements: (ids, { lastSequence }) => [
      copyEvent(ids.approved, 'approved', ids.waiting, lastSequence + 1),
      follow(ids.waiting),
    ],
    inFile: (ids) => recount(ids.waiting),
  },
  {
    name: "events are another request's",
    target: 'waiting',
    statements: (ids) => [
      `UPDATE request_events SET request_id = '${ids.waiting}' WHERE request_id = '${ids.approved}'`,
      follow(ids.waiting),
    ],
    inFile: (ids) => recount(ids.waiting),
  },
  {
    name: 'the rule needs fewer votes',
    target: 'halfApproved',
    statements: (ids) => [
      setRow(ids.halfApproved, `record_json = replace(record_json, '"needs":2', '"needs":1')`),
    ],
  },
  {
    name: 'the rule is another',
    target: 'halfApproved',
    statements: (ids) => [
      setRow(
        ids.halfApproved,
        `record_json = replace(record_json, 'pay.two', 'pay.one'), action_key = 'pay.one'`,
      ),
    ],
  },
  {
    name: 'the payload is another',
    target: 'waiting',
    statements: (ids) => [
      setRow(ids.waiting, `record_json = replace(record_json, '"amount":1}', '"amount":900}')`),
    ],
  },
  {
    name: 'the agent is another',
    target: 'waiting',
    statements: (ids) => [setRow(ids.waiting, `agent_id = 'agent-of-nobody'`)],
  },
  {
    name: 'the hash is another',
    target: 'approved',
    statements: (ids) => [setRow(ids.approved, `hash = '${'0'.repeat(64)}'`)],
  },
  ...(['taken-back'] as const).flatMap((what): readonly Edit[] => [
    {
      name: 'what took a vote back is gone',
      target: 'takenBack',
      statements: (ids) => without(ids.takenBack, what),
    },
    {
      name: 'what took a vote back is gone, and not counted',
      target: 'takenBack',
      statements: (ids) => without(ids.takenBack, what),
      inFile: (ids) => recount(ids.takenBack),
    },
    {
      name: 'what took a vote back is gone, and nothing is counted',
      target: 'takenBack',
      statements: (ids) => without(ids.takenBack, what),
      inFile: (ids) => uncount(ids.takenBack),
    },
  ]),
  ...(['rejected', 'used', 'executed', 'withdrawn'] as const).flatMap((target): readonly Edit[] => {
    const what = { rejected: 'rejected', used: 'consumed', executed: 'consumed', withdrawn: 'withdrawn' }[
      target
    ];
    const gone = (ids: Ids) => [
      ...without(ids[target], what),
      ...(target === 'used' ? without(ids[target], 'taken') : []),
    ];
    return [
      { name: 'its end is gone', target, statements: gone },
      {
        name: 'its end is gone, and not counted',
        target,
        statements: gone,
        inFile: (ids) => recount(ids[target]),
      },
      {
        name: 'its end is gone, and nothing is counted',
        target,
        statements: gone,
        inFile: (ids) => uncount(ids[target]),
      },
      {
        name: 'its end is a comment',
        target,
        statements: (ids) => [setEvent(ids[target], what, `what = 'commented'`)],
      },
    ];
  }),
  ...(['approved', 'granted', 'waiting'] as const).flatMap((target): readonly Edit[] => [
    {
      name: 'it ends a day later',
      target,
      statements: (ids) => [
        setRow(ids[target], 'expires_ms = expires_ms + 86400000, now_expires_ms = now_expires_ms + 86400000'),
        `UPDATE request_events SET expires_ms = expires_ms + 86400000 WHERE request_id = '${ids[target]}'`,
      ],
    },
    {
      name: 'the state in its row ends a day later',
      target,
      statements: (ids) => [
        setRow(
          ids[target],
          'now_status = coalesce(now_status, status), now_decided_ms = coalesce(now_decided_ms, decided_ms), now_expires_ms = coalesce(now_expires_ms, expires_ms) + 86400000',
        ),
      ],
    },
  ]),
  {
    name: 'its events have changed places',
    target: 'approved',
    statements: (ids) => {
      const at = (edge: string) =>
        `(SELECT ${edge}(sequence) FROM request_events WHERE request_id = '${ids.approved}')`;
      return [
        `UPDATE request_events SET sequence = -1 WHERE sequence = ${at('min')}`,
        `UPDATE request_events SET sequence = sequence - 1 WHERE request_id = '${ids.approved}' AND sequence > 0`,
        `UPDATE request_events SET sequence = (SELECT max(sequence) + 1 FROM request_events WHERE request_id = '${ids.approved}') WHERE sequence = -1`,
        follow(ids.approved),
      ];
    },
  },
  {
    name: "its idempotency key is another request's",
    target: 'granted',
    statements: (ids) => [
      setRow(ids.waiting, `idempotency_key = 'key of nobody'`),
      setRow(ids.granted, `idempotency_key = 'key of waiting'`),
    ],
  },
  {
    name: 'the digest of its body is another',
    target: 'granted',
    statements: (ids) => [setRow(ids.granted, `idempotency_digest = 'other'`)],
  },
];

/** Ids of people by mail address. */
export async function peopleOf(store: Store): Promise<Readonly<Record<string, string>>> {
  const found = await store.documents.list({ kind: 'person', parent: null, after: null, countMax: 100 });
  return Object.fromEntries(
    found.map(({ id, json: text }) => [(JSON.parse(text) as { email: string }).email, id]),
  );
}
