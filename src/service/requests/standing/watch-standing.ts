// Finds what is news about standing approvals: that one was given, that its last use was taken, that it ends soon,
// or that somebody revoked it. A look judges only those that have changed, are used up or end soon; what changes
// elsewhere, such as the rights of a voter, is found within ten minutes. INVARIANT: what was told is stored together
// with the messages about it, so of several processes one tells of each, once.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentPut } from '../../store/contract/documents.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { votesJudgedBy } from '../approvals/chat-votes.ts';
import type { FindPeople } from '../approvals/current-person.ts';
import { type FoundStanding, giversOf, judgeStanding } from '../approvals/find-standing.ts';
import {
  type StandingApproval,
  type StandingNewsKind,
  standingCollection,
} from '../approvals/standing-approval.ts';
import type { Metering } from '../metering/metering.ts';
import type { RequestEvents } from '../record/request-events.ts';
import { requestStateOf } from '../record/request-state.ts';
import { usedOf } from './use-standing.ts';

export interface StandingNews {
  readonly kind: StandingNewsKind;
  readonly approval: StandingApproval;
  readonly agent: AgentRow;
  /** Ids of the people who gave it. */
  readonly givers: readonly string[];
  readonly atMs: number;
}

export interface StandingMessages {
  /** Documents to be stored together with what was told. */
  readonly writes: readonly DocumentPut[];
  /** To be called when they are stored. */
  taken(): void;
}

export interface StandingWatchDeps {
  readonly store: Pick<Store, 'agents' | 'requests' | 'documents'>;
  readonly policies: () => ActivePolicies;
  readonly clock: () => number;
  readonly findPeople: FindPeople;
  readonly metering: Pick<Metering, 'read' | 'catchUp'>;
  readonly requestEvents?: Pick<RequestEvents, 'subscribe'>;
  readonly messagesOf: (news: StandingNews) => Promise<StandingMessages>;
  /** Called when a look has failed; the next look tries again. */
  readonly onFailure: (error: unknown) => void;
}

export interface StandingWatch {
  /** Looks once at all standing approvals; runs again and again after `start`. */
  look(): Promise<void>;
  start(): void;
  /** Waits for the look that is under way. */
  close(): Promise<void>;
}

const everyMs = 10_000;
const countMax = 100;
const hourMs = 3_600_000;
/** The longest time after which a standing approval is judged again. */
const againAfterMs = 600_000;

/** What a look has found of a standing approval. */
interface Judged {
  readonly version: number;
  /** The digest of the policies. */
  readonly policies: string;
  /** How many requests it may serve; null for any number, and when it covers nothing. */
  readonly times: number | null;
  readonly againAtMs: number;
}

/** What a watch knows from its looks before. */
interface Memory {
  /** By the id of the standing approval. */
  judged: Map<string, Judged>;
  /** The requests that were decided since the last look. */
  decided: Set<string>;
}

export function watchStanding(deps: StandingWatchDeps): StandingWatch {
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let isClosed = false;
  const memory: Memory = { judged: new Map(), decided: new Set() };
  deps.requestEvents?.subscribe(({ kind, requestId }) => {
    if (kind === 'decided') memory.decided.add(requestId);
  });
  const look = (): Promise<void> => {
    work = work.then(async () => {
      if (!isClosed) await lookAtAll(deps, memory).catch(deps.onFailure);
    });
    return work;
  };
  const schedule = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => void look().then(schedule), everyMs).unref();
  };
  return {
    look,
    start: schedule,
    async close() {
      isClosed = true;
      clearTimeout(timer ?? undefined);
      await work;
    },
  };
}

async function lookAtAll(deps: StandingWatchDeps, memory: Memory): Promise<void> {
  const { decided } = memory;
  memory.decided = new Set();
  try {
    memory.judged = await judgeAll(deps, { judged: memory.judged, decided });
  } catch (error) {
    for (const id of decided) memory.decided.add(id);
    throw error;
  }
}

/** Returns what was judged now or before, of all that there are. */
async function judgeAll(deps: StandingWatchDeps, before: Memory): Promise<Map<string, Judged>> {
  const collection = standingCollection(deps.store.documents);
  const judged = new Map<string, Judged>();
  let after: StandingApproval | null = null;
  for (;;) {
    const page: readonly ReadDocument<StandingApproval>[] = await collection.list({ after, countMax });
    if (page.length > 0 && after === null) await deps.metering.catchUp();
    for (const read of page) {
      const found = isDue(deps, read, before) ? await lookAt(deps, read) : before.judged.get(read.value.id);
      if (found) judged.set(read.value.id, found);
    }
    if (page.length < countMax) return judged;
    after = page.at(-1)?.value ?? null;
  }
}

/** Whether there may be something to tell. */
function isDue(
  deps: StandingWatchDeps,
  { value, version }: ReadDocument<StandingApproval>,
  { judged, decided }: Memory,
): boolean {
  const told = value.told ?? [];
  // Nothing is told after its end.
  if (told.includes('revoked') || (told.includes('used_up') && value.revoked === null)) return false;
  const before = judged.get(value.id);
  const policies = deps.policies();
  return (
    before === undefined ||
    before.version !== version ||
    before.policies !== policies.digest ||
    before.againAtMs <= deps.clock() ||
    decided.has(value.requestId) ||
    isUsedUp(deps, { id: value.id, times: before.times, rule: policies.asks().get(value.rule) })
  );
}

/** Tells what is news; null when another process has changed the standing approval meanwhile. */
async function lookAt(deps: StandingWatchDeps, read: ReadDocument<StandingApproval>): Promise<Judged | null> {
  const { store, clock, messagesOf } = deps;
  const { value, version } = read;
  const told = value.told ?? [];
  const agent = await store.agents.find(value.agentId);
  if (agent === null) return null;
  const { kind, ...judged } = await newsOf(deps, read, agent);
  if (kind === null || told.includes(kind)) return judged;
  const atMs = Math.trunc(clock());
  const givers = await findGivers(deps, value);
  const { writes, taken } = await messagesOf({ kind, approval: value, agent, givers, atMs });
  const put = standingCollection(store.documents).put({ ...value, told: [...told, kind] }, version);
  if ((await store.documents.write([put, ...writes], null)) === 'changed') taken();
  return null;
}

async function findGivers(
  { store }: StandingWatchDeps,
  { requestId, rule }: StandingApproval,
): Promise<readonly string[]> {
  const history = await store.requests.history(requestId);
  return history === null ? [] : giversOf(requestStateOf(history).votes, rule);
}

/** What is to be told next, if it has not been told; null when there is nothing. */
async function newsOf(
  deps: StandingWatchDeps,
  read: ReadDocument<StandingApproval>,
  agent: AgentRow,
): Promise<Judged & { readonly kind: StandingNewsKind | null }> {
  const { value, version } = read;
  const policies = deps.policies();
  const now = votesJudgedBy(policies);
  const nowMs = Math.trunc(deps.clock());
  const known = { version, policies: policies.digest, times: null, againAtMs: nowMs + againAfterMs };
  if (value.revoked !== null) return { ...known, kind: 'revoked' };
  const found = await judgeStanding(deps, read, { agent, ...now, nowMs, request: { ...noFields, ...value } });
  if ('ended' in found) return { ...known, kind: null };
  const endingMs = endingOf(found);
  const judged = {
    ...known,
    times: found.times,
    againAtMs: nowMs < endingMs ? Math.min(known.againAtMs, endingMs) : known.againAtMs,
  };
  if (value.told?.includes('given') !== true) return { ...judged, kind: 'given' };
  if (isUsedUp(deps, { ...found, rule: now.asks.get(found.rule.rule) }))
    return { ...judged, kind: 'used_up' };
  return { ...judged, kind: nowMs < endingMs ? null : 'ending' };
}

const noFields = { payload: {}, request: {} };

function isUsedUp(
  deps: StandingWatchDeps,
  { id, times, rule }: Pick<FoundStanding, 'id' | 'times'> & { readonly rule: RuleRequirement | undefined },
): boolean {
  if (times === null) return false;
  const used = usedOf(deps, id, rule);
  return used !== null && used >= times;
}

/** When it ends soon: an hour before its end, or when three quarters of a shorter time are over. */
function endingOf({ sinceMs, untilMs }: FoundStanding): number {
  return untilMs - Math.min(hourMs, (untilMs - sinceMs) / 4);
}
