// Agents submit plans at one replica, people vote on them at another, and the agents then ask all replicas at once for
// each step, and for steps that differ in one character. Some agents are revoked and some approvals end meanwhile.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { say, urlsFrom } from './people.ts';
import { type Agent, ask, makeAgent, revokeAgent, stepSeconds, urls, type World } from './world.ts';

/** How many plans are under way at once. */
const atOnce = 2;
const stepsMax = 3;

export async function plans(world: World): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => planAndExecute(world)));
}

interface Step {
  readonly step: number;
  readonly request_id: string | null;
}

async function planAndExecute(world: World): Promise<void> {
  const { random } = world;
  while (!world.isOver) {
    await sleep(100 + random() * 200);
    const agent = await makeAgent(world.store);
    const vendors = Array.from({ length: 1 + Math.floor(random() * stepsMax) }, () => randomUUID());
    const plan = await submitAtLast(world, agent, vendors);
    if (plan === null) continue;
    await voteOn(world, agent, plan);
    // Some approvals are over before their step is due.
    if (random() < 0.2) await sleep(stepSeconds * 1_000 - 300 + random() * 600);
    const revoking =
      random() < 0.3
        ? sleep(random() * 300)
            .then(() => revokeAgent(world, agent))
            .catch(() => {})
        : null;
    for (const vendor of vendors) {
      if (world.isOver) return;
      await Promise.all([vendor, `${vendor}.`].map((one) => execute(world, agent, one)));
      await sleep(random() * 60);
    }
    await revoking;
    await execute(world, agent, vendors[0]!);
  }
}

interface SubmittedPlan {
  readonly id: string;
  readonly steps: readonly Step[];
}

/** Submits the same plan at two replicas at once, and again while no reply comes; it is one plan. */
async function submitAtLast(
  world: World,
  { apiKey }: Agent,
  vendors: readonly string[],
): Promise<SubmittedPlan | null> {
  const steps = vendors.map((vendor) => ({
    action_key: 'pay.step',
    payload: { amount: 1, currency: 'USD', vendor },
  }));
  const headers = { 'x-agent-api-key': apiKey, 'idempotency-key': randomUUID() };
  const url = urlsFrom(world);
  for (let attempt = 0; attempt < 3 && !world.isOver; attempt += 1) {
    const replies = await Promise.all(
      [0, 1].map((place) => say(`${url(place)}/v1/plans`, headers, { submit: true, steps })),
    );
    const made = replies.flatMap((reply) =>
      reply?.status === 200 ? [reply.body as { plan_id: string; steps: readonly Step[] }] : [],
    );
    const [first] = made;
    for (const { plan_id: id, steps } of made)
      world.plans.push({ id, twin: first!.plan_id, requests: steps.flatMap((one) => one.request_id ?? []) });
    if (first !== undefined) return { id: first.plan_id, steps: first.steps };
  }
  return null;
}

/** One person approves all steps, or all but one; the other rejects that one. */
async function voteOn(world: World, agent: Agent, { id, steps }: SubmittedPlan): Promise<void> {
  const { random, voters } = world;
  const url = urlsFrom(world);
  const rejected = random() < 0.3 ? 1 + Math.floor(random() * steps.length) : 0;
  const votes = [
    ['approve', steps.filter(({ step }) => step !== rejected)],
    ['reject', steps.filter(({ step }) => step === rejected)],
  ] as const;
  await Promise.all(
    votes.map(async ([word, chosen], who) => {
      if (chosen.length === 0) return;
      const begunAtMs = performance.now();
      const body = { vote: word, comment: 'looked at', steps: chosen.map(({ step }) => ({ step })) };
      const reply = await say(`${url(who)}/v1/plans/${id}/votes`, voters[who] ?? {}, body);
      if (reply?.status !== 200) return;
      const { items } = reply.body as {
        readonly items: readonly { readonly request_id: string; readonly status: string | null }[];
      };
      const endedAtMs = performance.now();
      for (const { request_id, status: said } of items)
        world.votes.push({ id: request_id, agent: agent.id, word, said, begunAtMs, endedAtMs });
    }),
  );
}

async function execute(world: World, agent: Agent, vendor: string): Promise<void> {
  const call = { action: 'pay.step', amount: 1, session: 'plans', vendor, isAttaching: true } as const;
  await Promise.all(urls(world).map((url) => ask(world, url, agent, call)));
}
