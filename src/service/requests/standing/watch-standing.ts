// Finds what is news about standing approvals: that one was given, that its last use was taken, that it ends soon,
// or that somebody revoked it. INVARIANT: what was told is stored together with the messages about it, so of
// several processes one tells of each, once.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { RuleRequirement } from '../../../language/model/rule-requirement.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentPut } from '../../store/contract/documents.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import type { FindPeople } from '../approvals/current-person.ts';
import { type FoundStanding, giversOf, judgeStanding } from '../approvals/find-standing.ts';
import {
  type StandingApproval,
  type StandingNewsKind,
  standingCollection,
} from '../approvals/standing-approval.ts';
import type { Metering } from '../metering/metering.ts';
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

export function watchStanding(deps: StandingWatchDeps): StandingWatch {
  let timer: NodeJS.Timeout | null = null;
  let work: Promise<void> = Promise.resolve();
  let isClosed = false;
  const look = (): Promise<void> => {
    work = work.then(async () => {
      if (!isClosed) await lookAtAll(deps).catch(deps.onFailure);
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

async function lookAtAll(deps: StandingWatchDeps): Promise<void> {
  const collection = standingCollection(deps.store.documents);
  let after: StandingApproval | null = null;
  for (;;) {
    const page: readonly ReadDocument<StandingApproval>[] = await collection.list({ after, countMax });
    if (page.length > 0 && after === null) await deps.metering.catchUp();
    for (const read of page) await lookAt(deps, read);
    if (page.length < countMax) return;
    after = page.at(-1)?.value ?? null;
  }
}

async function lookAt(deps: StandingWatchDeps, read: ReadDocument<StandingApproval>): Promise<void> {
  const { store, clock, messagesOf } = deps;
  const { value, version } = read;
  const told = value.told ?? [];
  // Nothing is told after its end.
  if (told.includes('revoked') || (told.includes('used_up') && value.revoked === null)) return;
  const agent = await store.agents.find(value.agentId);
  if (agent === null) return;
  const kind = await newsOf(deps, read, agent);
  if (kind === null || told.includes(kind)) return;
  const atMs = Math.trunc(clock());
  const givers = await findGivers(deps, value);
  const { writes, taken } = await messagesOf({ kind, approval: value, agent, givers, atMs });
  const put = standingCollection(store.documents).put({ ...value, told: [...told, kind] }, version);
  if ((await store.documents.write([put, ...writes], null)) === 'changed') taken();
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
): Promise<StandingNewsKind | null> {
  const { value } = read;
  if (value.revoked !== null) return 'revoked';
  const asks = deps.policies().asks();
  const nowMs = Math.trunc(deps.clock());
  const found = await judgeStanding(deps, read, { agent, asks, nowMs, request: { ...noFields, ...value } });
  if ('ended' in found) return null;
  if (value.told?.includes('given') !== true) return 'given';
  return isUsedUp(deps, found, asks) ? 'used_up' : isEnding(found, nowMs) ? 'ending' : null;
}

const noFields = { payload: {}, request: {} };

function isUsedUp(
  deps: StandingWatchDeps,
  { id, rule, times }: FoundStanding,
  asks: ReadonlyMap<string, RuleRequirement>,
): boolean {
  const used = usedOf(deps, id, asks.get(rule.rule));
  return used !== null && times !== null && used >= times;
}

/** An hour before its end, or when three quarters of a shorter time are over. */
function isEnding({ sinceMs, untilMs }: FoundStanding, nowMs: number): boolean {
  return untilMs - nowMs <= Math.min(hourMs, (untilMs - sinceMs) / 4);
}
