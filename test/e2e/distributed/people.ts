// People and agents after a request: two people vote on the same request, some just as its deadline passes; a
// control owner steps up for two requests at once with the same code; an agent reports at one replica that it
// used a grant, and at another that it did not.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { totpAt } from '../../../src/service/people/totp.ts';
import { type Answer, post } from './call.ts';
import {
  type Agent,
  ask,
  type Call,
  type Headers,
  makeAgent,
  type Owner,
  peopleTimeoutMs,
  soonMs,
  urls,
  type Vote,
  type World,
} from './world.ts';

const pairs = [
  ['approve', 'approve'],
  ['approve', 'reject'],
  ['reject', 'reject'],
] as const;

/**
 * Two people vote on the same request at the same time, at two replicas; exactly one vote ends the request.
 */
export async function people(world: World): Promise<void> {
  const { random, voters } = world;
  while (!world.isOver) {
    await sleep(30 + random() * 60);
    const urls = urlsFrom(world);
    const agent = world.agents[Math.floor(random() * world.agents.length)];
    if (agent === undefined) continue;
    const isLate = random() < 0.3;
    const action = isLate ? 'pay.soon' : 'pay.ask';
    const id = await waiting(world, urls(0), agent, action);
    if (id === null) continue;
    const words = pairs[Math.floor(random() * pairs.length)]!;
    const give = () =>
      Promise.all(
        words.map((word, who) => {
          const headers = voters[who] ?? {};
          return vote(world, `${urls(who)}/v1/requests/${id}/${word}`, {
            id,
            agent: agent.id,
            word,
            headers,
          });
        }),
      );
    // The loop does not wait for the deadline of a late vote; some requests never get a vote.
    if (isLate && random() < 0.5) void sleep(soonMs - 200 + random() * 400).then(give);
    else if (!isLate && (await give()).includes('approved')) await sayWhatBecame(world, agent, id);
  }
}

/** The addresses of the replicas in turn, beginning with a random one. */
export function urlsFrom(world: World): (place: number) => string {
  const all = urls(world);
  const from = Math.floor(world.random() * all.length);
  return (place) => all[(from + place) % all.length] ?? '';
}

/**
 * Asks for something that people or the control owner must answer; returns null when the request does not
 * wait for them.
 */
async function waiting(
  world: World,
  url: string,
  agent: Agent,
  action: NonNullable<Call['action']>,
): Promise<string | null> {
  const told = await ask(world, url, agent, { action, amount: 1, session: randomUUID() });
  const { decision = null, id = null } = told ?? {};
  return decision === 'ESCALATE' || decision === 'REAUTH_REQUIRED' ? id : null;
}

/** Reports two contradictory outcomes at once, at two replicas. */
async function sayWhatBecame(world: World, { apiKey }: Agent, id: string): Promise<void> {
  const url = urlsFrom(world);
  await Promise.all(
    [true, false].map(async (executed, place) => {
      const path = `${url(place)}/v1/requests/${id}/outcome`;
      const reply = await say(path, { 'x-agent-api-key': apiKey }, { executed });
      if (reply !== null) world.outcomes.push({ id, executed, isTaken: reply.status === 200 });
    }),
  );
}

const codeStepMs = 30_000;
const failuresMax = 5;

/** A code is good once, whichever replicas it is shown to. */
export async function owners(world: World): Promise<void> {
  await Promise.all(world.owners.map((owner) => stepUps(world, owner)));
}

/**
 * Tries each code in turn while it may be good. A code that no replica has judged is used again, for two
 * other requests.
 */
async function stepUps(world: World, { email, password, headers, secret }: Owner): Promise<void> {
  let agent = await makeAgent(world.store, email);
  let failures = 0;
  let judged = Number.NEGATIVE_INFINITY;
  while (!world.isOver) {
    await sleep(200);
    // A code is good from one step before its own to one step after it; the clocks of replicas differ by less
    // than half a step.
    const step = Math.max(judged + 1, Math.floor(Date.now() / codeStepMs - 0.5));
    if (step > Date.now() / codeStepMs + 0.5) continue;
    const url = urlsFrom(world);
    const ids = [
      await waiting(world, url(0), agent, 'pay.own'),
      await waiting(world, url(1), agent, 'pay.own'),
    ];
    const requests = ids.filter((id) => id !== null);
    if (requests.length < 2) {
      failures += 1;
      // Only a limited number of an agent's requests may wait, and requests whose reply was lost still wait;
      // a new agent has none.
      if (failures % failuresMax === 0) agent = await makeAgent(world.store, email);
      continue;
    }
    const code = totpAt(secret, step * codeStepMs);
    const answers = await Promise.all(
      requests.map((id, place) =>
        say(`${url(place)}/v1/requests/${id}/step-up`, headers, { password, code }),
      ),
    );
    const granted = requests.filter((_, at) => statusIn(answers[at]) === 'approved');
    world.proofs.push({ step, person: email, requests, granted });
    if (answers.some((answer) => answer !== null && answer.status < 500)) judged = step;
  }
}

/** Posts to a replica; returns null when no answer came. */
export function say(url: string, headers: Headers, body: object): Promise<Answer | null> {
  return post({ url, headers, body: JSON.stringify(body), timeoutMs: peopleTimeoutMs });
}

/** The status of the request in a reply. */
function statusIn(answer: Answer | null | undefined): string | undefined {
  return (answer?.body as { readonly status?: string } | undefined)?.status;
}

interface Voting {
  readonly id: string;
  readonly agent: string;
  readonly word: Vote['word'];
  readonly headers: Headers;
  readonly standing?: { readonly times: number };
}

/** The status of the request by the reply; null when the vote was not accepted. */
export async function vote(
  world: World,
  url: string,
  { id, agent, word, headers, standing }: Voting,
): Promise<string | null> {
  const begunAtMs = performance.now();
  const reply = await say(url, headers, { comment: 'looked at', standing });
  if (reply === null) return null;
  const said = reply.status === 200 ? (statusIn(reply) ?? null) : null;
  world.votes.push({ id, agent, word, said, begunAtMs, endedAtMs: performance.now() });
  return said;
}
