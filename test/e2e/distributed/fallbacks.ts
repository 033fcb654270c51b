// Agents ask for what a fallback decides after a second; two people of the fallback vote at two replicas before it is asked,
// at that moment and afterwards.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { urlsFrom, vote } from './people.ts';
import { ask, makeAgent, type World } from './world.ts';

/** The policy that has the fallback. */
export const fallbackRule = 'fallback/big';

const atOnce = 2;
const votesMost = 12;

export async function fallbacks(world: World): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => askAndVote(world)));
}

async function askAndVote(world: World): Promise<void> {
  const { random, voters } = world;
  while (!world.isOver) {
    await sleep(100 + random() * 200);
    const url = urlsFrom(world);
    const agent = await makeAgent(world.store);
    const call = { action: 'pay.then', amount: 1, session: randomUUID() } as const;
    const id = (await ask(world, url(0), agent, call))?.id;
    if (id == null) continue;
    for (let votes = 0; votes < votesMost && !world.isOver; votes += 1) {
      const said = await Promise.all(
        voters.map((headers, at) =>
          vote(world, `${url(votes + at)}/v1/requests/${id}/approve`, {
            id,
            agent: agent.id,
            word: 'approve',
            headers,
          }),
        ),
      );
      if (said.includes('approved')) break;
      await sleep(random() * 600);
    }
  }
}
