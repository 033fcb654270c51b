// The one way in which something becomes of a request: read it once, judge what is asked on what was read, store the
// outcome only if nothing it rests on has changed meanwhile, else read and judge anew. INVARIANT: what is stored was judged
// on the request, the agent, the switches and the people as they are at that place of the record.

import type { ActivePolicies } from '../../../language/model/active-policies.ts';
import type { PayloadIssue } from '../../../language/model/decision.ts';
import { type PointNow, pointNow, seenPoint } from '../../agents/points/point.ts';
import type { GrantBasis } from '../../store/contract/grant-basis.ts';
import type { MetersRead, SettledEntryRow } from '../../store/contract/metering.ts';
import type { AgentRow, RequestEvent } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { type RowsRead, readPushedRows } from '../../tables/read-rows.ts';
import { meterPlaces } from '../metering/entry-rows.ts';
import type { Metering } from '../metering/metering.ts';
import { agentFacts } from '../record/agent-facts.ts';
import { recordTitle } from '../record/record.ts';
import type { RequestEvents, RequestNotice } from '../record/request-events.ts';
import { type RequestState, requestStateOf, withEvents } from '../record/request-state.ts';
import { recordedFacts } from './decide-again.ts';
import type { FindPeople, PersonNow } from './people-now.ts';
import { askedGroups } from './rights.ts';
import { type LastStepUp, lastStepUp, type StepUp } from './step-up.ts';
import type { SeenSwitches, SwitchesNow } from './switches-now.ts';
import { asOfNow, givers } from './votes-now.ts';

export interface DecisionsDeps {
  readonly store: Store;
  readonly policies: () => ActivePolicies;
  /** Milliseconds since 1970-01-01T00:00Z. */
  readonly clock: () => number;
  readonly switches: SwitchesNow;
  readonly findPeople: FindPeople;
  readonly metering: Pick<
    Metering,
    'note' | 'read' | 'settle' | 'settled' | 'withdraw' | 'report' | 'catchUp'
  >;
  readonly news?: RequestEvents;
}

export type Changed =
  | {
      readonly kind: 'changed';
      readonly state: RequestState;
      readonly agent: AgentRow;
      /** Why it is stopped; null where nothing stops it. */
      readonly stopped: string | null;
    }
  | { readonly kind: 'unknown' }
  /** It is not in a state in which this could be done; one sentence in lower case. */
  | { readonly kind: 'conflict'; readonly detail: string }
  | { readonly kind: 'not-allowed'; readonly detail: string }
  /** An operator has stopped what the request asks for, or the enforcement point by which it came. */
  | { readonly kind: 'stopped'; readonly detail: string }
  /** What is said of the result is not of the shape that its action declares. */
  | { readonly kind: 'invalid-result'; readonly issues: readonly PayloadIssue[] }
  /** Several groups are asked that the person belongs to. */
  | { readonly kind: 'which-group'; readonly groups: readonly string[] };

export type RefusedChange = Exclude<Changed, { readonly kind: 'changed' }>;

export type Events = readonly Omit<RequestEvent, 'requestId'>[];

/** What was read to judge on. */
export interface Seen {
  /** With its votes as of now. */
  readonly state: RequestState;
  readonly agent: AgentRow;
  /** The enforcement point by which it came; null where the agent asked by itself. */
  readonly point: PointNow | null;
  /** Everybody who has given a vote or stepped up, and who asks now. */
  readonly people: ReadonlyMap<string, PersonNow>;
  /** The agent's last; null where there is none that counts, or the request does not wait. */
  readonly lastStepUp: StepUp | null;
  /** The pushed rows that are read today; null where there are none, or the request does not wait. */
  readonly rows: RowsRead | null;
  /** Why a kill switch, or what has become of the enforcement point, stops it; null where nothing does. */
  readonly stopped: string | null;
  readonly nowMs: number;
}

export interface ChangeRequest {
  readonly id: string;
  /** Who asks, where the outcome depends on who they are now. */
  readonly asker: string | null;
  readonly judge: (seen: Seen) => Promise<Events | RefusedChange | 'nothing'>;
  /** How entries of the request in meters stand from then on. */
  readonly entries?: (state: RequestState) => readonly SettledEntryRow[];
  /** Once it is stored; ends or counts the wait in the meters unless said otherwise. */
  readonly follow?: (events: Events, state: RequestState) => void;
}

/** Tries of one change: each follows a change by somebody else, and more than can come between. */
const triesMax = 50;

export async function changeRequest(deps: DecisionsDeps, change: ChangeRequest): Promise<Changed> {
  for (let tries = 0; tries < triesMax; tries += 1) {
    const read = await readRequest(deps, change);
    if (read === null) return { kind: 'unknown' };
    const { seen, basis } = read;
    const meters = await metersNow(deps, seen);
    const { state, agent, stopped } = seen;
    const events = await change.judge(seen);
    if (events === 'nothing') return { kind: 'changed', state, agent, stopped };
    if ('kind' in events) return events;
    const result = await deps.store.requests.change({
      requestId: change.id,
      events,
      from: [state.status],
      seen: state.seen,
      basis,
      meters,
      entries: change.entries?.(state),
    });
    if (result === 'unknown-request') return { kind: 'unknown' };
    if (result === 'changed') {
      if (change.follow === undefined) settle(deps, change.id, events);
      else change.follow(events, state);
      const after = withEvents(state, events);
      emitNews(deps, after, state);
      return { kind: 'changed', state: after, agent, stopped };
    }
    if (result === 'basis-changed') await deps.switches.lookAgain();
  }
  throw new Error(`the request \`${change.id}\` changes all the time`);
}

/** The meters on which a decision of now rests, where others may have entered them; read only after this. */
async function metersNow(
  { metering, policies }: DecisionsDeps,
  { state: { status, record } }: Seen,
): Promise<MetersRead | undefined> {
  if (status !== 'pending') return undefined;
  const places = meterPlaces(policies().entriesRecorded(recordedFacts(record)) ?? []);
  return places.length === 0 ? undefined : { places, position: await metering.catchUp() };
}

interface Read {
  readonly seen: Seen;
  readonly basis: GrantBasis;
}

/** One read of the request and one of its agent; null where there is no such request. */
export async function readRequest(
  deps: DecisionsDeps,
  { id, asker }: Pick<ChangeRequest, 'id' | 'asker'>,
): Promise<Read | null> {
  const { store, policies, clock, findPeople } = deps;
  const switches = await deps.switches.seen();
  const history = await store.requests.history(id);
  const agent = history === null ? null : await store.agents.find(history.row.agentId);
  if (history === null || agent === null) return null;
  const state = requestStateOf(history);
  const people = await findPeople([...new Set([...givers(state), ...(asker === null ? [] : [asker])])]);
  const isPending = state.status === 'pending';
  const stepUp = isPending ? await lastStepUp({ documents: store.documents, findPeople }, agent) : null;
  const point = await pointOf(deps, state);
  const active = policies();
  const facts = { ...recordedFacts(state.record), agent: agentFacts(agent), nowMs: Math.trunc(clock()) };
  const rows = isPending
    ? await readPushedRows(store.documents, active, { facts, by: 'decideRecorded' })
    : null;
  const seen: Seen = {
    state: asOfNow(state, { people, agent, asks: active.asks() }),
    agent,
    point,
    people,
    lastStepUp: stepUp,
    rows,
    stopped: stoppedBy(switches, state, agent) ?? point?.stopped ?? null,
    nowMs: Math.trunc(clock()),
  };
  return {
    seen,
    basis: basisOf(seen, { generation: switches.generation, stepUp, policies: active.digest }),
  };
}

function basisOf(
  { agent, people, point, rows }: Seen,
  {
    generation,
    stepUp,
    policies,
  }: { readonly generation: number; readonly stepUp: LastStepUp | null; readonly policies: string },
): GrantBasis {
  const givers = [...people.values()].map((person) => person.seen);
  return {
    agentId: agent.id,
    agentVersion: agent.version,
    keyNotAfterMs: null,
    switchGeneration: generation,
    policies,
    documents: [
      ...givers,
      ...(stepUp === null ? [] : [stepUp.seen]),
      ...(point === null ? [] : [seenPoint(point)]),
      ...(rows?.seen ?? []),
    ],
  };
}

/** Reads several requests for a list; nothing is granted on this. */
export async function lookAtAll(
  deps: DecisionsDeps,
  states: readonly RequestState[],
): Promise<readonly Seen[]> {
  const switches = await deps.switches.seen();
  const people = await deps.findPeople([...new Set(states.flatMap(givers))]);
  const agents = new Map<string, AgentRow>();
  for (const id of new Set(states.map(({ record }) => record.agentId))) {
    const agent = await deps.store.agents.find(id);
    if (agent !== null) agents.set(id, agent);
  }
  const points = await pointsOf(deps, states);
  const asks = deps.policies().asks();
  return states.flatMap((state) => {
    const agent = agents.get(state.record.agentId);
    if (agent === undefined) return [];
    const point = points.get(pointPlace(state)) ?? null;
    return {
      state: asOfNow(state, { people, agent, asks }),
      agent,
      point,
      people,
      lastStepUp: null,
      rows: null,
      stopped: stoppedBy(switches, state, agent) ?? point?.stopped ?? null,
      nowMs: Math.trunc(deps.clock()),
    };
  });
}

async function pointOf({ store }: DecisionsDeps, { record }: RequestState): Promise<PointNow | null> {
  return record.point === undefined ? null : await pointNow(store.documents, record.point, record.agentId);
}

/** By `pointPlace`: many requests of a list come by one point. */
async function pointsOf(deps: DecisionsDeps, states: readonly RequestState[]) {
  const points = new Map<string, PointNow | null>();
  for (const state of states) {
    const place = pointPlace(state);
    if (!points.has(place)) points.set(place, await pointOf(deps, state));
  }
  return points;
}

function pointPlace({ record: { point, agentId } }: RequestState): string {
  return point === undefined ? '' : `${point.id} ${agentId}`;
}

function stoppedBy(switches: SeenSwitches, { record }: RequestState, agent: AgentRow): string | null {
  const { actionKey } = record;
  const found = switches.stoppedBy({ agentId: agent.id, tier: agent.riskTier, actionKey });
  return found === null ? null : stoppedText;
}

/** What agents read, whatever the operator's reason: that is for people, who read it above every page. */
export const stoppedText = 'an operator has stopped this';

/** A wait that has ended leaves the meters, or counts in them from now on. */
function settle({ metering }: DecisionsDeps, id: string, events: Events): void {
  const state = events.at(-1)?.state;
  if (state?.status === 'approved') metering.settle(id, state.decidedAtMs);
  else if (state?.status === 'rejected' || state?.status === 'withdrawn') metering.settle(id, null);
}

/** Emits what the change means for listeners; people who were asked before are not notified again. */
function emitNews({ news, clock }: DecisionsDeps, state: RequestState, before: RequestState): void {
  const { record, status } = state;
  const isPending = status === 'pending';
  const groups = isPending ? askedGroups(state.decision) : [];
  const asksStepUp = isPending && state.decision.requires?.reauth != null;
  const hasAskedStepUp = before.decision.requires?.reauth != null;
  const isAsBefore = groups.join() === askedGroups(before.decision).join() && (!asksStepUp || hasAskedStepUp);
  const said = state.said.length > before.said.length ? saidNow(state) : null;
  if (isPending && isAsBefore && said === null) return;
  news?.emit({
    kind: said !== null ? 'commented' : isPending ? 'pending' : 'decided',
    requestId: record.id,
    agentId: record.agentId,
    actionKey: record.actionKey,
    title: recordTitle(record),
    status,
    groups,
    asksStepUp,
    said,
    atMs: Math.trunc(clock()),
  });
}

/** What was said last, and to whom it may be an answer. */
function saidNow({ said }: RequestState): NonNullable<RequestNotice['said']> | null {
  const last = said.at(-1);
  if (last === undefined) return null;
  const askers = said.flatMap(({ kind, person }) => (kind === 'question' ? [person] : []));
  return { kind: last.kind, askers: [...new Set(askers)] };
}
