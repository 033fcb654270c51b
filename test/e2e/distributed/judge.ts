// Compares the replies with what is stored. The chain is read from its beginning, and at each record the
// judge knows what was spent, who was revoked, what was stopped and which policies were active. INVARIANT:
// each kind of fault that is looked for is one line.

import { standingId } from '../../../src/service/requests/approvals/standing-approval.ts';
import type { ChainEntry } from '../../../src/service/store/contract/chain.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { fallbackRule } from './fallbacks.ts';
import { pairRule } from './stand-ins.ts';
import type { Told } from './told.ts';
import { budget, type History, type Stop } from './world.ts';

export interface Verdict {
  readonly faults: readonly string[];
  readonly decisions: number;
  readonly granted: number;
  /** The smallest share used of any budget that was under pressure. */
  readonly usedLeast: number;
  /** Numbers of requests that people ended. */
  readonly ended: Readonly<Record<Ended, number>>;
  /** The number of grants whose agents reported an outcome. */
  readonly consumed: number;
  /** Standing approvals: how many requests used them, how many were used up, and how many were revoked. */
  readonly standing: { readonly used: number; readonly usedUp: number; readonly revoked: number };
  /** Plans: how many were submitted, how many of their steps were executed, and how many were over before. */
  readonly plans: { readonly submitted: number; readonly executed: number; readonly over: number };
  /** How many requests asked their fallback, and how many of those the fallback granted. */
  readonly fallbacks: { readonly asked: number; readonly granted: number };
  /** Stand-ins: how many votes were given in the place of another, and how many grants rest on one. */
  readonly standIns: { readonly votes: number; readonly granted: number };
  /** How many reminders were sent. */
  readonly reminded: number;
  /** The number of grants by a step-up. */
  readonly steppedUp: number;
  readonly outcomes: ReadonlyMap<string, number>;
  readonly fromMs: number;
  readonly untilMs: number;
}

type Ended = 'approved' | 'rejected' | 'expired';

interface Stored {
  readonly payload: { readonly amount: number; readonly vendor?: string };
  readonly plan?: { readonly id: string };
  readonly request: { readonly session?: string };
  readonly satisfied?: { readonly standing?: Readonly<Record<string, string>> };
  readonly meters: { readonly spent?: { readonly low?: string; readonly high?: string } };
  readonly policySet: { readonly digest: string };
}

/** A vote, with the standing approval that it chose. */
interface StoredVote {
  readonly person?: string;
  readonly group?: string | null;
  readonly standsInFor?: { readonly id: string };
  readonly rules?: readonly { readonly id: string }[];
  readonly standing?: { readonly rules: readonly { readonly rule: string; readonly times: number | null }[] };
}

interface Walk {
  /** How often each standing approval may be used, and how often it has been. */
  readonly standing: Map<string, { readonly times: number; used: number }>;
  readonly revokedStanding: Set<string>;
  /** The requests of each submitted plan, as its record names them. */
  readonly plans: Map<string, readonly string[]>;
  /** The plan and the vendor of each request that belongs to a plan. */
  readonly steps: Map<string, { readonly plan: string; readonly vendor: string | undefined }>;
  /** When each approval of a step ends. */
  readonly ends: Map<string, number>;
  /** The steps that were executed. */
  readonly taken: Set<string>;
  /** The standing approval that a granted request used. */
  readonly under: Map<string, string>;
  /** The requests that have asked their fallback. */
  readonly fallbacks: Set<string>;
  /** The stand-ins that count now, by id. */
  readonly standIns: Map<string, StoredStandIn>;
  /** The approvals of each request, the latest of each person. */
  readonly approvals: Map<string, Map<string, StoredVote>>;
  /** Requests that were granted with an approval of a stand-in. */
  readonly byStandIn: Set<string>;
  /** Who was reminded of which request, in which of its times. */
  readonly reminded: Set<string>;
  readonly spent: Map<string, number>;
  readonly revoked: Set<string>;
  readonly switches: Set<string>;
  readonly keys: Map<string, string>;
  readonly ids: Map<string, string>;
  /** The outcome of each request that waited. */
  readonly ended: Map<string, Ended>;
  /** The deadline of each request that waited. */
  readonly deadlines: Map<string, number>;
  readonly consumed: Map<string, boolean>;
  readonly outcomes: Map<string, number>;
  firstMs: number;
  latestMs: number;
  granted: number;
  /** The agents of the requests that waited. */
  readonly agents: Map<string, string>;
  active: string | null;
  readonly faults: string[];
}

const chunk = 5_000;
/** A deadline that passes is recorded within this time. */
const sweptWithinMs = 2_000;

export async function judge({ chain }: Pick<Store, 'chain'>, history: History): Promise<Verdict> {
  const { told, votes, stops } = history;
  const walk: Walk = {
    standing: new Map(),
    revokedStanding: new Set(),
    plans: new Map(),
    steps: new Map(),
    ends: new Map(),
    taken: new Set(),
    under: new Map(),
    fallbacks: new Set(),
    standIns: new Map(),
    approvals: new Map(),
    byStandIn: new Set(),
    reminded: new Set(),
    spent: new Map(),
    revoked: new Set(),
    switches: new Set(),
    keys: new Map(),
    ids: new Map(),
    ended: new Map(),
    deadlines: new Map(),
    consumed: new Map(),
    outcomes: new Map(),
    firstMs: Number.POSITIVE_INFINITY,
    latestMs: 0,
    granted: 0,
    agents: new Map(),
    active: null,
    faults: [],
  };
  let decisions = 0;
  for (let after = 0; ; after += chunk) {
    const { records, lastSequence } = await chain.segment(after, chunk);
    for (const { entry } of records) {
      if (entry.kind === 'change') takeChange(walk, entry);
      if (entry.kind === 'request') takeRequest(walk, entry);
      if (entry.kind === 'event') takeEvent(walk, entry);
      if (entry.kind === 'request') decisions += 1;
    }
    if (after + chunk >= lastSequence) break;
  }
  const { faults, spent, ids, keys, ended } = walk;
  const isStopped = stopsOf(stops);
  const nonces = new Set<string>();
  const executed = new Set<string>();
  const revokedAtMs = new Map(history.revokedStanding.map(({ id, atMs }) => [id, atMs]));
  for await (const one of told) {
    if (one.id !== null && one.status === 200 && !ids.has(one.id))
      faults.push(`told and not stored: ${one.id}`);
    if (one.nonce !== null && one.status === 200) {
      if (nonces.has(one.nonce)) faults.push(`a nonce was good twice: ${one.id}`);
      nonces.add(one.nonce);
    }
    if (one.decision !== 'ALLOW') continue;
    if (one.step !== undefined) faults.push(...faultsOfExecution(walk, one, executed));
    else if (ids.get(one.id ?? '') !== 'auto_approved')
      faults.push(`told as granted and not stored so: ${one.id}`);
    if (one.key !== null && keys.get(`${one.agent} ${one.key}`) !== one.id)
      faults.push(`another request for its key: ${one.id}`);
    if (one.begunAtMs > (revokedAtMs.get(walk.under.get(one.id ?? '') ?? '') ?? Number.POSITIVE_INFINITY))
      faults.push(`granted after the reply that its standing approval was revoked: ${one.id}`);
    // A repeated idempotency key is answered with the earlier grant, even after a stop.
    const stop = one.key === null ? isStopped(one) : null;
    if (stop !== null) faults.push(`granted after the reply that it was ${stop.kind}: ${one.id}`);
  }
  for (const vote of votes) {
    const { id, said } = vote;
    if (said === null || said === 'pending') continue;
    if (ended.get(id) !== said) faults.push(`told as ${said}, stored as ${ended.get(id)}: ${id}`);
    const stop = said === 'approved' ? isStopped(vote) : null;
    if (stop !== null) faults.push(`granted by a vote after the reply that it was ${stop.kind}: ${id}`);
  }
  const shared = [...spent].filter(([session]) => session.startsWith('shared-'));
  const full = shared.map(([, sum]) => sum / budget);
  faults.push(...faultsOfDetails(walk, history), ...faultsOfPlans(walk, history));
  const words = [...ended.values()];
  const standing = [...walk.standing.values()];
  const count = (word: Ended) => words.filter((one) => one === word).length;
  return {
    faults,
    decisions,
    granted: walk.granted,
    usedLeast: Math.min(...full),
    ended: { approved: count('approved'), rejected: count('rejected'), expired: count('expired') },
    consumed: walk.consumed.size,
    standing: {
      used: walk.under.size,
      usedUp: standing.filter(({ times, used }) => used === times).length,
      revoked: walk.revokedStanding.size,
    },
    plans: {
      submitted: walk.plans.size,
      executed: walk.taken.size,
      over: [...walk.ends.keys()].filter((id) => !walk.taken.has(id)).length,
    },
    fallbacks: {
      asked: walk.fallbacks.size,
      granted: [...walk.fallbacks].filter((id) => ended.get(id) === 'approved').length,
    },
    standIns: {
      votes: [...walk.approvals.values()].flatMap((one) => [...one.values()]).filter(isOfStandIn).length,
      granted: walk.byStandIn.size,
    },
    reminded: walk.reminded.size,
    steppedUp: history.proofs.filter(({ granted }) => granted.length > 0).length,
    outcomes: walk.outcomes,
    fromMs: walk.firstMs,
    untilMs: walk.latestMs + 1,
  };
}

interface Asked {
  readonly agent: string;
  readonly begunAtMs: number;
  readonly endedAtMs: number;
}

/**
 * Finds the stop that lasted for the whole time of a request; null when there is none. Many stops and even
 * more requests are compared.
 */
function stopsOf(stops: readonly Stop[]): (asked: Asked) => Stop | null {
  const revoked = new Map(stops.filter(({ kind }) => kind === 'revoked').map((stop) => [stop.subject, stop]));
  // One switch is turned off before the next is turned on.
  const switched = stops.filter(({ kind }) => kind === 'switched').sort((a, b) => a.fromMs - b.fromMs);
  return ({ agent, begunAtMs, endedAtMs }) => {
    const isWithin = ({ fromMs, untilMs }: Stop) => begunAtMs > fromMs && endedAtMs < untilMs;
    const [first, last] = [revoked.get(agent), latestBefore(switched, begunAtMs)];
    if (first !== undefined && isWithin(first)) return first;
    return last !== undefined && isWithin(last) ? last : null;
  };
}

function latestBefore(sorted: readonly Stop[], atMs: number): Stop | undefined {
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sorted[middle]!.fromMs < atMs) low = middle + 1;
    else high = middle;
  }
  return sorted[low - 1];
}

/** Faults in the outcomes that agents reported, in the use of codes, and in deadlines. */
function faultsOfDetails(walk: Walk, { outcomes, proofs }: History): readonly string[] {
  const { consumed, ended, deadlines, latestMs } = walk;
  const faults: string[] = [];
  for (const { id, executed, isTaken } of outcomes)
    if (isTaken && consumed.get(id) !== executed)
      faults.push(`told that it was ${executed ? '' : 'not '}used, stored otherwise: ${id}`);
  for (const { granted } of proofs)
    for (const id of granted)
      if (ended.get(id) !== 'approved') faults.push(`told as granted by a step-up and not stored so: ${id}`);
  for (const [code, shown] of Map.groupBy(proofs, ({ person, step }) => `${step} of ${person}`)) {
    const stepped = shown.flatMap(({ requests }) => requests).filter((id) => ended.get(id) === 'approved');
    if (stepped.length > 1) faults.push(`code ${code} was good twice: ${stepped}`);
  }
  for (const [id, deadlineMs] of deadlines)
    if (!ended.has(id) && deadlineMs + sweptWithinMs < latestMs)
      faults.push(`its deadline has passed and no record says so: ${id}`);
  return faults;
}

/** Faults in the reply that a step of a plan may be executed. */
function faultsOfExecution(
  { steps, taken }: Walk,
  { id, step }: Told,
  executed: Set<string>,
): readonly string[] {
  const stored = steps.get(id ?? '');
  if (id === null || stored === undefined) return [`executed what no plan had: ${id}`];
  const isAgain = executed.has(id);
  executed.add(id);
  return [
    ...(stored.vendor === step ? [] : [`executed something else than was approved: ${id}`]),
    ...(taken.has(id) ? [] : [`told as executed and not stored so: ${id}`]),
    ...(isAgain ? [`executed twice: ${id}`] : []),
  ];
}

/** Faults in what is stored of plans: each is whole, and is what the reply said. */
function faultsOfPlans({ plans, steps }: Walk, { plans: told }: History): readonly string[] {
  const faults: string[] = [];
  const stored = Map.groupBy(steps, ([, { plan }]) => plan);
  for (const [id, requests] of plans)
    if (requests.length !== stored.get(id)?.length || requests.some((one) => steps.get(one)?.plan !== id))
      faults.push(`not all steps of a plan are stored: ${id}`);
  for (const id of stored.keys()) if (!plans.has(id)) faults.push(`steps without a plan: ${id}`);
  for (const { id, twin, requests } of told) {
    if (plans.get(id)?.join() !== requests.join()) faults.push(`a plan is told and not stored so: ${id}`);
    if (id !== twin) faults.push(`an idempotency key made two plans: ${id}`);
  }
  return faults;
}

function takeChange(walk: Walk, entry: ChainEntry): void {
  const { revoked, switches } = walk;
  const subject = String(entry.subject);
  if (entry.what === 'agent-revoked') revoked.add(subject);
  if (entry.what === 'stand-in-confirmed')
    walk.standIns.set(subject, JSON.parse(String(entry.after_json)) as StoredStandIn);
  if (entry.what === 'stand-in-ended') walk.standIns.delete(subject);
  if (entry.what === 'standing-approval-revoked') walk.revokedStanding.add(subject);
  if (entry.what === 'plan-submitted') {
    const { steps } = JSON.parse(String(entry.after_json)) as {
      readonly steps: readonly { readonly request: string | null }[];
    };
    walk.plans.set(
      subject,
      steps.flatMap(({ request }) => request ?? []),
    );
  }
  if (entry.what === 'kill-switch-created') switches.add(subject);
  if (entry.what === 'kill-switch-deactivated') switches.delete(subject);
  if (entry.what === 'policies-activated')
    walk.active = (JSON.parse(String(entry.after_json)) as { readonly digest: string }).digest;
}

function takeEvent(walk: Walk, entry: ChainEntry): void {
  const { revoked, switches, ended, agents, consumed, deadlines, faults } = walk;
  const id = String(entry.request_id);
  const { status } = entry;
  walk.latestMs = Math.max(walk.latestMs, Number(entry.at_ms));
  if (entry.what === 'consumed') {
    if (consumed.has(id)) faults.push(`record ${entry.sequence}: it is said twice what became of ${id}`);
    consumed.set(id, (JSON.parse(String(entry.detail_json)) as { readonly executed: boolean }).executed);
  }
  if (entry.what === 'fallback-asked') {
    if (walk.fallbacks.has(id)) faults.push(`record ${entry.sequence}: asked its fallback twice`);
    walk.fallbacks.add(id);
  }
  if (entry.what === 'approved') takeVote(walk, entry);
  if (entry.what === 'decided' && status === 'approved') takePair(walk, entry);
  if (entry.what === 'reminded') takeReminder(walk, entry);
  if (entry.what === 'taken') takeStep(walk, entry);
  if (status !== 'approved' && status !== 'rejected' && status !== 'expired') return;
  const before = ended.get(id);
  if (before !== undefined && (before !== status || entry.what === 'expired'))
    faults.push(`record ${entry.sequence}: ${status} after it was ${before}`);
  const isLate = Number(entry.at_ms) >= (deadlines.get(id) ?? Number.POSITIVE_INFINITY);
  if (before === undefined && status === 'approved' && isLate)
    faults.push(`record ${entry.sequence}: granted after its deadline`);
  ended.set(id, status);
  if (status === 'approved' && walk.steps.has(id)) walk.ends.set(id, Number(entry.expires_ms));
  if (before !== undefined || status !== 'approved') return;
  if (revoked.has(agents.get(id) ?? '')) faults.push(`record ${entry.sequence}: granted to a revoked agent`);
  if (switches.size > 0) faults.push(`record ${entry.sequence}: granted by a vote while stopped`);
}

interface StoredStandIn {
  readonly person: string;
  readonly stand_in: string;
  readonly group: string;
}

function isOfStandIn({ standsInFor }: StoredVote): boolean {
  return standsInFor !== undefined;
}

/** Whether the vote is the person's own, or that of a stand-in who counts now. */
function isRightful(
  { standIns }: Pick<Walk, 'standIns'>,
  { person, group, standsInFor }: StoredVote,
): boolean {
  if (standsInFor === undefined) return true;
  return [...standIns.values()].some(
    (one) =>
      one.stand_in === person &&
      one.person === standsInFor.id &&
      // The text of a group with a fallback begins with the group.
      group?.startsWith(one.group) === true,
  );
}

/** Two people are needed; a person and their stand-in are one. */
function takePair({ approvals, standIns, byStandIn, faults }: Walk, entry: ChainEntry): void {
  const id = String(entry.request_id);
  const { satisfied } = JSON.parse(String(entry.detail_json ?? '{}')) as {
    readonly satisfied?: { readonly escalate: readonly string[] };
  };
  if (satisfied?.escalate.includes(pairRule) !== true) return;
  const counting = [...(approvals.get(id) ?? new Map()).values()].filter((one) =>
    isRightful({ standIns }, one),
  );
  const places = new Set(counting.map(({ person, standsInFor }) => standsInFor?.id ?? person));
  if (places.size < 2) faults.push(`record ${entry.sequence}: granted by ${places.size} of two people`);
  if (counting.some(isOfStandIn)) byStandIn.add(id);
}

function takeReminder({ reminded, faults }: Walk, entry: ChainEntry): void {
  const { askingTime, told } = JSON.parse(String(entry.detail_json)) as {
    readonly askingTime: number;
    readonly told: readonly string[];
  };
  for (const person of told) {
    const name = `${entry.request_id} ${askingTime} ${person}`;
    if (reminded.has(name)) faults.push(`record ${entry.sequence}: reminded twice`);
    reminded.add(name);
  }
}

function takeVote(walk: Walk, entry: ChainEntry): void {
  const { standing, fallbacks, approvals, faults } = walk;
  const vote = JSON.parse(String(entry.detail_json)) as StoredVote;
  const { standing: chosen, rules = [] } = vote;
  const votes = approvals.get(String(entry.request_id)) ?? new Map();
  approvals.set(String(entry.request_id), votes.set(vote.person ?? '', vote));
  if (!isRightful(walk, vote)) faults.push(`record ${entry.sequence}: approved by no stand-in`);
  if (rules.some(({ id }) => id === fallbackRule) && !fallbacks.has(String(entry.request_id)))
    faults.push(`record ${entry.sequence}: approved by a fallback that was not asked`);
  for (const { rule, times } of chosen?.rules ?? []) {
    const id = standingId(String(entry.request_id), rule);
    standing.set(id, { times: times ?? Number.POSITIVE_INFINITY, used: 0 });
  }
}

/** A step of a plan is executed once, after its approval, and before that ends. */
function takeStep({ ends, taken, ended, agents, revoked, switches, faults }: Walk, entry: ChainEntry): void {
  const id = String(entry.request_id);
  const reasons = {
    'executed twice': taken.has(id),
    'executed without an approval': ended.get(id) !== 'approved',
    'executed after its approval had ended': Number(entry.at_ms) >= (ends.get(id) ?? 0),
    'executed by a revoked agent': revoked.has(agents.get(id) ?? ''),
    'executed while stopped': switches.size > 0,
  };
  for (const [reason, holds] of Object.entries(reasons))
    if (holds) faults.push(`record ${entry.sequence}: ${reason}`);
  taken.add(id);
}

/** A request that was granted under standing approvals uses each once. */
function takeUses(
  { standing, revokedStanding, under, faults }: Walk,
  entry: ChainEntry,
  ids: readonly string[],
) {
  for (const id of ids) {
    const approval = standing.get(id);
    under.set(String(entry.id), id);
    if (approval === undefined) faults.push(`record ${entry.sequence}: granted under what nobody approved`);
    else approval.used += 1;
    if (approval !== undefined && approval.used > approval.times)
      faults.push(`record ${entry.sequence}: use ${approval.used} of ${approval.times}`);
    if (revokedStanding.has(id))
      faults.push(`record ${entry.sequence}: granted under a revoked standing approval`);
  }
}

function takeRequest(walk: Walk, entry: ChainEntry): void {
  const { spent, revoked, switches, keys, ids, faults } = walk;
  const id = String(entry.id);
  const createdMs = Number(entry.created_ms);
  walk.firstMs = Math.min(walk.firstMs, createdMs);
  walk.latestMs = Math.max(walk.latestMs, createdMs);
  walk.outcomes.set(String(entry.outcome), (walk.outcomes.get(String(entry.outcome)) ?? 0) + 1);
  if (entry.status === 'pending') {
    walk.deadlines.set(id, Number(entry.expires_ms));
    walk.agents.set(id, String(entry.agent_id));
  }
  const record = JSON.parse(String(entry.record_json)) as Stored;
  const { session = '' } = record.request;
  if (record.plan !== undefined) walk.steps.set(id, { plan: record.plan.id, vendor: record.payload.vendor });
  const isGranted = entry.status === 'auto_approved';
  const standing = Object.values(record.satisfied?.standing ?? {});
  if (isGranted) takeUses(walk, entry, standing);
  const isBudgeted = isGranted && standing.length === 0;
  const before = spent.get(session) ?? 0;
  const after = before + record.payload.amount;
  const { low, high } = record.meters.spent ?? {};
  if (high !== undefined && (high !== String(after) || low !== high))
    faults.push(`record ${entry.sequence}: read ${low} to ${high} where ${after} is right`);
  if (isBudgeted && high === undefined) faults.push(`record ${entry.sequence}: granted without a reading`);
  if (isBudgeted) spent.set(session, after);
  if (isGranted) walk.granted += 1;
  if (isBudgeted && after > budget) faults.push(`record ${entry.sequence}: ${after} of ${budget}`);
  if (revoked.has(String(entry.agent_id)))
    faults.push(`record ${entry.sequence}: decided for a revoked agent`);
  if (isGranted && switches.size > 0) faults.push(`record ${entry.sequence}: granted while stopped`);
  if (record.policySet.digest !== walk.active)
    faults.push(`record ${entry.sequence}: decided by another set`);
  if (ids.has(id)) faults.push(`record ${entry.sequence}: its id is there twice`);
  ids.set(id, String(entry.status));
  if (entry.idempotency_key === null) return;
  const key = `${entry.agent_id} ${entry.idempotency_key}`;
  if (keys.has(key)) faults.push(`record ${entry.sequence}: its idempotency key made two requests`);
  keys.set(key, id);
}
