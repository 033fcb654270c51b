// People give standing approvals with a count at one replica; agents then use each at all replicas at once, more
// often than it allows, while some are revoked.

import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { standingId } from '../../../src/service/requests/approvals/standing-approval.ts';
import { say, urlsFrom, vote } from './people.ts';
import { ask, type Call, makeAgent, urls, type World } from './world.ts';

/** How many standing approvals are in use at once. */
const atOnce = 3;
const timesMax = 5;
const rounds = 4;
/** The clocks of replicas differ; a standing approval begins by the clock of the replica that granted it. */
const clocksDifferMs = 700;

export async function standingApprovals(world: World): Promise<void> {
  await Promise.all(Array.from({ length: atOnce }, () => giveAndUse(world)));
}

async function giveAndUse(world: World): Promise<void> {
  const { random } = world;
  while (!world.isOver) {
    await sleep(100 + random() * 200);
    const agent = await makeAgent(world.store);
    const call: Call = { action: 'pay.known', amount: 1, session: randomUUID(), vendor: randomUUID() };
    const use = () => Promise.all(urls(world).map((url) => ask(world, url, agent, call)));
    const url = urlsFrom(world);
    const id = (await ask(world, url(0), agent, call))?.id;
    if (id == null) continue;
    const given = {
      id,
      agent: agent.id,
      word: 'approve',
      headers: world.voters[0] ?? {},
      standing: { times: 1 + Math.floor(random() * timesMax) },
    } as const;
    // When the reply is lost, the approval may stand all the same.
    await vote(world, `${url(1)}/v1/requests/${id}/approve`, given);
    await sleep(clocksDifferMs);
    const revoking = random() < 0.4 ? sleep(random() * 200).then(() => revoke(world, id)) : null;
    for (let round = 0; round < rounds; round += 1) {
      await Promise.all([use(), use()]);
      await sleep(random() * 100);
    }
    await revoking;
    await use();
  }
}

/** Has the person who gave it revoke the standing approval of a request. */
async function revoke(world: World, requestId: string): Promise<void> {
  const id = standingId(requestId, 'known/vendors');
  const path = `${urlsFrom(world)(0)}/v1/standing-approvals/${id}/revoke`;
  const reply = await say(path, world.voters[0] ?? {}, {});
  if (reply?.status === 200) world.revokedStanding.push({ id, atMs: performance.now() });
}
