// Random histories of grants, receipts and showings, and the law that they hold every check of receipts to: no
// grant passes twice, and a fresh one passes. All clocks are set and not waited for.

import type { createLocalJWKSet } from 'jose';
import { expect } from 'vitest';
import { firstAdmin, personWith } from '../service/http/person-client.ts';
import { authorize, type Service, startService } from '../service/http/service.ts';
import { give, type View } from '../service/http/written-policies.ts';
import { createOrder } from '../service/requests/order.ts';

const policies = `
approvers finance "Finance"
action tool.free, tool.asked { n: integer }
policy tools on tool.* {
  allow all for 1h
  escalate asked to finance within 1h when action.key == "tool.asked"
}
`;

export const issuer = 'http://localhost';
export const audience = 'tool';
export const toleranceSeconds = 5;

interface Grant {
  readonly id: string;
  readonly action: string;
  readonly payload: { readonly n: number };
  readonly receipts: Set<string>;
}

/** What a tool sees, on its own clock in seconds since 1970. */
type Step =
  | { readonly at: number; readonly what: 'restart' }
  | {
      readonly at: number;
      readonly what: 'show';
      readonly grant: Grant;
      readonly receipt: string;
      /** Whether this is a grant's first showing, soon after it was granted, to a tool that has run for a while. */
      readonly mustPass: boolean;
    };

export interface History {
  readonly steps: readonly Step[];
  readonly keys: Parameters<typeof createLocalJWKSet>[0];
}

/** A random history of grants, receipts and showings, all by clocks that are set and not waited for. */
export async function historyOf(seed: number, stepCount: number): Promise<History> {
  const { below, pick } = createOrder(seed);
  const startMs = Math.ceil(Date.now() / 1000) * 1000 + 60_000;
  let nowMs = startMs;
  const service = await startService({ startsWith: policies, clock: () => nowMs });
  const admin = await firstAdmin(service);
  const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const ben = await personWith(service, admin, who);
  const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  const grants: Grant[] = [];
  const steps: Step[] = [];
  let restartedAt = Number.NEGATIVE_INFINITY;
  /** By how many seconds the tool's clock is ahead of the service's. */
  let skew = 0;
  const at = () => nowMs / 1000 + skew;
  const show = (grant: Grant, receipt: string, mustPass = false) =>
    steps.push({ at: at(), what: 'show', grant, receipt, mustPass });

  const make = async () => {
    const n = grants.length;
    const action = pick(['tool.free', 'tool.asked']);
    const first = await ask(service, { action, payload: { n } }, `first${n}`);
    if (first.view.status === 'pending') await give(ben, first.view.request_id, 'approve');
    const { view, receipt } =
      first.receipt === null ? await ask(service, { action, payload: { n } }, `first${n}`) : first;
    if (receipt === null) throw new Error(JSON.stringify(view));
    const grant = { id: view.request_id, action, payload: { n }, receipts: new Set([receipt]) };
    grants.push(grant);
    const isLongUp = nowMs / 1000 - restartedAt > 3 * toleranceSeconds;
    if (below(3) > 0) show(grant, receipt, isLongUp && skew === 0);
  };
  const issueAgain = async (grant: Grant) => {
    const receipt = pick([true, false])
      ? (await ask(service, grant, `first${grant.payload.n}`)).receipt
      : await look(service, grant.id);
    if (receipt === null) return;
    grant.receipts.add(receipt);
    if (below(2) === 0) show(grant, receipt);
  };

  for (let step = 0; step < stepCount; step += 1) {
    nowMs += pick([0, 1, 400, 999, 3_000, 20_000, 59_000, 61_000, 66_000]);
    skew = pick([0, 0, 0, -toleranceSeconds, -2, 2, toleranceSeconds - 0.001]);
    const grant = pick(grants.slice(-4));
    const kind = below(12);
    if (grant === undefined || kind < 3) await make();
    else if (kind < 6) await issueAgain(grant);
    else if (kind < 10) show(grant, pick([...grant.receipts]));
    else if (kind === 10) await report(service, grant.id);
    else {
      restartedAt = nowMs / 1000;
      steps.push({ at: at(), what: 'restart' });
    }
  }
  return { steps, keys };
}

async function ask(service: Service, { action, payload }: Pick<Grant, 'action' | 'payload'>, key: string) {
  const reply = await authorize(service, {
    body: JSON.stringify({ action_key: action, payload }),
    headers: { prefer: 'attach, receipt', 'idempotency-key': key },
  });
  return { view: (await reply.json()) as View, receipt: reply.headers.get('writ-receipt') };
}

async function look(service: Service, id: string): Promise<string | null> {
  const headers = { 'x-agent-api-key': service.apiKey };
  const reply = await fetch(`${service.url}/v1/requests/${id}/receipt`, { headers });
  return reply.ok ? (await reply.json()).receipt : null;
}

async function report(service: Service, id: string): Promise<void> {
  await fetch(`${service.url}/v1/requests/${id}/outcome`, {
    method: 'POST',
    headers: { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' },
    body: '{"executed":true}',
  });
}

/** Whether each showing passes; null for the other steps. */
export type Passes = readonly (boolean | null)[];

/** No grant passes twice, and those pass that must. */
export function expectLaw({ steps }: History, passes: Passes): void {
  const counts = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    if (step.what !== 'show') continue;
    if (step.mustPass) expect(passes[index], `step ${index}`).toBe(true);
    if (passes[index] === true) counts.set(step.grant.id, (counts.get(step.grant.id) ?? 0) + 1);
  }
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  expect(counts.size).toBeGreaterThan(5);
}
