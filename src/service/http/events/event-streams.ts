// Tells people that something which they have open has changed: which kind of thing, and never what.
// INVARIANT: a stream gets only kinds that its person may see at that moment, and ends when the person may no
// longer sign in. To a request that is decided, this costs only a look at whether there are streams.

import { Readable } from 'node:stream';
import { isoTime } from '../../../language/value/iso-time.ts';
import { grantOf, type OperationName } from '../../people/operations.ts';
import type { Actor } from '../../people/person.ts';
import { inboxKinds } from '../../requests/inbox/change-marks.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { StatisticsStore } from '../../store/contract/statistics.ts';
import type { ChainStore } from '../../store/contract/store.ts';

// Sends events to one reader as a stream of Server-Sent Events. INVARIANT: what a client does not read is not
// kept: at most one event of each kind waits, and a client that has read nothing from one heartbeat to the
// next is cut off.

export interface EventStream {
  /** The body of the reply. */
  readonly body: Readable;
  /** Sends an event that something of the kind has changed. */
  send(kind: string, at: string): void;
  /** Sends a comment, which shows both sides that the other is there. */
  heartbeat(): void;
  end(): void;
}

/** How long a client waits before it connects again. */
const retryMs = 2_000;
/** How much is made ahead of what the client reads, besides what Node and the operating system take. */
const aheadBytes = 1_024;

export function createEventStream(): EventStream {
  /** Waiting events: when something changed, by kind. */
  const waiting = new Map<string, string>();
  let isWanted = false;
  let hasBegun = false;
  /** Whether nothing has been read since the last heartbeat. */
  let isStuck = false;
  const body = new Readable({
    highWaterMark: aheadBytes,
    read() {
      isWanted = true;
      hasBegun = true;
      isStuck = false;
      flush();
    },
  });
  body.push(`retry: ${retryMs}\n\n`);

  function flush(): void {
    if (!isWanted || waiting.size === 0 || body.destroyed) return;
    const events = [...waiting].map(([kind, at]) => `event: ${kind}\ndata: ${JSON.stringify({ at })}\n\n`);
    waiting.clear();
    isWanted = body.push(events.join(''));
  }

  return {
    body,
    send(kind, at) {
      waiting.set(kind, at);
      flush();
    },
    heartbeat() {
      if (isWanted) isWanted = body.push(': \n\n');
      else if (isStuck) body.destroy();
      else isStuck = true;
    },
    end() {
      // A client that does not read would hold up the end for ever. A body that is not being sent yet ends by itself;
      // without it, the reply would be an error.
      if (isWanted || !hasBegun) body.push(null);
      else body.destroy();
      isWanted = false;
    },
  };
}

/**
 * Kinds of things that may change, each with the operation that a person must be allowed in order to hear of
 * it.
 */
export const changeKinds = {
  requests: 'requests.view',
  approvals: 'requests.approve',
  agents: 'agents.view',
  policies: 'policies.view',
  kill_switches: 'kill-switches.view',
  people: 'people.view',
  alerts: 'alerts.view',
} as const satisfies Readonly<Record<string, OperationName>>;
export type ChangeKind = keyof typeof changeKinds;

export interface EventStreams {
  /** Announces that something of this kind has changed. Never throws. */
  notify(kind: ChangeKind): void;
  /** Opens a new stream; null when the person has too many. */
  open(actor: Actor, options: OpenOptions): Promise<Readable | null>;
  /** Checks again whether each person still has access, and what they may see. Never throws. */
  recheck(): void;
  /** Ends all streams. */
  close(): void;
}

export interface OpenOptions {
  /** The person as they are now; null when they no longer have access. */
  readonly currentActor: () => Promise<Actor | null>;
}

export interface EventStreamsOptions {
  readonly chain: Pick<ChainStore, 'changes'>;
  readonly statistics: Pick<StatisticsStore, 'lastEvent'>;
  readonly documents: Pick<DocumentStore, 'list'>;
  readonly clock: () => number;
  readonly onFailure: (error: unknown) => void;
  readonly timing?: Partial<EventStreamsTiming>;
}

export interface EventStreamsTiming {
  /** Within this time a stream gets at most one event of each kind. */
  readonly everyMs: number;
  /** How often changes by other processes are looked for. */
  readonly followMs: number;
  readonly heartbeatMs: number;
  /** How often a stream checks that its person still has access. */
  readonly checkMs: number;
}

const timingDefault: EventStreamsTiming = {
  everyMs: 500,
  followMs: 500,
  heartbeatMs: 15_000,
  checkMs: 5_000,
};
export const streamsOfPersonMax = 20;

interface OpenStream extends EventStream {
  readonly personId: string;
  readonly currentActor: OpenOptions['currentActor'];
  kinds: ReadonlySet<ChangeKind>;
}

// biome-ignore lint/complexity/noExcessiveLinesPerFunction: a closure over the readers of the feed and what they have been told.
export function createEventStreams(options: EventStreamsOptions): EventStreams {
  const { clock, onFailure } = options;
  const timing = { ...timingDefault, ...options.timing };
  const streams = new Set<OpenStream>();
  /** By kind, the timer after which the kind is announced. */
  const timers = new Map<ChangeKind, NodeJS.Timeout>();
  /** `again`: something has changed since the check that is under way began. */
  let rechecking: 'no' | 'once' | 'again' = 'no';
  const toldAtMs = new Map<ChangeKind, number>();
  const follow = createFollower(options, notify, recheck);
  let following: NodeJS.Timeout | null = null;
  let isClosed = false;

  function notify(kind: ChangeKind): void {
    if (streams.size === 0 || timers.has(kind)) return;
    const sinceMs = performance.now() - (toldAtMs.get(kind) ?? Number.NEGATIVE_INFINITY);
    // Never synchronously: the caller that reports a change has work of its own to finish.
    const timer = setTimeout(() => send(kind), Math.max(0, timing.everyMs - sinceMs));
    timers.set(kind, timer.unref());
  }

  function send(kind: ChangeKind): void {
    timers.delete(kind);
    toldAtMs.set(kind, performance.now());
    const at = isoTime(clock());
    for (const stream of streams) if (stream.kinds.has(kind)) stream.send(kind, at);
  }

  function openOf(personId: string): number {
    let count = 0;
    for (const stream of streams) if (stream.personId === personId) count += 1;
    return count;
  }

  async function check(stream: OpenStream): Promise<void> {
    try {
      const actor = await stream.currentActor();
      if (actor === null) stream.end();
      else stream.kinds = kindsOf(actor);
    } catch (error) {
      // While the store does not answer, nobody is told anything.
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

  function drop(stream: OpenStream): void {
    streams.delete(stream);
    if (streams.size > 0 || following === null) return;
    clearInterval(following);
    following = null;
  }

  return {
    notify,
    recheck,
    async open(actor, { currentActor: look }) {
      const personId = actor.person.id;
      if (openOf(personId) >= streamsOfPersonMax) return null;
      const stream: OpenStream = {
        ...createEventStream(),
        personId,
        currentActor: look,
        kinds: kindsOf(actor),
      };
      streams.add(stream);
      const signs = setInterval(stream.heartbeat, timing.heartbeatMs).unref();
      const checks = setInterval(() => void check(stream), timing.checkMs).unref();
      stream.body.once('close', () => {
        clearInterval(signs);
        clearInterval(checks);
        drop(stream);
      });
      // Changes are announced from the last look on, so a look comes before the first stream.
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
/**
 * Claims, assignments and snoozes of each kind whose end is followed; the end of older ones shows with the
 * next look at the inbox.
 */
const inboxFollowedMax = 200;
/** The kind of a change, by the first word of the change's name. */
const kindOfChange: Readonly<Record<string, ChangeKind>> = {
  agent: 'agents',
  key: 'agents',
  signing: 'agents',
  point: 'agents',
  kill: 'kill_switches',
  person: 'people',
  stand: 'people',
  access: 'people',
  invitation: 'people',
  first: 'people',
  codes: 'people',
  alert: 'alerts',
  proposal: 'policies',
};

/** The returned function looks for what any process has changed since its last look. */
function createFollower(
  {
    chain,
    statistics,
    documents,
    clock,
  }: Pick<EventStreamsOptions, 'chain' | 'statistics' | 'documents' | 'clock'>,
  notify: (kind: ChangeKind) => void,
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
    // There are more changes than are worth reading, so every kind is announced.
    if (fresh.length === changesAtOnce) for (const kind of Object.values(kindOfChange)) kinds.add(kind);
    if (kinds.has('people')) recheck();
    for (const kind of kinds) if (kind !== undefined) notify(kind);
  }

  /** Claims, assignments and snoozes are on no record, and nobody acts when they end. */
  async function lookAtInbox(): Promise<void> {
    const page = { parent: null, after: null, countMax: inboxFollowedMax };
    const rows = (await Promise.all(inboxKinds.map((kind) => documents.list({ kind, ...page })))).flat();
    const nowMs = clock();
    const on = rows.filter(({ endsAtMs }) => endsAtMs === null || endsAtMs > nowMs);
    const text = on.map(({ kind, id, version }) => `${kind} ${id} ${version}`).join();
    const isNew = inboxSeen !== null && text !== inboxSeen;
    inboxSeen = text;
    if (isNew) notify('approvals');
  }

  return async () => {
    await lookAtChanges();
    await lookAtInbox();
    const last = await statistics.lastEvent();
    const isNew = eventSeen !== null && last !== eventSeen;
    eventSeen = last;
    if (!isNew) return;
    notify('requests');
    notify('approvals');
  };
}
