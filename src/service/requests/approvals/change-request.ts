// The only way in which a stored request changes, by optimistic concurrency: a handler decides on a snapshot
// of the request, and its events are stored only if the precondition, the versions of everything it read, still
// holds; otherwise the request is read and handled again. INVARIANT: what is stored was decided on the request,
// the agent, the switches and the people as they are at that position of the record.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { PayloadIssue } from '../../../language/model/decision.ts';
import type { Facts } from '../../../language/model/request.ts';
import { agentFacts } from '../../agents/agent-facts.ts';
import type { ChainDecider } from '../../agents/delegations/chain-decider.ts';
import { type CurrentChain, chainNow } from '../../agents/delegations/delegation.ts';
import { type ActingWorkload, identityNow, identityVersion } from '../../agents/identities/identity.ts';
import { type CurrentPoint, pointNow, pointVersion } from '../../agents/points/point.ts';
import type { DocumentVersion, GrantPrecondition } from '../../store/contract/grant-precondition.ts';
import type { MetersRead, SettledEntryRow } from '../../store/contract/metering.ts';
import type { AgentRow, RequestEvent } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { type RowsRead, readPushedRows, withRows } from '../../tables/read-rows.ts';
import { meterSeriesOf } from '../metering/entry-rows.ts';
import type { Metering } from '../metering/metering.ts';
import { recordTitle } from '../record/record.ts';
import type { RequestEvents, RequestNotice } from '../record/request-events.ts';
import { type RequestState, requestStateOf, withEvents } from '../record/request-state.ts';
import { votesJudgedBy } from './chat-votes.ts';
import { type CurrentPerson, type FindPeople, versionsOf } from './current-person.ts';
import { recordedFacts } from './decide-again.ts';
import { voters, withEffectiveVotes } from './effective-votes.ts';
import { type FoundStanding, recordedStanding } from './find-standing.ts';
import { approvalGroups, askedPeople } from './rights.ts';
import { type LastStepUp, lastStepUp, type StepUp } from './step-up.ts';

export interface RequestChangeDeps {
  readonly store: Store;
  readonly policies: () => ActivePolicies;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly switches: KillSwitchSource;
  readonly findPeople: FindPeople;
  readonly metering: Pick<
    Metering,
    'note' | 'read' | 'settle' | 'settled' | 'withdraw' | 'report' | 'catchUp'
  >;
  readonly requestEvents?: RequestEvents;
  /** Called when a call is reported without the result that its action declares. */
  readonly onUnknownResult?: (actionKey: string, fault: ResultFault) => void;
  /** Decides what comes by delegations; nothing when absent. */
  readonly chains?: ChainDecider;
}

/** Why the result of a reported call is unknown. */
export type ResultFault = 'missing' | 'oversized' | 'mistyped';

export type ChangeResult =
  | {
      readonly kind: 'changed';
      readonly state: RequestState;
      readonly agent: AgentRow;
      /** Why the request is stopped; null when nothing stops it. */
      readonly stopped: string | null;
    }
  | { readonly kind: 'unknown' }
  /** The request is in a state that does not allow the change; `detail` is one sentence in lower case. */
  | { readonly kind: 'conflict'; readonly detail: string }
  | { readonly kind: 'not-allowed'; readonly detail: string }
  /** An operator has stopped what the request asks for, or the enforcement point that sent the request. */
  | { readonly kind: 'stopped'; readonly detail: string }
  /** The reported result does not have the shape that the action declares. */
  | { readonly kind: 'invalid-result'; readonly issues: readonly PayloadIssue[] }
  /** The person belongs to several of the groups that are asked, and has to name one. */
  | { readonly kind: 'which-group'; readonly groups: readonly string[] };

export type RefusedChange = Exclude<ChangeResult, { readonly kind: 'changed' }>;

export type Events = readonly Omit<RequestEvent, 'requestId'>[];

/** The state that a change is decided on. */
export interface RequestSnapshot {
  /** The request, with its votes as they count now. */
  readonly state: RequestState;
  readonly agent: AgentRow;
  /** The enforcement point that sent the request; null when the agent sent it itself. */
  readonly point: CurrentPoint | null;
  /** The chain of delegations by which the request came; null when the agent sent it itself. */
  readonly chain: CurrentChain | null;
  /** The identity by which a call comes for the request, with version 0 once it has ended; absent for a key. */
  readonly workload?: Pick<ActingWorkload, 'id' | 'version'>;
  /** Everybody who has voted or stepped up, and the person who asks now. */
  readonly people: ReadonlyMap<string, CurrentPerson>;
  /** The agent's last step-up; null when none counts, or when nothing is decided. */
  readonly lastStepUp: StepUp | null;
  /**
   * The standing approvals under which the request was recorded, those that have not ended; none when nothing is
   * decided.
   */
  readonly standing: readonly FoundStanding[];
  /** The pushed rows that rules read today; null when there are none, or when nothing is decided. */
  readonly rows: RowsRead | null;
  /** Why a kill switch, or the state of the enforcement point or of a delegation, stops the request; null when nothing does. */
  readonly stopped: string | null;
  readonly nowMs: number;
}

export interface ChangeRequest {
  readonly id: string;
  /** The id of the person who asks, if the outcome depends on who they are now; null otherwise. */
  readonly asker: string | null;
  /** The facts of the call that comes for the request, and is decided itself; absent when none does. */
  readonly call?: Facts;
  /** The identity by which that call comes; absent when it comes by a key. */
  readonly workload?: Pick<ActingWorkload, 'id'> | undefined;
  readonly handler: (snapshot: RequestSnapshot) => Promise<Events | RefusedChange | 'nothing'>;
  /** Reads, before each attempt, the documents that the change rests on besides; absent when there are none. */
  readonly documents?: () => Promise<readonly DocumentVersion[] | RefusedChange>;
  /** How the request's entries in meters stand after the change. */
  readonly entries?: (state: RequestState) => readonly SettledEntryRow[];
  /** Called once the change is stored; when absent, the end of the wait is entered in the meters. */
  readonly afterCommit?: (events: Events, state: RequestState) => void;
}

/**
 * Attempts of one change. Each further attempt follows a concurrent change; more than this cannot occur in
 * practice.
 */
const maxAttempts = 50;

export async function changeRequest(deps: RequestChangeDeps, change: ChangeRequest): Promise<ChangeResult> {
  for (let attempts = 0; attempts < maxAttempts; attempts += 1) {
    const documents = (await change.documents?.()) ?? [];
    if ('kind' in documents) return documents;
    const read = await readRequest(deps, change);
    if (read === null) return { kind: 'unknown' };
    const { snapshot } = read;
    const precondition = { ...read.precondition, documents: [...read.precondition.documents, ...documents] };
    const meters = await metersNow(deps, snapshot, change.call);
    const { state, agent, stopped } = snapshot;
    const events = await change.handler(snapshot);
    if (events === 'nothing') return { kind: 'changed', state, agent, stopped };
    if ('kind' in events) return events;
    const result = await deps.store.requests.change({
      requestId: change.id,
      events,
      from: [state.status],
      seen: state.seen,
      precondition,
      meters,
      entries: change.entries?.(state),
    });
    if (result === 'unknown-request') return { kind: 'unknown' };
    if (result === 'changed') {
      if (change.afterCommit === undefined) settle(deps, change.id, events);
      else change.afterCommit(events, state);
      const after = withEvents(state, events);
      emitRequestEvent(deps, after, state);
      return { kind: 'changed', state: after, agent, stopped };
    }
    if (result === 'precondition-failed') await deps.switches.refresh();
  }
  throw new Error(`the request \`${change.id}\` changed during each attempt`);
}

/**
 * The meters that a decision made now rests on, and up to where the entries of other processes have been
 * taken in. Meters are read only after this. Undefined when nothing is decided, or no meters are read.
 */
async function metersNow(
  { metering, policies }: RequestChangeDeps,
  { state: { status, record }, rows }: RequestSnapshot,
  call: Facts | undefined,
): Promise<MetersRead | undefined> {
  if (status !== 'pending' && call === undefined) return undefined;
  const uses =
    call === undefined
      ? policies().entriesRecorded(recordedFacts(record))
      : policies().entries(withRows(call, rows));
  const series = meterSeriesOf(uses ?? []);
  return series.length === 0 ? undefined : { series, position: await metering.catchUp() };
}

interface LoadedRequest {
  readonly snapshot: RequestSnapshot;
  readonly precondition: GrantPrecondition;
}

/** Reads the request and its agent, each once; null when there is no such request. */
export async function readRequest(
  deps: RequestChangeDeps,
  { id, asker, call, workload }: Pick<ChangeRequest, 'id' | 'asker' | 'call' | 'workload'>,
): Promise<LoadedRequest | null> {
  const { store, policies, clock, findPeople } = deps;
  const switches = await deps.switches.current();
  const history = await store.requests.history(id);
  const agent = history === null ? null : await store.agents.find(history.row.agentId);
  if (history === null || agent === null) return null;
  const state = requestStateOf(history);
  const people = await findPeople([...new Set([...voters(state), ...(asker === null ? [] : [asker])])]);
  const isDecided = state.status === 'pending' || call !== undefined;
  const stepUp = isDecided ? await lastStepUp({ documents: store.documents, findPeople }, agent) : null;
  const point = await pointOf(deps, state);
  const chain = await chainOf(deps, state);
  const identity = workload === undefined ? null : await identityNow(store, workload.id);
  const caller = workload && { workload: { id: workload.id, version: identity?.version ?? 0 } };
  const active = policies();
  const moment = { agent, ...votesJudgedBy(active), nowMs: Math.trunc(clock()) };
  const standing = isDecided ? await recordedStanding(deps, state, moment) : [];
  const nowFacts = { agent: agentFacts(agent), nowMs: Math.trunc(clock()) };
  const decisionInput =
    call === undefined
      ? ({ facts: { ...recordedFacts(state.record), ...nowFacts }, by: 'decideRecorded' } as const)
      : ({ facts: { ...call, ...nowFacts }, by: 'decideTraced' } as const);
  const rows = isDecided ? await readPushedRows(store.documents, active, decisionInput) : null;
  const snapshot: RequestSnapshot = {
    state: withEffectiveVotes(state, { people, agent, ...votesJudgedBy(active) }),
    agent,
    point,
    chain,
    people,
    lastStepUp: stepUp,
    standing,
    rows,
    stopped: stoppedBy(switches, state, agent) ?? point?.stopped ?? chain?.stopped ?? null,
    nowMs: Math.trunc(clock()),
    ...caller,
  };
  return {
    snapshot,
    precondition: preconditionOf(snapshot, {
      generation: switches.generation,
      stepUp,
      policies: active.digest,
    }),
  };
}

function preconditionOf(
  { agent, people, point, chain, workload, standing, rows }: RequestSnapshot,
  {
    generation,
    stepUp,
    policies,
  }: { readonly generation: number; readonly stepUp: LastStepUp | null; readonly policies: string },
): GrantPrecondition {
  return {
    agentId: agent.id,
    agentVersion: agent.version,
    keyNotAfterMs: chain?.notAfterMs ?? null,
    switchGeneration: generation,
    policies,
    documents: [
      ...versionsOf(people),
      ...(stepUp === null ? [] : [stepUp.version]),
      ...standing.flatMap(({ documents }) => documents),
      ...(point === null ? [] : [pointVersion(point)]),
      ...(chain?.versions ?? []),
      ...(workload === undefined ? [] : [identityVersion(workload)]),
      ...(rows?.seen ?? []),
    ],
  };
}

/** Reads several requests for a list. Nothing is granted on what this returns. */
export async function loadMany(
  deps: RequestChangeDeps,
  states: readonly RequestState[],
): Promise<readonly RequestSnapshot[]> {
  const switches = await deps.switches.current();
  const people = await deps.findPeople([...new Set(states.flatMap(voters))]);
  const agents = new Map<string, AgentRow>();
  for (const id of new Set(states.map(({ record }) => record.agentId))) {
    const agent = await deps.store.agents.find(id);
    if (agent !== null) agents.set(id, agent);
  }
  const points = await pointsOf(deps, states);
  const chains = new Map<string, CurrentChain | null>();
  for (const state of states) {
    const id = chainPlace(state);
    if (!chains.has(id)) chains.set(id, await chainOf(deps, state));
  }
  const judged = votesJudgedBy(deps.policies());
  return states.flatMap((state) => {
    const agent = agents.get(state.record.agentId);
    if (agent === undefined) return [];
    const point = points.get(pointPlace(state)) ?? null;
    const chain = chains.get(chainPlace(state)) ?? null;
    return {
      state: withEffectiveVotes(state, { people, agent, ...judged }),
      agent,
      point,
      chain,
      people,
      lastStepUp: null,
      standing: [],
      rows: null,
      stopped: stoppedBy(switches, state, agent) ?? point?.stopped ?? chain?.stopped ?? null,
      nowMs: Math.trunc(deps.clock()),
    };
  });
}

async function pointOf({ store }: RequestChangeDeps, { record }: RequestState): Promise<CurrentPoint | null> {
  return record.point === undefined ? null : await pointNow(store.documents, record.point, record.agentId);
}

/**
 * The enforcement points of requests, by `pointPlace`. Many requests of a list come from one point, so each
 * point is read once.
 */
async function pointsOf(deps: RequestChangeDeps, states: readonly RequestState[]) {
  const points = new Map<string, CurrentPoint | null>();
  for (const state of states) {
    const pointKey = pointPlace(state);
    if (!points.has(pointKey)) points.set(pointKey, await pointOf(deps, state));
  }
  return points;
}

function pointPlace({ record: { point, agentId } }: RequestState): string {
  return point === undefined ? '' : `${point.id} ${agentId}`;
}

async function chainOf(
  { store, clock }: RequestChangeDeps,
  { record }: RequestState,
): Promise<CurrentChain | null> {
  const last = record.chain?.at(-1);
  return last === undefined ? null : await chainNow(store, last, Math.trunc(clock()));
}

/** The chain of a request; empty when the agent sent it itself. */
function chainPlace({ record: { chain } }: RequestState): string {
  return chain?.at(-1)?.id ?? '';
}

function stoppedBy(switches: KillSwitchSnapshot, { record }: RequestState, agent: AgentRow): string | null {
  const { actionKey } = record;
  const killSwitch = switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey });
  return killSwitch === null ? null : stoppedText;
}

/**
 * What agents read, whatever reason the operator gave. The reason is for people, who see it at the top of
 * every page.
 */
export const stoppedText = 'an operator has stopped this';

/** Takes a wait that has ended out of the meters, or counts it as granted from now on. */
function settle({ metering }: RequestChangeDeps, id: string, events: Events): void {
  const state = events.at(-1)?.state;
  if (state?.status === 'approved') metering.settle(id, state.decidedAtMs);
  else if (state?.status === 'rejected' || state?.status === 'withdrawn') metering.settle(id, null);
}

/** Emits what the change means for listeners. People who were already asked are not notified again. */
function emitRequestEvent(
  { requestEvents, clock }: RequestChangeDeps,
  state: RequestState,
  before: RequestState,
): void {
  const { record, status } = state;
  const isPending = status === 'pending';
  const isFallback = state.fallbacks.length > before.fallbacks.length;
  const isNew = (all: readonly string[]) => (one: string) => !isFallback || !all.includes(one);
  const groups = isPending
    ? approvalGroups(state.decision).filter(isNew(approvalGroups(before.decision)))
    : [];
  const people = isPending ? askedPeople(state.decision).filter(isNew(askedPeople(before.decision))) : [];
  const asksStepUp = isPending && state.decision.requires?.reauth != null;
  const hasAskedStepUp = before.decision.requires?.reauth != null;
  const areAsBefore =
    groups.join() === approvalGroups(before.decision).join() &&
    people.join() === askedPeople(before.decision).join();
  const isAsBefore = areAsBefore && (!asksStepUp || hasAskedStepUp);
  const comment = state.comments.length > before.comments.length ? newComment(state) : null;
  const reminder = state.reminders.length > before.reminders.length ? state.reminders.at(-1) : undefined;
  if (isPending && isAsBefore && comment === null && reminder === undefined) return;
  requestEvents?.emit({
    kind: reminder ? 'reminded' : comment !== null ? 'commented' : isPending ? 'pending' : 'decided',
    requestId: record.id,
    agentId: record.agentId,
    actionKey: record.actionKey,
    title: recordTitle(record),
    ...(record.plan && { plan: record.plan }),
    status,
    groups: reminder?.groups ?? groups,
    people: reminder?.people ?? people,
    asksStepUp: reminder?.asksStepUp ?? asksStepUp,
    comment,
    reminder: reminder ?? null,
    atMs: Math.trunc(clock()),
  });
}

/** What was said last, and who has asked questions that it may answer; null when nothing was said. */
function newComment({ comments }: RequestState): NonNullable<RequestNotice['comment']> | null {
  const last = comments.at(-1);
  if (last === undefined) return null;
  const askers = comments.flatMap(({ kind, person }) => (kind === 'question' ? [person] : []));
  return { kind: last.kind, askers: [...new Set(askers)] };
}

// The kill switches as the request path sees them, independent of how they are stored: which are on, and a
// number by which the store tells whether they have changed since.

export interface KillSwitchSource {
  /** Returns at once if the switches were read recently. Rejects if they cannot be read. */
  current(): KillSwitchSnapshot | Promise<KillSwitchSnapshot>;
  /** Reads the switches now, after the store has found a newer change. */
  refresh(): Promise<KillSwitchSnapshot>;
}

export interface KillSwitchSnapshot {
  readonly generation: number;
  /** Returns the kill switch that stops the action; null when none does. */
  readonly stoppedBy: (subject: StoppableAction) => object | null;
}

export interface StoppableAction {
  readonly agentId: string;
  readonly tier: AgentRow['riskTier'];
  readonly actionKey: string;
}
