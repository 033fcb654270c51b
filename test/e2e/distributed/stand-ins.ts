// A member of a group names a stand-in, an admin confirms it, and it ends again; meanwhile the two vote at once at two
// replicas on requests that need two people, and mostly a third person votes as well.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDirectory } from '../../../src/service/people/directory.ts';
import type { Actor, Person } from '../../../src/service/people/person.ts';
import { confirmStandIn, endStandIn, nameStandIn } from '../../../src/service/people/stand-ins.ts';
import { urlsFrom, vote } from './people.ts';
import { ask, type Headers, makeAgent, type World } from './world.ts';

/** The rule that needs two people. */
export const pairRule = 'pair/two';

/** The people of a stand-in: who names it, who stands in, and who confirms it. */
export interface StandInPeople {
  readonly member: Actor;
  readonly standIn: Person;
  /** The headers of the stand-in's calls. */
  readonly headers: Headers;
  readonly admin: Actor;
}

const atOnce = 2;
const votesMost = 6;

export async function standIns(world: World): Promise<void> {
  await Promise.all([change(world), ...Array.from({ length: atOnce }, () => askAndVote(world))]);
}

/** Names, confirms and ends the stand-in, again and again. */
async function change(world: World): Promise<void> {
  const { random, store, standInPeople } = world;
  const { member, standIn, admin } = standInPeople;
  const directory = createDirectory(store.documents, Date.now);
  while (!world.isOver) {
    try {
      const draft = { standIn: standIn.id, group: 'finance', untilMs: Date.now() + 3_600_000 };
      await nameStandIn(directory, member, draft);
      const [one] = await directory.standIns.list({ countMax: 1 });
      const id = one?.value.id ?? '';
      await confirmStandIn(directory, admin, id);
      await sleep(1_000 + random() * 2_000);
      await endStandIn(directory, random() < 0.5 ? member : admin, id);
    } catch {
      // The server is not reachable.
    }
    await sleep(100 + random() * 200);
  }
}

async function askAndVote(world: World): Promise<void> {
  const { random, voters, standInPeople } = world;
  const [member = {}, third = {}] = voters;
  while (!world.isOver) {
    await sleep(50 + random() * 100);
    const url = urlsFrom(world);
    const agent = await makeAgent(world.store);
    const call = { action: 'pay.pair', amount: 1, session: randomUUID() } as const;
    const id = (await ask(world, url(0), agent, call))?.id;
    if (id == null) continue;
    const give = (headers: Headers, place: number) =>
      vote(world, `${url(place)}/v1/requests/${id}/approve`, {
        id,
        agent: agent.id,
        word: 'approve',
        headers,
      });
    // In most requests the stand-in is first, if they find a moment in which they may vote.
    const isFirst = random() < 0.8;
    for (let votes = 0; votes < votesMost && !world.isOver; votes += 1) {
      const isAlone = isFirst && votes < votesMost - 1;
      const said = await Promise.all([
        give(standInPeople.headers, votes),
        ...(isAlone ? [] : [give(member, votes + 1)]),
      ]);
      if (isAlone && said.includes('pending')) votes = votesMost - 2;
      await sleep(random() * 200);
    }
    if (random() < 0.2) continue;
    for (let votes = 0; votes < votesMost && !world.isOver; votes += 1)
      if ((await give(third, votes)) !== null) break;
  }
}
