// LAW: each step of a plan shows what `authorize` decides at that instant, over random sets and steps, with what was
// granted and reserved before; and a plan grants nothing and leaves nothing in the meters but its own requests.

import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { AuthorizeInput } from '../../../src/service/requests/authorize.ts';
import { createPlanner, type PlanDraft } from '../../../src/service/requests/plans/make-plan.ts';
import { createRequestId } from '../../../src/service/requests/record/id.ts';
import { agentRow, keyRow, startMs, temporaryFolder } from '../store/rows.ts';
import { activeOf } from './active-of.ts';
import { bystanders } from './bystanders.ts';
import { begin, type World } from './metered.ts';
import { createOrder } from './order.ts';

type Order = ReturnType<typeof createOrder>;

const conditions = [
  'payload.amount > 40',
  'payload.amount > 90',
  'payload.vendor == "new"',
  'payload.vendor like "a*"',
  'spent > 200',
  'calls > 4',
  'vendor_spent > 150',
  'request.session == "s2"',
  'action.key == "pay.refund"',
] as const;

function policyText({ below, pick }: Order): string {
  const rules = Array.from({ length: 1 + below(4) }, (_, at) => {
    const when = `when ${pick(conditions)}`;
    return pick([
      `deny r${at} ${when}`,
      `escalate r${at} to finance within 1h ${when}`,
      `escalate r${at} to finance needs 2 within 2h ${when}`,
      `reauth r${at} ${when}`,
      `risk r${at} +20 ${when}`,
    ]);
  });
  return `
approvers finance "Finance"
action pay.send, pay.refund { amount: integer, vendor: string }
meter spent = sum(payload.amount) of pay.* per agent over 1h
meter calls = count() of pay.send per session over 1h
meter vendor_spent = sum(payload.amount) of pay.send per payload.vendor over 1d
policy pay on pay.* {
  allow some for 10m ${below(2) === 0 ? 'when payload.amount < 100' : ''}
  ${rules.join('\n  ')}
}
`;
}

const anyStep = ({ below, pick }: Order) => ({
  actionKey: pick(['pay.send', 'pay.refund']),
  payload: { amount: below(120), vendor: pick(['new', 'acme', 'bolt']) },
});

interface Shown {
  readonly decision: string;
  readonly reason: string;
  readonly matchedPolicy: string;
  readonly risk: number;
}

async function start(order: Order) {
  const world: World = { nowMs: startMs, active: activeOf(policyText(order)) };
  const agent = agentRow();
  const here = await begin(join(temporaryFolder(), 'writ.db'), world, agent);
  await here.store.agents.add(agent, keyRow(agent.id));
  const planner = createPlanner({
    store: here.store,
    clock: () => world.nowMs,
    metering: here.metering,
    policies: () => world.active,
    openRequestsMax: 1_000,
    ...bystanders,
  });
  const callOf = (session: string | null): AuthorizeInput => ({
    agent,
    key: { id: 'key00001', notAfterMs: null },
    actionKey: '',
    payload: {},
    isSigned: false,
    session,
    clientAddress: '192.0.2.7',
    idempotencyKey: null,
    bodyDigest: null,
    requestId: createRequestId(world.nowMs),
  });
  const plan = async (draft: Omit<PlanDraft, 'caller' | 'goal'>, session: string | null) => {
    const result = await planner.plan({ ...draft, goal: null, caller: callOf(session) });
    if (result.kind !== 'made') throw new Error(result.kind);
    return result.plan;
  };
  const grants = async () => {
    const filter = {
      countMax: 500,
      after: null,
      agentId: agent.id,
      actionKey: null,
      outcome: null,
      policy: null,
    };
    const rest = {
      riskMin: null,
      riskMax: null,
      amountMin: null,
      amountMax: null,
      fromMs: null,
      untilMs: null,
      text: null,
      seenBy: null,
    };
    const page = { ...filter, ...rest, status: null, nowMs: world.nowMs };
    return (await here.store.requests.list(page)).items.filter(({ row }) => row.status === 'auto_approved')
      .length;
  };
  return { ...here, world, agent, plan, grants };
}

test('a preview is what the request would get, step by step', async () => {
  const seen = new Set<string>();
  for (let round = 0; round < 25; round += 1) {
    const order = createOrder(round);
    const { plan, ask, world, grants, end } = await start(order);
    for (let turn = 0; turn < 6; turn += 1) {
      world.nowMs += 1_000 + order.below(60_000);
      const session = order.pick([null, 's1', 's2']);
      const step = anyStep(order);
      const before = await grants();
      const others = Array.from({ length: order.below(4) }, () => anyStep(order));
      const { steps } = await plan({ isSubmitted: false, steps: [...others, step] }, session);
      expect(await grants()).toBe(before);
      const last = steps.at(-1)!;
      const shown: Shown = { ...last, decision: last.outcome };
      const view = await ask(step.payload, { action: step.actionKey, session });
      expect({
        round,
        decision: view.decision,
        reason: view.reason,
        matchedPolicy: view.matched_policy,
        risk: view.risk_score,
      }).toEqual({
        round,
        decision: shown.decision,
        reason: shown.reason,
        matchedPolicy: shown.matchedPolicy,
        risk: shown.risk,
      });
      seen.add(view.decision);
    }
    await end();
  }
  expect(seen).toEqual(new Set(['ALLOW', 'DENY', 'ESCALATE', 'REAUTH_REQUIRED']));
});

test('a submission leaves what its pending requests would have left, in their order, and no grant', async () => {
  for (let round = 0; round < 20; round += 1) {
    const order = createOrder(1_000 + round);
    const policies = createOrder(1_000 + round);
    const [one, other] = [await start(order), await start(policies)];
    for (let turn = 0; turn < 4; turn += 1) {
      const atMs = startMs + turn * 1_000;
      one.world.nowMs = atMs;
      other.world.nowMs = atMs;
      const steps = Array.from({ length: 1 + order.below(6) }, () => anyStep(order));
      const before = await one.grants();
      const plan = await one.plan({ isSubmitted: true, steps }, null);
      expect(await one.grants()).toBe(before);
      // The other world gets only the steps that wait, each by itself.
      for (const [at, step] of steps.entries()) {
        const planned = plan.steps[at]!;
        if (planned.requestId === null) continue;
        const view = await other.ask(step.payload, { action: step.actionKey });
        expect([round, view.decision, view.reason]).toEqual([round, planned.outcome, planned.reason]);
      }
      const probe = anyStep(order);
      const [here, there] = [
        await one.plan({ isSubmitted: false, steps: [probe] }, null),
        await other.plan({ isSubmitted: false, steps: [probe] }, null),
      ];
      expect(here.steps[0]).toMatchObject({ ...there.steps[0], digest: expect.any(String) });
    }
    await one.end();
    await other.end();
  }
});
