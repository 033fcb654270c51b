// That something has changed, told to the people who have it open: which kind of thing, and never what. INVARIANT: a
// stream gets only kinds that its person may see at that moment, ends when they may not sign in any more, and
// costs a request that is decided nothing but a look at whether there is one.

import type { Readable } from 'node:stream';
import { grantOf, type OperationName } from '../../people/operations.ts';
import type { Actor } from '../../people/person.ts';
import { inboxKinds } from '../../requests/inbox/until-changed.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { StatisticsStore } from '../../store/contract/statistics.ts';
import type { ChainStore } from '../../store/contract/store.ts';
import { timeText } from '../contract/schemas.ts';
import { type ChangeStream, createChangeStream } from './change-stream.ts';

/** What may have changed, by what one must be allowed to do to hear of it. */
export const changeKinds = {
  requests: 'requests.view',
  approvals: 'requests.approve',
  agents: 'agents.view',
  policies: 'policies.view',
  switches: 'switches.view',
  people: 'people.view',
  alerts: 'alerts.view',
} as const satisfies Readonly<Record<string, OperationName>>;
export type ChangeKind = keyof typeof changeKinds;

export interface ChangeFeed {
  /** Never throws. */
  tell(kind: ChangeKind): void;
  /** A new stream; null where the person has too many. */
  open(actor: Actor, options: OpenOptions): Promise<Readable | null>;
  /** Checks again whether each person still has access, and what they may see. Never throws. */
  recheck(): void;
  /** Ends all streams. */
  close(): void;
}

export interface OpenOptions {
  /** Who the person is now; null where they have no access any more. */
  readonly look: () => Promise<Actor | null>;
}

export interface ChangeFeedOptions {
  readonly chain: Pick<ChainStore, 'changes'>;
  readonly statistics: Pick<StatisticsStore, 'lastEvent'>;
  readonly documents: Pick<DocumentStore, 'list'>;
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
  readonly timing?: Partial<ChangeFeedTiming>;
}

export interface ChangeFeedTiming {
  /** Of each kind one hint in this time. */
  readonly everyMs: number;
  /** What other processes change is looked for so often. */
  readonly followMs: number;
  readonly signOfLifeMs: number;
  /** How often it is checked that the person still has access. */
  readonly checkMs: number;
}

const timingDefault: ChangeFeedTiming = { everyMs: 500, followMs: 500, signOfLifeMs: 15_000, checkMs: 5_000 };
export const streamsOfPersonMax = 20;

interface Open extends ChangeStream {
  readonly personId: string;
  readonly look: OpenOptions['look'];
  kinds: ReadonlySet<ChangeKind>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the readers of the feed and what they have been told.
export function createChangeFeed(options: ChangeFeedOptions): ChangeFeed {
  const { clock, onFailure } = options;
  const timing = { ...timingDefault, ...options.timing };
  const streams = new Set<Open>();
  /** Until a kind is told, by kind. */
  const timers = new Map<ChangeKind, NodeJS.Timeout>();
  /** `again`: something has changed since the look that is under way began. */
  let rechecking: 'no' | 'once' | 'again' = 'no';
  const toldAtMs = new Map<ChangeKind, number>();
  const follow = createFollower(options, tell, recheck);
  let following: NodeJS.Timeout | null = null;
  let isClosed = false;

  function tell(kind: ChangeKind): void {
    if (streams.size === 0 || timers.has(kind)) return;
    const sinceMs = performance.now() - (toldAtMs.get(kind) ?? Number.NEGATIVE_INFINITY);
    // Never synchronously: the caller that reports a change has work of its own to finish.
    const timer = setTimeout(() => send(kind), Math.max(0, timing.everyMs - sinceMs));
    timers.set(kind, timer.unref());
  }

  function send(kind: ChangeKind): void {
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

  async function check(stream: Open): Promise<void> {
    try {
      const actor = await stream.look();
      if (actor === null) stream.end();
      else stream.kinds = kindsOf(actor);
    } catch (error) {
      // Nobody hears anything on the word of a store that does not answer.
      stream.end();
      onFailure(error);
    }
  }

  function recheck(): void {
    if (rechecking !== 'no') rechecking = 'again';
    else if (streams.size > 0) void recheckAll();
  }

  async function recheckAll(): Promise<void> {
    do {
      rechecking = 'once';
      for (const stream of streams) await check(stream);
    } while (isAskedAgain());
    rechecking = 'no';
  }

  const isAskedAgain = () => rechecking === 'again';

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
    recheck,
    async open(actor, { look }) {
      const personId = actor.person.id;
      if (openOf(personId) >= streamsOfPersonMax) return null;
      const stream: Open = { ...createChangeStream(), personId, look, kinds: kindsOf(actor) };
      streams.add(stream);
      const signs = setInterval(stream.signOfLife, timing.signOfLifeMs).unref();
      const checks = setInterval(() => void check(stream), timing.checkMs).unref();
      stream.body.once('close', () => {
        clearInterval(signs);
        clearInterval(checks);
        drop(stream);
      });
      // What changes from now on is told: that begins where the last look ended.
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

function kindsOf({ roles }: Actor): ReadonlySet<ChangeKind> {
  const kinds = Object.keys(changeKinds) as ChangeKind[];
  return new Set(kinds.filter((kind) => grantOf(roles, changeKinds[kind]) !== 'no'));
}

const changesAtOnce = 100;
/** Of each kind; of more, the end of the oldest shows with the next look at the inbox. */
const inboxFollowedMax = 200;
/** By the first word of what was done. */
const kindOfChange: Readonly<Record<string, ChangeKind>> = {
  agent: 'agents',
  key: 'agents',
  signing: 'agents',
  point: 'agents',
  switch: 'switches',
  person: 'people',
  access: 'people',
  invitation: 'people',
  first: 'people',
  codes: 'people',
  alert: 'alerts',
};

/** The function returned looks for what any process has changed since the look before. */
function createFollower(
  {
    chain,
    statistics,
    documents,
    clock,
  }: Pick<ChangeFeedOptions, 'chain' | 'statistics' | 'documents' | 'clock'>,
  tell: (kind: ChangeKind) => void,
  recheck: () => void,
): () => Promise<void> {
  let changeSeen: number | null = null;
  let eventSeen: number | null = null;
  let inboxSeen: string | null = null;

  async function lookAtChanges(): Promise<void> {
    const [latest] = await chain.changes({ beforeSequence: null, countMax: 1 });
    const last = latest?.sequence ?? 0;
    const seen = changeSeen;
    changeSeen = last;
    if (seen === null || last === seen) return;
    const changes = await chain.changes({ beforeSequence: last + 1, countMax: changesAtOnce });
    const fresh = changes.filter(({ sequence }) => sequence > seen);
    const kinds = new Set(fresh.map(({ what }) => kindOfChange[what.split('-', 1)[0] ?? '']));
    // More than is worth reading.
    if (fresh.length === changesAtOnce) for (const kind of Object.values(kindOfChange)) kinds.add(kind);
    if (kinds.has('people')) recheck();
    for (const kind of kinds) if (kind !== undefined) tell(kind);
  }

  /** Claims, assignments and snoozes are on no record, and their end is nobody's doing. */
  async function lookAtInbox(): Promise<void> {
    const page = { parent: null, after: null, countMax: inboxFollowedMax };
    const rows = (await Promise.all(inboxKinds.map((kind) => documents.list({ kind, ...page })))).flat();
    const nowMs = clock();
    const on = rows.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > nowMs);
    const text = on.map(({ kind, id, version }) => `${kind} ${id} ${version}`).join();
    const isNew = inboxSeen !== null && text !== inboxSeen;
    inboxSeen = text;
    if (isNew) tell('approvals');
  }

  return async () => {
    await lookAtChanges();
    await lookAtInbox();
    const last = await statistics.lastEvent();
    const isNew = eventSeen !== null && last !== eventSeen;
    eventSeen = last;
    if (!isNew) return;
    tell('requests');
    tell('approvals');
  };
}
