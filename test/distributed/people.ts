// People and agents after a request: two vote on the same one, some just as its deadline passes; a control owner steps up for two
// requests by the same code at once; an agent says at one replica that it used a grant, and at another that it did not.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { totpAt } from '../../src/service/people/totp.ts';
import { type Answer, post } from './call.ts';
import {
  type Agent,
  ask,
  type Call,
  type Headers,
  makeAgent,
  type Owner,
  peoplePatienceMs,
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

/** Two people vote on the same request at the same time, at two replicas: one word ends it, whichever it is. */
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
    // Others need not wait until its deadline passes, and some are never voted on.
    if (isLate && random() < 0.5) void sleep(soonMs - 200 + random() * 400).then(give);
    else if (!isLate && (await give()).includes('approved')) await sayWhatBecame(world, agent, id);
  }
}

/** Of one replica after the other, from any. */
function urlsFrom(world: World): (place: number) => string {
  const all = urls(world);
  const from = Math.floor(world.random() * all.length);
  return (place) => all[(from + place) % all.length] ?? '';
}

/** Asks for what people or the owner have to say more about; null where it does not wait for them. */
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

/** At two replicas at once, one thing and the other. */
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

/** Each code in turn, as long as it may be good: again where nobody has judged it, for two other requests. */
async function stepUps(world: World, { email, password, headers, secret }: Owner): Promise<void> {
  let agent = await makeAgent(world.store, email);
  let failures = 0;
  let judged = Number.NEGATIVE_INFINITY;
  while (!world.isOver) {
    await sleep(200);
    // A code is good from one step before its own to one after it; the clocks of replicas are off by less than half of one.
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
      // Of one agent only so many may wait, and what was asked in vain does.
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

/** Null where no answer came. */
function say(url: string, headers: Headers, body: object): Promise<Answer | null> {
  return post({ url, headers, body: JSON.stringify(body), patienceMs: peoplePatienceMs });
}

/** What a reply says of how a request stands. */
function statusIn(answer: Answer | null | undefined): string | undefined {
  return (answer?.body as { readonly status?: string } | undefined)?.status;
}

interface Voting {
  readonly id: string;
  readonly agent: string;
  readonly word: Vote['word'];
  readonly headers: Headers;
}

/** How the request stands by the reply; null where the vote was not taken. */
async function vote(world: World, url: string, { id, agent, word, headers }: Voting): Promise<string | null> {
  const begunAtMs = performance.now();
  const reply = await say(url, headers, { comment: 'looked at' });
  if (reply === null) return null;
  const said = reply.status === 200 ? (statusIn(reply) ?? null) : null;
  world.votes.push({ id, agent, word, said, begunAtMs, endedAtMs: performance.now() });
  return said;
}
