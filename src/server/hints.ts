// That something has changed, told to the people who have it open: which kind of thing, and never what. INVARIANT: a
// stream gets only kinds that its person may see at that moment, ends soon after they may not come in any more, and
// costs a request that is decided nothing but a look at whether there is one.

import type { Readable } from 'node:stream';
import { grantOf, type OperationName } from '../people/operations.ts';
import type { Actor } from '../people/person.ts';
import type { StatisticsStore } from '../store/statistics.ts';
import type { ChainStore } from '../store/store.ts';
import { createHintStream, type HintStream } from './hint-stream.ts';
import { timeText } from './schemas.ts';

/** What may have changed, by what one must be allowed to do to hear of it. */
export const hintKinds = {
  requests: 'requests.view',
  approvals: 'requests.approve',
  agents: 'agents.view',
  policies: 'policies.view',
  switches: 'switches.view',
  people: 'people.view',
} as const satisfies Readonly<Record<string, OperationName>>;
export type HintKind = keyof typeof hintKinds;

export interface Hints {
  /** Never throws. */
  tell(kind: HintKind): void;
  /** A new stream; null where the person has too many. */
  open(actor: Actor, options: OpenOptions): Promise<Readable | null>;
  /** Ends all streams. */
  close(): void;
}

export interface OpenOptions {
  /** Who the person is now; null where they may not come in any more. */
  readonly look: () => Promise<Actor | null>;
}

export interface HintsOptions {
  readonly chain: Pick<ChainStore, 'changes'>;
  readonly statistics: Pick<StatisticsStore, 'lastEvent'>;
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
  readonly timing?: Partial<HintTiming>;
}

export interface HintTiming {
  /** Of each kind one hint in this time. */
  readonly everyMs: number;
  /** What other processes change is looked for so often. */
  readonly followMs: number;
  readonly signOfLifeMs: number;
  /** Whether the person may still come in is looked at so often. */
  readonly checkMs: number;
}

const timingDefault: HintTiming = { everyMs: 500, followMs: 500, signOfLifeMs: 15_000, checkMs: 5_000 };
export const streamsOfPersonMax = 20;

interface Open extends HintStream {
  readonly personId: string;
  kinds: ReadonlySet<HintKind>;
}

export function createHints(options: HintsOptions): Hints {
  const { clock, onFailure } = options;
  const timing = { ...timingDefault, ...options.timing };
  const streams = new Set<Open>();
  /** Until a kind is told, by kind. */
  const timers = new Map<HintKind, NodeJS.Timeout>();
  const toldAtMs = new Map<HintKind, number>();
  const follow = createFollower(options, tell);
  let following: NodeJS.Timeout | null = null;
  let isClosed = false;

  function tell(kind: HintKind): void {
    if (streams.size === 0 || timers.has(kind)) return;
    const sinceMs = performance.now() - (toldAtMs.get(kind) ?? Number.NEGATIVE_INFINITY);
    // Never at once: whoever tells is at work.
    const timer = setTimeout(() => send(kind), Math.max(0, timing.everyMs - sinceMs));
    timers.set(kind, timer.unref());
  }

  function send(kind: HintKind): void {
    timers.delete(kind);
    toldAtMs.set(kind, performance.now());
    const at = timeText(clock());
    for (const stream of streams) if (stream.kinds.has(kind)) stream.hint(kind, at);
  }

  function openOf(personId: string): number {
    let count = 0;
    for (const stream of streams) if (stream.personId === personId) count += 1;
    return count;
  }

  async function check(stream: Open, look: OpenOptions['look']): Promise<void> {
    try {
      const actor = await look();
      if (actor === null) stream.end();
      else stream.kinds = kindsOf(actor);
    } catch (error) {
      // Nobody hears anything on the word of a store that does not answer.
      stream.end();
      onFailure(error);
    }
  }

  function startFollowing(): void {
    following ??= setInterval(() => void follow().catch(onFailure), timing.followMs).unref();
  }

  function drop(stream: Open): void {
    streams.delete(stream);
    if (streams.size > 0 || following === null) return;
    clearInterval(following);
    following = null;
  }

  return {
    tell,
    async open(actor, { look }) {
      const personId = actor.person.id;
      if (openOf(personId) >= streamsOfPersonMax) return null;
      const stream: Open = { ...createHintStream(), personId, kinds: kindsOf(actor) };
      streams.add(stream);
      const signs = setInterval(stream.signOfLife, timing.signOfLifeMs).unref();
      const checks = setInterval(() => void check(stream, look), timing.checkMs).unref();
      stream.body.once('close', () => {
        clearInterval(signs);
        clearInterval(checks);
        drop(stream);
      });
      // What changes from now on is told: the look of before is where that begins.
      if (following === null) await follow().catch(onFailure);
      if (isClosed) stream.end();
      else if (streams.size > 0) startFollowing();
      return stream.body;
    },
    close() {
      isClosed = true;
      for (const stream of streams) stream.end();
      for (const timer of timers.values()) clearTimeout(timer);
      if (following !== null) clearInterval(following);
    },
  };
}

function kindsOf({ roles }: Actor): ReadonlySet<HintKind> {
  const kinds = Object.keys(hintKinds) as HintKind[];
  return new Set(kinds.filter((kind) => grantOf(roles, hintKinds[kind]) !== 'no'));
}

const changesAtOnce = 100;
/** By the first word of what was done. */
const kindOfChange: Readonly<Record<string, HintKind>> = {
  ...{ agent: 'agents', key: 'agents', signing: 'agents', switch: 'switches' },
  ...{ person: 'people', access: 'people', invitation: 'people', first: 'people', codes: 'people' },
};

/** The function returned looks for what any process has changed since the look before. */
function createFollower(
  { chain, statistics }: Pick<HintsOptions, 'chain' | 'statistics'>,
  tell: (kind: HintKind) => void,
): () => Promise<void> {
  let changeSeen: number | null = null;
  let eventSeen: number | null = null;

  async function lookAtChanges(): Promise<void> {
    const [latest] = await chain.changes({ beforeSequence: null, countMax: 1 });
    const last = latest?.sequence ?? 0;
    const seen = changeSeen;
    changeSeen = last;
    if (seen === null || last === seen) return;
    const changes = await chain.changes({ beforeSequence: last + 1, countMax: changesAtOnce });
    const fresh = changes.filter(({ sequence }) => sequence > seen);
    for (const { what } of fresh) {
      const kind = kindOfChange[what.split('-', 1)[0] ?? ''];
      if (kind !== undefined) tell(kind);
    }
    // More than is worth reading.
    if (fresh.length === changesAtOnce) for (const kind of Object.values(kindOfChange)) tell(kind);
  }

  return async () => {
    await lookAtChanges();
    const last = await statistics.lastEvent();
    const isNew = eventSeen !== null && last !== eventSeen;
    eventSeen = last;
    if (!isNew) return;
    tell('requests');
    tell('approvals');
  };
}
