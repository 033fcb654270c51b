// Makes the past week of a demo: agents ask through the hours of a working week, colleagues answer, and some
// requests stay open. The service itself receives, decides and records all of it, while its clock runs
// through that week.

import { type Colleague, colleagueNames, type DemoAccounts } from './accounts.ts';
import { type AgentCall, callOf, createChance, type DemoAgent } from './agent-calls.ts';

const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const dayMs = 24 * hourMs;
const pastMs = 7 * dayMs;

/** The clock of the service, which is behind the machine's clock until it has caught up. */
export interface DemoClock {
  (): number;
  /** Runs to the given moment, but not beyond the present; the clock never goes back. */
  readonly runTo: (atMs: number) => void;
}

export function createDemoClock(): DemoClock {
  let aheadMs = -pastMs;
  const clock = (): number => Date.now() + aheadMs;
  return Object.assign(clock, {
    runTo: (atMs: number) => {
      aheadMs = Math.min(0, Math.max(aheadMs, atMs - Date.now()));
    },
  });
}

/** The share of each agent in all requests; the sum is 1. */
const shares: readonly (readonly [DemoAgent, number])[] = [
  ['invoice-payer', 0.34],
  ['travel-buyer', 0.14],
  ['treasury-bot', 0.03],
  ['household-banker', 0.24],
  ['team-assistant', 0.25],
];

/** Chooses an agent by its share; `part` is from 0 up to 1. */
export function nextAgent(part: number): DemoAgent {
  let left = part;
  for (const [name, share] of shares) {
    left -= share;
    if (left < 0) return name;
  }
  return 'invoice-payer';
}

export interface DemoWorld {
  readonly cast: DemoAccounts;
  readonly clock: DemoClock;
  /** The number of requests in the whole week. */
  readonly count: number;
}

/** The share of the week after which the policies change. */
const changedAfter = 0.6;

export async function simulateWeek(
  { cast, clock, count }: DemoWorld,
  changePolicies: () => Promise<void>,
): Promise<void> {
  const chance = createChance(7);
  const startMs = clock();
  const endMs = Date.now() - 20 * minuteMs;
  const weights = Array.from({ length: Math.ceil((endMs - startMs) / hourMs) }, (_, hour) =>
    business(startMs + hour * hourMs),
  );
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const votes: Vote[] = [];
  for (const [hour, weight] of weights.entries()) {
    if (hour === Math.floor(weights.length * changedAfter)) {
      clock.runTo(startMs + hour * hourMs);
      await changePolicies();
    }
    const inHour = Math.round((count * weight) / sum);
    for (let index = 0; index < inHour; index += 1) {
      clock.runTo(Math.min(endMs, startMs + (hour + (index + chance()) / inHour) * hourMs));
      await giveDue(votes, cast, clock());
      const name = nextAgent(chance());
      const { caller } = cast.agents[name];
      const reply = await caller.done('/v1/authorize', callOf(name, chance));
      if (reply.status === 'pending') votes.push(...votesOn(reply, { nowMs: clock(), chance }));
      if (reply.status === 'auto_approved' && chance() < 0.4)
        await caller.done(`/v1/requests/${reply.request_id}/outcome`, { executed: true });
    }
  }
  clock.runTo(endMs);
  // Votes that were due later: what stays open is what `createOpenRequests` makes, and what nobody answers.
  await giveDue(votes, cast, Number.POSITIVE_INFINITY);
}

/** The number of requests in an hour at a moment, when there are `count` in a week. */
export function perHour(atMs: number, count: number): number {
  const day = Array.from({ length: 24 }, (_, hour) => business(hour * hourMs));
  return (count * business(atMs)) / (7 * day.reduce((sum, weight) => sum + weight, 0));
}

/** The relative number of requests at an hour of a day, from 0 to 1. */
function business(atMs: number): number {
  const hour = (atMs / hourMs) % 24;
  return 0.08 + 0.92 * Math.exp(-(((hour - 14) / 4.2) ** 2));
}

/** A vote that a colleague is going to give on a request. */
interface Vote {
  readonly atMs: number;
  readonly who: Colleague;
  readonly path: string;
  readonly comment: string;
}

interface Situation {
  readonly nowMs: number;
  readonly chance: () => number;
}

function votesOn(
  { request_id: id, decision }: { readonly request_id: string; readonly decision: string },
  { nowMs, chance }: Situation,
): readonly Vote[] {
  if (decision !== 'ESCALATE' || chance() < 0.08) return [];
  const isApproved = chance() < 0.8;
  const comment = isApproved ? 'Checked against the order' : 'Nobody ordered this';
  const path = `/v1/requests/${id}/${isApproved ? 'approve' : 'reject'}`;
  return colleagueNames.map((who, index) => ({
    who,
    path,
    comment,
    atMs: nowMs + (2 + 25 * chance() ** 2 + 6 * index) * minuteMs,
  }));
}

/** Gives the votes that are due. The service refuses a vote of a person who is not asked or is too late. */
async function giveDue(votes: Vote[], cast: DemoAccounts, nowMs: number): Promise<void> {
  for (const vote of votes.filter(({ atMs }) => atMs <= nowMs)) {
    votes.splice(votes.indexOf(vote), 1);
    await cast.colleagues[vote.who].send(vote.path, { comment: vote.comment });
  }
}

export interface DemoRequests {
  readonly request: string;
  readonly approval: string;
  readonly plan: string;
  readonly agent: string;
}

/**
 * Leaves some things open: approvals, a step-up, a plan, an application. Returns the ids of some of them.
 */
export async function createOpenRequests({ cast, clock }: DemoWorld): Promise<DemoRequests> {
  const nowMs = Date.now();
  const requestIds: string[] = [];
  clock.runTo(nowMs - 19.5 * minuteMs);
  await useStandingApproval(cast);
  for (const [minutes, agent, what] of pendingCalls) {
    clock.runTo(nowMs - minutes * minuteMs);
    requestIds.push((await cast.agents[agent].caller.done('/v1/authorize', what)).request_id);
  }
  const [large = '', print = ''] = requestIds;
  clock.runTo(nowMs - minuteMs);
  const plan = await cast.agents['travel-buyer'].caller.done('/v1/plans', tripPlan);
  await cast.colleagues.finance.send('/v1/applications', {
    email: 'applicant@demo.example',
    name: 'Applicant (simulated)',
    reason: 'I am on call for finance from next month and approve payments.',
  });
  await cast.colleagues.finance.done(`/v1/requests/${large}/approve`, { comment: 'The order is signed' });
  clock.runTo(nowMs + dayMs);
  return {
    request: print,
    approval: large,
    plan: plan.plan_id,
    agent: cast.agents['invoice-payer'].id,
  };
}

/** Finance approves a vendor for the rest of the day, and two more payments need nobody. */
async function useStandingApproval({ agents, colleagues }: DemoAccounts): Promise<void> {
  const { caller } = agents['invoice-payer'];
  const first = await caller.done('/v1/authorize', payTo('Corner Bakery', 42.6, 'breakfast for the meeting'));
  await colleagues.finance.done(`/v1/requests/${first.request_id}/approve`, {
    comment: 'They deliver all day',
    standing: {},
  });
  for (const amount of [18.2, 26.9])
    await caller.done('/v1/authorize', payTo('Corner Bakery', amount, 'rolls'));
}

const pendingCalls: readonly (readonly [minutes: number, agent: DemoAgent, what: AgentCall])[] = [
  [19, 'invoice-payer', payTo('Grainger', 6_420, 'forklift batteries')],
  [14, 'invoice-payer', payTo('Harbour Print', 312.4, 'leaflets')],
  [11, 'travel-buyer', payTo('Northline Rail', 187, 'tickets to the trade fair')],
  [
    9,
    'household-banker',
    askFor('banking.send_money', {
      recipient: 'FR7630006000011234567890189',
      amount: 940,
      subject: 'deposit',
      date: '2026-12-01',
    }),
  ],
  [
    7,
    'team-assistant',
    askFor('slack.send_direct_message', {
      recipient: 'jo',
      body: 'The minutes are at https://notes.example.com/w47',
    }),
  ],
  [5, 'invoice-payer', payTo('Lumen Parts', 1_890)],
  [4, 'household-banker', askFor('banking.update_password', { password: 'a longer password' })],
  [2, 'team-assistant', askFor('slack.read_channel_messages', { channel: 'general' })],
];

const tripPlan = {
  goal: 'Travel to the trade fair',
  submit: true,
  steps: [
    payTo('Harbour Hotel', 540, 'three nights'),
    payTo('City Taxi', 64, 'from and to the station'),
    payTo('Fairground Services', 1_150, 'a stand of 9 square metres'),
  ],
};

function payTo(vendor: string, amount: number, description?: string): AgentCall {
  const optional = description === undefined ? {} : { description };
  return askFor('payment.create', { amount, currency: 'USD', vendor, ...optional });
}

function askFor(action_key: string, payload: AgentCall['payload']): AgentCall {
  return { action_key, payload };
}
