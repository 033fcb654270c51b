// The faults, one after the other: replicas are killed, stopped, slowed and cut off; the server is killed and
// fails over. For each kind of fault the longest time without a grant is kept.

import { setTimeout as sleep } from 'node:timers/promises';
import type { Told } from './told.ts';
import type { World } from './world.ts';

const kinds = ['failover', 'killed', 'slow', 'stopped', 'cut', 'server'] as const;
type Kind = (typeof kinds)[number];
/**
 * Each kind happens at least once, however short the run is. The server fails over twice: to its standby and
 * back.
 */
const turns = [...kinds, 'failover'] as const;
/** People approve at least this many requests and reject at least this many. */
const endedMin = 3;
/** People step up at least this often. */
const steppedUpMin = 2;

const serviceMaxMs = 20_000;
/** A pause in grants that begins later than this after a fault has another cause. */
const afterFaultMs = 2_000;

/**
 * The kinds of faults that happen, separated by commas, or `none`; all kinds when the variable is not set.
 */
const only = process.env.NEMESIS_FAULTS?.split(',');

export async function nemesis(world: World): Promise<void> {
  const { random, seconds, decisionsLeast, votes, proofs, revokedStanding, replicas } = world;
  const endsAtMs = performance.now() + seconds * 1000;
  const ended = (word: string) => votes.filter(({ said }) => said === word).length >= endedMin;
  const haveSteppedUp = () => proofs.filter(({ granted }) => granted.length > 0).length >= steppedUpMin;
  const noted = noteStops(world);
  const isLong = () => performance.now() >= endsAtMs && noted.decisions() >= decisionsLeast;
  const haveAnswered = () => ended('approved') && ended('rejected') && haveSteppedUp();
  const isDue = () => !isLong() || !haveAnswered() || revokedStanding.length === 0;
  for (let round = 0; (only === undefined && round < turns.length) || isDue(); round += 1) {
    await sleep((0.5 + random()) * world.betweenFaultsMs);
    const replica = replicas.all[Math.floor(random() * replicas.all.length)]!;
    const kind = kindOf(round, random());
    if (kind === null) continue;
    world.faults.set(kind, (world.faults.get(kind) ?? 0) + 1);
    noted.begin(kind);
    await carryOut[kind](world, replica);
    noted.end();
  }
  await sleep(afterFaultMs);
  noted.close();
}

function kindOf(round: number, dice: number): Kind | null {
  const possible = only === undefined ? kinds : kinds.filter((kind) => only.includes(kind));
  if (only === undefined && round < turns.length) return turns[round]!;
  return possible[Math.floor(dice ** 0.7 * possible.length)] ?? null;
}

type Replica = World['replicas']['all'][number];

const carryOut = {
  async killed({ replicas, starts }, replica) {
    await replica.service?.end('SIGKILL');
    replica.service = null;
    const fromMs = performance.now();
    await replicas.start(replica);
    starts.push(performance.now() - fromMs);
  },
  async stopped({ random }, replica) {
    replica.service?.process.kill('SIGSTOP');
    await sleep(300 + random() * 1_200);
    replica.service?.process.kill('SIGCONT');
  },
  async cut({ random }, replica) {
    replica.wire.cut();
    await sleep(300 + random() * 900);
    replica.wire.fix();
  },
  async slow({ random }, replica) {
    replica.wire.slow(10 + random() * 80);
    await sleep(300 + random() * 1_200);
    replica.wire.slow(0);
  },
  async failover(world) {
    await world.server.failOver(() => void world.services.push(untilDecided(world)));
  },
  async server({ server }) {
    await server.kill();
    await sleep(100);
    await server.start();
  },
} as const satisfies Record<Kind, (world: World, replica: Replica) => Promise<void>>;

/** Milliseconds from the promotion of a standby to the next decision; infinite when nothing is decided. */
function untilDecided({ told }: World): Promise<number> {
  const fromMs = performance.now();
  return new Promise((resolve) => {
    const end = (tookMs: number) => {
      clearTimeout(giveUp);
      unfollow();
      resolve(tookMs);
    };
    const giveUp = setTimeout(end, serviceMaxMs, Number.POSITIVE_INFINITY);
    const unfollow = told.follow(({ decision, begunAtMs, endedAtMs }) => {
      if (decision !== null && begunAtMs > fromMs) end(endedAtMs - fromMs);
    });
  });
}

/**
 * For each kind of fault, the longest time in which nothing was granted, and the decisions meanwhile. `none`
 * counts the time when only managers act.
 */
function noteStops({ told, longest, rates }: World) {
  let [now, sinceMs, decisions]: [Kind | 'none', number, number] = ['none', performance.now(), 0];
  let unlike = 0;
  const turnTo = (next: Kind | 'none') => {
    const before = rates.get(now) ?? { decisions: 0, tookMs: 0 };
    const tookMs = before.tookMs + performance.now() - sinceMs;
    rates.set(now, { decisions: before.decisions + decisions, tookMs });
    [now, sinceMs, decisions] = [next, performance.now(), 0];
  };
  let latestGrantMs = performance.now();
  let fault: { readonly kind: Kind; untilMs: number } | null = null;
  const take = ({ decision, endedAtMs }: Pick<Told, 'decision' | 'endedAtMs'>) => {
    if (decision !== 'ALLOW' || endedAtMs < latestGrantMs) return;
    const isOfFault = fault !== null && fault.untilMs + afterFaultMs > latestGrantMs;
    const kind = isOfFault && fault !== null ? fault.kind : 'none';
    longest.set(kind, Math.max(longest.get(kind) ?? 0, endedAtMs - latestGrantMs));
    latestGrantMs = endedAtMs;
  };
  const close = told.follow((one) => {
    if (one.decision !== null) decisions += 1;
    if (one.decision !== null && one.key === null) unlike += 1;
    take(one);
  });
  return {
    begin: (kind: Kind) => {
      // A pause that lasted until now has another cause than this fault.
      take({ decision: 'ALLOW', endedAtMs: performance.now() });
      turnTo(kind);
      fault = { kind, untilMs: Number.POSITIVE_INFINITY };
    },
    end: () => {
      if (fault !== null) fault.untilMs = performance.now();
      turnTo('none');
    },
    /**
     * The number of decisions so far. Requests with an idempotency key do not count, because one decision may
     * be told several times.
     */
    decisions: () => unlike,
    close,
  };
}
