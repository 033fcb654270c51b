// LAW: a person with several roles may do with an agent or a request what one of the roles allows with that
// very agent or request, and nothing more. Each pair of roles is tried, over HTTP, on the person's own agents
// and on those of others, and on requests that ask the person's group, another group, or nobody.

import { expect, test } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { type OperationName, operations, type Role, roles } from '../../../src/service/people/operations.ts';
import type { Person } from '../../../src/service/people/person.ts';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { type Service, startService } from './service.ts';
import { ask } from './written-policies.ts';

const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.free, pay.finance, pay.legal, pay.owner { ... }
policy pay on pay.* {
  allow all for 1h
  escalate by_finance to finance within 1h when action.key == "pay.finance"
  escalate by_legal to legal within 1h when action.key == "pay.legal"
  escalate by_owner to owner within 1h when action.key == "pay.owner"
}
`;

interface Subject {
  readonly isOwn: boolean;
  /**
   * The group that the request asks, or the control owner. `granted` is a request that was granted after an
   * approval by finance.
   */
  readonly asks: 'finance' | 'legal' | 'owner' | 'granted';
}

const subjects: readonly Subject[] = [true, false].flatMap((isOwn) =>
  (['finance', 'legal', 'owner', 'granted'] as const).map((asks) => ({ isOwn, asks })),
);

/** What is tried with a subject's request or its agent; the status shows whether it was allowed. */
const trials = {
  'requests.view': { method: 'GET', path: '/v1/requests/{request}' },
  'requests.approve': { method: 'POST', path: '/v1/requests/{request}/approve', body: { comment: 'x' } },
  'requests.reject': { method: 'POST', path: '/v1/requests/{request}/reject', body: { comment: 'x' } },
  'requests.report': { method: 'POST', path: '/v1/requests/{request}/outcome', body: { executed: false } },
  'agents.view': { method: 'GET', path: '/v1/agents/{agent}' },
  'agents.disable': { method: 'POST', path: '/v1/agents/{agent}/disable' },
  'agents.step-up': { method: 'POST', path: '/v1/agents/{agent}/step-up/options' },
} as const satisfies Partial<Record<OperationName, { method: string; path: string; body?: object }>>;

type Trial = keyof typeof trials;

/**
 * Each single role, each pair, and all roles together. A table of roles cannot allow to three roles what no
 * two of them may.
 */
const subsets: readonly (readonly Role[])[] = Array.from({ length: 2 ** roles.length - 1 }, (_, at) =>
  roles.filter((_, bit) => ((at + 1) >> bit) % 2 === 1),
).filter(({ length }) => length <= 2 || length === roles.length);

interface Made {
  readonly agentId: string;
  readonly requestId: string;
}

let made = 0;

async function make(
  service: Service,
  granter: Client,
  owner: string,
  { isOwn, asks }: Subject,
): Promise<Made> {
  made += 1;
  const controlOwner = isOwn ? owner : 'somebody@example.com';
  const draft = { name: `agent-${made}`, riskTier: 'low', controlOwner, tags: [] };
  const added = await addAgent(service.store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  const action = `pay.${asks === 'granted' ? 'finance' : asks}`;
  const { request_id: requestId } = await ask(service, action, { key: added.apiKey });
  if (asks === 'granted') {
    const body = { comment: 'x' };
    const answer = await granter.send(`/v1/requests/${requestId}/approve`, { method: 'POST', body });
    if (answer.body.status !== 'approved') throw new Error(JSON.stringify(answer.body));
  }
  return { agentId: added.agent.id, requestId };
}

/** Whether a person with this one role may, by the table and the meaning of its `own`. */
function grantedBy(role: Role, trial: Trial, { isOwn, asks }: Subject): boolean {
  const cell = operations[trial][role];
  if (cell !== 'own') return cell === 'yes';
  if (trial === 'agents.step-up' || (role === 'owner' && trial !== 'requests.approve')) return isOwn;
  if (asks === 'owner') return isOwn;
  return asks !== 'legal' && (role === 'admin' || role === 'approver');
}

/** Whether the trial is possible for this subject at all, for any person. */
function isPossible(trial: Trial, { asks }: Subject): boolean {
  if (trial === 'requests.report') return asks === 'granted';
  return asks !== 'granted' || (trial !== 'requests.approve' && trial !== 'requests.reject');
}

test('law: several roles permit exactly what one of them permits on the same object', {
  timeout: 300_000,
}, async () => {
  const service = await startService({ openRequestsMax: 10_000, startsWith: policies });
  const admin: Person = await firstAdmin(service);
  const granter = await personWith(service, admin, {
    email: 'granter@example.com',
    roles: ['approver'],
    groups: ['finance'],
  });
  const wrong: string[] = [];
  for (const [at, held] of subsets.entries()) {
    const email = `person-${at}@example.com`;
    const isApprover = held.includes('approver');
    const groups = isApprover || held.includes('admin') ? ['finance'] : [];
    const client = await personWith(service, admin, { email, roles: held, groups });
    for (const subject of subjects) {
      let untouched: Made | null = null;
      for (const [trial, { method, path, ...rest }] of Object.entries(trials) as [
        Trial,
        { method: string; path: string; body?: object },
      ][]) {
        if (!isPossible(trial, subject)) continue;
        untouched ??= await make(service, granter, email, subject);
        const { agentId, requestId } = untouched;
        const url = path.replace('{request}', requestId).replace('{agent}', agentId);
        const { status } = await client.send(url, { method, ...rest });
        const isLet = status === 200;
        if (isLet && method !== 'GET') untouched = null;
        const is = held.some((role) => grantedBy(role, trial, subject));
        // When several roles together may act on a request, one of them must allow seeing it.
        if (isLet !== is) wrong.push(`${held} ${trial} ${JSON.stringify(subject)}: ${status}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});
