// Tries a candidate on a log, in order: meters hold the candidate's grants, and people's answers count when
// it asks for them. INVARIANT: the set that decided the log, tried on it, repeats all decisions of the log.

import type { Decision } from '../../../language/model/decision.ts';
import type { MeterUse } from '../../../language/model/metering.ts';
import {
  type AgentFacts,
  type Facts,
  type MetRequirements,
  nothingSatisfied,
} from '../../../language/model/request.ts';
import type { ApprovalRule, RuleRequirement } from '../../../language/model/rule-requirement.ts';
import { decideLogged, type ReplayCandidate, type ReplayMeters, type ServiceRules } from './candidate.ts';
import {
  isOfOneStep,
  isWaiting,
  type LogEntry,
  type LoggedEvent,
  type LoggedEvents,
  type LoggedRequest,
} from './log.ts';
import { type IncompleteMeter, Readings } from './readings.ts';
import {
  approvedRules,
  courseStatusOf,
  forNothing,
  isAnsweredInLog,
  isApproval,
  latestOf,
  noteReadings,
  type ReplayedRequest,
  type ReplayedVote,
} from './replayed-request.ts';
import type { Tally } from './tally.ts';
import { hidesValues } from './withheld-values.ts';
import { countRequiredVotes, type Workload } from './workload.ts';

// Timers, the earliest first, in a binary heap.

interface Timer<T> {
  readonly atMs: number;
  readonly value: T;
}

/** A class, because every wait changes its state. */
class Timers<T> {
  readonly #heap: Timer<T>[] = [];

  add(atMs: number, value: T): void {
    const heap = this.#heap;
    let at = heap.length;
    const timer = { atMs, value };
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if (heap[parent]!.atMs <= atMs) break;
      heap[at] = heap[parent]!;
      at = parent;
    }
    heap[at] = timer;
  }

  /** Removes and returns the earliest timer that is due at `nowMs`; null when none is due. */
  take(nowMs: number): Timer<T> | null {
    const first = this.#heap[0];
    if (first === undefined || first.atMs > nowMs) return null;
    const last = this.#heap.pop()!;
    if (this.#heap.length > 0) this.#sink(last);
    return first;
  }

  #sink(timer: Timer<T>): void {
    const heap = this.#heap;
    let at = 0;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && heap[child + 1]!.atMs < heap[child]!.atMs) child += 1;
      if (heap[child]!.atMs >= timer.atMs) break;
      heap[at] = heap[child]!;
      at = child;
    }
    heap[at] = timer;
  }
}

/** A class, because its state follows the log. */
class StepUps {
  readonly #atMs = new Map<string, number>();

  note(agentId: string, atMs: number): void {
    this.#atMs.set(agentId, atMs);
  }

  /**
   * Ids of the asked rules that accept an earlier step-up and have a fresh one. If the log waited for a
   * step-up within some seconds, no step-up counted for that time, so neither does one for the same time or
   * less.
   */
  fresh(
    logged: LoggedRequest,
    requirements: readonly RuleRequirement[],
    isFirst: boolean,
  ): readonly string[] {
    const { facts, decision } = logged;
    const denied = isFirst ? (decision.requires?.reauth?.withinSeconds ?? 0) : 0;
    return requirements.flatMap((rule) => {
      if (rule.kind !== 'reauth' || rule.withinSeconds === null) return [];
      if (facts.satisfied.reauth.includes(rule.rule)) return [rule.rule];
      const isFresh = rule.withinSeconds > denied && this.#isWithin(logged, rule.withinSeconds);
      return isFresh ? [rule.rule] : [];
    });
  }

  #isWithin({ facts: { agent, nowMs } }: LoggedRequest, seconds: number): boolean {
    const atMs = this.#atMs.get(agent.id ?? '');
    return atMs !== undefined && atMs >= nowMs - seconds * 1_000;
  }
}

/** The rules that a standing approval satisfied in the log and that allow one still. */
function underStanding(
  { facts: { satisfied } }: LoggedRequest,
  asked: readonly RuleRequirement[],
): readonly string[] {
  const { standing = {} } = satisfied;
  return asked.flatMap((rule) =>
    rule.kind === 'approval' && rule.standing !== undefined && Object.hasOwn(standing, rule.rule)
      ? [rule.rule]
      : [],
  );
}

/** How the waits that the candidate starts end. */
export interface WaitEnds {
  /** Granted by answers that people gave. */
  granted: number;
  refused: number;
  /** Everybody whom the candidate asks was asked, and the time passed without an answer. */
  expired: number;
  /** Everybody whom the candidate asks was asked, and the log ends before they answer. */
  open: number;
  /** The candidate asks somebody who was not asked, or more people than were asked. */
  unknown: number;
}

export interface OrderedReplayOptions {
  readonly candidate: ReplayCandidate;
  readonly meters: ReplayMeters;
  readonly rules: ServiceRules;
  readonly tally: Tally;
  /** Milliseconds; requests before this moment are not counted, but fill the meters as in the log. */
  readonly sinceMs: number;
  /** Milliseconds; the log holds all grants from this moment on. */
  readonly completeSinceMs: number;
  /** Receives every decision: the first one of a request and those that follow. */
  readonly onDecision?: ((requestId: string, decision: Decision) => void) | undefined;
}

interface OrderedReplayResult {
  readonly waits: WaitEnds;
  readonly readingsRecorded: number;
  readonly incompleteMeters: readonly IncompleteMeter[];
}

interface PendingReplay {
  /** What the request adds to meters; null when its record does not tell. */
  readonly entries: readonly MeterUse[] | null;
  readonly decision: Decision;
  readonly incomplete?: readonly string[];
  /** Null when the request counts in meters alone. */
  readonly workloads: readonly Workload[] | null;
}

/** A class, because it holds the requests in progress. */
export class OrderedReplay {
  readonly #options: OrderedReplayOptions;
  readonly #requests = new Map<string, ReplayedRequest>();
  readonly #timers = new Timers<ReplayedRequest>();
  readonly #stepUps = new StepUps();
  readonly #readings: Readings;
  /** By id, the facts of each agent in its latest record. */
  readonly #agents = new Map<string, AgentFacts>();
  readonly #ends: WaitEnds = { granted: 0, refused: 0, expired: 0, open: 0, unknown: 0 };

  constructor(options: OrderedReplayOptions) {
    this.#options = options;
    this.#readings = new Readings(options.candidate, options.meters, options.completeSinceMs);
  }

  take(entry: LogEntry): void {
    switch (entry.kind) {
      case 'request':
        this.#advance(entry.facts.nowMs);
        this.#decide(entry);
        return;
      case 'events':
        this.#advance(entry.atMs);
        this.#follow(entry);
        return;
      case 'step-up':
        this.#stepUps.note(entry.agentId, entry.atMs);
    }
  }

  result(): OrderedReplayResult {
    const waits = { ...this.#ends };
    for (const replayed of this.#requests.values())
      if (replayed.status === 'waiting' && !replayed.isEarlier)
        waits[isAnsweredInLog(replayed) ? 'open' : 'unknown'] += 1;
    const { recorded: readingsRecorded } = this.#readings;
    return { waits, readingsRecorded, incompleteMeters: this.#readings.incomplete() };
  }

  #decide(logged: LoggedRequest): void {
    const { candidate, sinceMs, tally, onDecision } = this.#options;
    const { facts } = logged;
    if (facts.agent.id !== undefined) this.#agents.set(facts.agent.id, facts.agent);
    const entries = meterEntriesOf(candidate, logged);
    const uses = entries ?? [];
    this.#readings.pass(facts.nowMs);
    if (facts.nowMs < sinceMs) {
      this.#begin(logged, { entries, decision: logged.decision, workloads: null });
      return;
    }
    const at = { nowMs: facts.nowMs, requestId: logged.id, recorded: facts.meters };
    const { meters, incomplete } = this.#readings.read(uses, at);
    const requestFacts = { ...facts, meters, satisfied: nothingSatisfied };
    const { decision, facts: decidedOn } = this.#decideFirst(logged, requestFacts);
    onDecision?.(logged.id, decision);
    const workloads = tally.count(logged, { facts: decidedOn, decision, incomplete });
    // A withheld request keeps the log's decision: what was granted counts in meters, whatever the candidate
    // would decide.
    const begun = workloads === null ? { decision: logged.decision } : { decision, incomplete };
    this.#begin(logged, { entries, workloads, ...begun });
  }

  /** Decides a request for the first time, with the fresh step-ups that rules accept. */
  #decideFirst(logged: LoggedRequest, facts: Facts): { readonly decision: Decision; readonly facts: Facts } {
    const { candidate } = this.#options;
    const decision = decideLogged(candidate, logged, facts);
    if (!isWaiting(decision)) return { decision, facts };
    const asked = askedByRules(decision, candidate.asks);
    const reauth = this.#stepUps.fresh(logged, asked, true);
    const escalate = underStanding(logged, asked);
    if (reauth.length + escalate.length === 0) return { decision, facts };
    const satisfied = { ...facts, satisfied: { escalate, reauth } };
    return { decision: decideLogged(candidate, logged, satisfied), facts: satisfied };
  }

  #begin(
    logged: LoggedRequest,
    { entries, decision, incomplete = [], workloads: counted }: PendingReplay,
  ): void {
    const { candidate, meters, rules } = this.#options;
    const uses = entries ?? [];
    const isEarlier = counted === null;
    const workloads = counted ?? [];
    const { id, expiresAtMs } = logged;
    const { nowMs } = logged.facts;
    if (decision.outcome === 'ALLOW') meters.grant(id, uses, nowMs);
    else if (isWaiting(decision)) meters.reserve(id, uses);
    const deadlineMs = nowMs + rules.validSeconds(decision) * 1_000;
    const replayed: ReplayedRequest = {
      logged,
      isEarlier,
      uses,
      lacking: isEarlier && entries === null ? candidate.counted(logged.facts.action) : [],
      incomplete,
      decisions: [decision],
      status: courseStatusOf(decision),
      deadlineMs,
      grantedAtMs: decision.outcome === 'ALLOW' ? nowMs : null,
      isFollowed: isEarlier || (isWaiting(logged.decision) && deadlineMs === expiresAtMs),
      votes: [],
      hasSteppedUp: false,
      log: {
        decisions: [logged.decision],
        status: courseStatusOf(logged.decision),
        meters: logged.facts.meters,
        rows: logged.facts.rows,
        expiresAtMs,
      },
      workloads,
    };
    countRequiredVotes(workloads, 'before', { decision: logged.decision, earlier: [], atMs: nowMs });
    countRequiredVotes(workloads, 'now', { decision, earlier: [], atMs: nowMs });
    this.#readings.noteIncomplete(uses, incomplete);
    this.#noteLacking(replayed, nowMs);
    this.#keep(replayed);
  }

  #noteLacking({ lacking, status, deadlineMs }: ReplayedRequest, atMs: number): void {
    if (status === 'over' || lacking.length === 0) return;
    this.#readings.lack(lacking, { atMs, endMs: status === 'granted' ? atMs : deadlineMs });
  }

  /** Keeps the request as long as further events can matter to it. */
  #keep(replayed: ReplayedRequest): void {
    const { log, status, uses, logged } = replayed;
    const mayBeReleased = status === 'granted' && log.status === 'granted' && uses.length > 0;
    if (status !== 'waiting' && log.status !== 'waiting' && !mayBeReleased) return;
    this.#requests.set(logged.id, replayed);
    this.#schedule(replayed);
  }

  #schedule(replayed: ReplayedRequest): void {
    if (replayed.status === 'waiting' && !replayed.isFollowed)
      this.#timers.add(replayed.deadlineMs, replayed);
    if (replayed.log.status === 'granted') this.#timers.add(replayed.log.expiresAtMs, replayed);
  }

  #advance(nowMs: number): void {
    for (;;) {
      const due = this.#timers.take(nowMs);
      if (due === null) return;
      const { value: replayed, atMs } = due;
      if (replayed.status === 'waiting' && !replayed.isFollowed && replayed.deadlineMs <= atMs)
        this.#end(
          replayed,
          isAnsweredInLog(replayed) && replayed.log.status === 'waiting' ? 'expired' : 'unknown',
        );
      this.#forget(replayed, atMs);
    }
  }

  #forget(replayed: ReplayedRequest, nowMs: number): void {
    const { log, status, logged } = replayed;
    const isLogOver = log.status === 'over' || (log.status === 'granted' && log.expiresAtMs <= nowMs);
    if (status !== 'waiting' && isLogOver) this.#requests.delete(logged.id);
  }

  #follow({ requestId, atMs, events }: LoggedEvents): void {
    const replayed = this.#requests.get(requestId);
    if (replayed === undefined) return;
    for (let at = 0; at < events.length; at += 1) {
      const event = events[at]!;
      const next = events[at + 1];
      const isDecided = next?.kind === 'decided';
      if (isDecided) noteReadings(replayed.log, next);
      if (replayed.isEarlier) this.#followLog(replayed, event, atMs);
      else if (event.kind !== 'decided' || !isOfOneStep(events[at - 1]))
        this.#answer(replayed, event, { atMs, isDecided });
      this.#noteInLog(replayed, event);
    }
    this.#leaveLog(replayed);
    this.#forget(replayed, atMs);
  }

  /** Applies an event to a request that keeps its decision from the log. */
  #followLog(replayed: ReplayedRequest, event: LoggedEvent, atMs: number): void {
    if (event.kind === 'released') this.#withdraw(replayed);
    if (replayed.status !== 'waiting') return;
    if (event.kind === 'rejected' || event.kind === 'expired') this.#end(replayed, null);
    if (event.kind === 'decided') this.#setDecision(replayed, event.decision, atMs);
  }

  #answer(
    replayed: ReplayedRequest,
    event: LoggedEvent,
    { atMs, isDecided }: { readonly atMs: number; readonly isDecided: boolean },
  ): void {
    if (event.kind === 'released') this.#withdraw(replayed);
    if (replayed.status !== 'waiting') return;
    if (event.kind === 'expired') {
      if (replayed.deadlineMs <= atMs) this.#end(replayed, isAnsweredInLog(replayed) ? 'expired' : 'unknown');
      return;
    }
    if (atMs >= replayed.deadlineMs) return;
    switch (event.kind) {
      case 'approved': {
        const plain = this.#decideNow(replayed, atMs, nothingSatisfied);
        if (this.#approve(replayed, event, { plain, isDecided })) this.#decideAgain(replayed, atMs, plain);
        return;
      }
      case 'taken-back':
        replayed.votes = [...replayed.votes, forNothing(event.person)];
        return;
      case 'rejected':
        if (event.group === null || isAsked(latestOf(replayed), event.group)) this.#end(replayed, 'refused');
        return;
      case 'stepped-up':
        if (!this.#asksStepUp(replayed, atMs)) return;
        replayed.hasSteppedUp = true;
        this.#decideAgain(replayed, atMs);
        return;
      case 'decided':
        this.#decideAgain(replayed, atMs);
    }
  }

  #approve(
    replayed: ReplayedRequest,
    { person, groups }: Extract<LoggedEvent, { readonly kind: 'approved' }>,
    { plain, isDecided }: { readonly plain: Decision; readonly isDecided: boolean },
  ): boolean {
    const { candidate, rules } = this.#options;
    const { asks } = candidate;
    const firing = askedByRules(plain, asks);
    // The control owner at the time of the request, and the current one.
    const isOwner = [replayed.logged.facts.agent, this.#agentOf(replayed)].some((agent) =>
      rules.isControlOwner(person, agent.control_owner ?? ''),
    );
    const given = { person: person.id, email: person.email, isOwner, groups };
    return enterApproval(replayed, given, { firing, asks, isDecided });
  }

  #asksStepUp(replayed: ReplayedRequest, atMs: number): boolean {
    return (
      latestOf(replayed).requires?.reauth != null ||
      this.#decideNow(replayed, atMs, nothingSatisfied).requires?.reauth != null
    );
  }

  /** Decides again on the current facts with people's answers; `plain` is the decision without answers. */
  #decideAgain(
    replayed: ReplayedRequest,
    nowMs: number,
    plain = this.#decideNow(replayed, nowMs, nothingSatisfied),
  ): void {
    const { candidate, onDecision } = this.#options;
    const satisfied = this.#satisfied(replayed, askedByRules(plain, candidate.asks));
    const isNothing = satisfied.escalate.length + satisfied.reauth.length === 0;
    const decision = isNothing ? plain : this.#decideNow(replayed, nowMs, satisfied);
    onDecision?.(replayed.logged.id, decision);
    this.#setDecision(replayed, decision, nowMs);
  }

  #setDecision(replayed: ReplayedRequest, decision: Decision, nowMs: number): void {
    const { rules, meters } = this.#options;
    const { id, facts } = replayed.logged;
    const wait = {
      createdAtMs: facts.nowMs,
      decisions: [...replayed.decisions],
      expiresAtMs: replayed.deadlineMs,
    };
    countRequiredVotes(replayed.workloads, 'now', {
      decision,
      earlier: replayed.decisions,
      atMs: facts.nowMs,
    });
    replayed.decisions.push(decision);
    if (decision.outcome === 'ALLOW') {
      meters.approve(id, nowMs);
      replayed.grantedAtMs = nowMs;
      replayed.status = 'granted';
      if (!replayed.isEarlier) this.#ends.granted += 1;
    } else if (decision.outcome === 'DENY') this.#end(replayed, 'refused');
    else {
      replayed.deadlineMs = rules.deadlineAgain(wait, decision, nowMs);
      this.#schedule(replayed);
    }
    this.#noteLacking(replayed, nowMs);
  }

  #decideNow(replayed: ReplayedRequest, nowMs: number, satisfied: MetRequirements): Decision {
    const { logged, uses } = replayed;
    const at = { nowMs, requestId: logged.id, recorded: replayed.log.meters };
    const { meters, incomplete } = this.#readings.read(uses, at);
    const added = incomplete.filter((name) => !replayed.incomplete.includes(name));
    this.#readings.noteIncomplete(uses, added);
    if (added.length > 0) replayed.incomplete = [...replayed.incomplete, ...added];
    const facts = { ...logged.facts, agent: this.#agentOf(replayed), nowMs, meters, satisfied };
    const { rows } = replayed.log;
    return decideLogged(this.#options.candidate, logged, rows === undefined ? facts : { ...facts, rows });
  }

  #agentOf({ logged: { facts } }: ReplayedRequest): AgentFacts {
    return this.#agents.get(facts.agent.id ?? '') ?? facts.agent;
  }

  #satisfied(
    { logged, votes, hasSteppedUp }: ReplayedRequest,
    firing: readonly RuleRequirement[],
  ): MetRequirements {
    const approved = approvedRules(firing.filter(isApproval), { logged, votes });
    return {
      escalate: [...new Set([...approved.map(({ rule }) => rule), ...underStanding(logged, firing)])],
      reauth: hasSteppedUp
        ? firing.filter(({ kind }) => kind === 'reauth').map(({ rule }) => rule)
        : this.#stepUps.fresh(logged, firing, false),
    };
  }

  #withdraw(replayed: ReplayedRequest): void {
    if (replayed.grantedAtMs === null) return;
    const entered = replayed.uses.flatMap(({ definition, key }) =>
      key === null ? [] : [{ definition: definition.id, key }],
    );
    this.#options.meters.withdraw(replayed.logged.id, replayed.grantedAtMs, entered);
    replayed.grantedAtMs = null;
    replayed.status = 'over';
  }

  #end(replayed: ReplayedRequest, how: keyof WaitEnds | null): void {
    this.#options.meters.release(replayed.logged.id);
    replayed.status = 'over';
    if (how !== null && !replayed.isEarlier) this.#ends[how] += 1;
  }

  #noteInLog(replayed: ReplayedRequest, event: LoggedEvent): void {
    const { log } = replayed;
    if (event.kind === 'rejected' || event.kind === 'expired' || event.kind === 'released')
      log.status = 'over';
    if (event.kind !== 'decided') return;
    const { decision } = event;
    noteReadings(log, event);
    log.status = courseStatusOf(decision);
    log.expiresAtMs = event.expiresAtMs;
    const atMs = replayed.logged.facts.nowMs;
    countRequiredVotes(replayed.workloads, 'before', { decision, earlier: log.decisions, atMs });
    log.decisions.push(decision);
  }

  /** If the log's wait ended or ends at another time, the candidate's wait goes on to its own deadline. */
  #leaveLog(replayed: ReplayedRequest): void {
    const { log } = replayed;
    const isFollowed = log.status === 'waiting' && log.expiresAtMs === replayed.deadlineMs;
    const hasLeft = replayed.isFollowed && !isFollowed;
    replayed.isFollowed = isFollowed;
    if (hasLeft || log.status === 'granted') this.#schedule(replayed);
  }
}

/**
 * The entries that the request adds to meters. Null when its payload does not have the candidate's shape, or
 * hides values that meters may read.
 */
function meterEntriesOf(
  candidate: ReplayCandidate,
  { facts, holdsDigests }: LoggedRequest,
): readonly MeterUse[] | null {
  if (holdsDigests) {
    const shape = candidate.shapeOf(facts.action);
    return shape !== null && hidesValues(shape, facts.payload) ? null : candidate.entriesRecorded(facts);
  }
  const entries = candidate.entries(facts);
  if (entries.length > 0 || candidate.counted(facts.action).length === 0) return entries;
  return candidate.entriesRecorded(facts);
}

// Takes people's votes from the log, as far as they answer what the candidate asks. INVARIANT: a vote counts
// only for a group that the candidate asks when the vote is given, and only while the candidate's wait lasts.

export type GivenApproval = Omit<ReplayedVote, 'rules'>;

/**
 * Enters an approval. Returns whether everything that the candidate's rules ask of the groups is now there.
 * `firing` are the rules that would take part now; `isDecided` tells whether this vote made the service decide
 * again in the log.
 */
function enterApproval(
  replayed: ReplayedRequest,
  approval: GivenApproval,
  {
    firing,
    asks,
    isDecided,
  }: { firing: readonly RuleRequirement[]; asks: ApprovalRules; isDecided: boolean },
): boolean {
  const all = rulesAsking(replayed, firing, asks);
  const groups = [
    ...new Set(all.flatMap((rule) => rule.groups.filter((group) => isMeant(rule, group, approval)))),
  ];
  const rules = all.filter((rule) => rule.groups.some((group) => groups.includes(group)));
  if (rules.length === 0) return false;
  replayed.votes = [...replayed.votes, { ...approval, groups, rules: rules.map(({ rule }) => rule) }];
  const approved = approvedRules(all, replayed);
  if (!rules.every((rule) => approved.includes(rule))) return false;
  // If the log asked for no more and still went on waiting, some vote had lost its person or its rule.
  return isDecided || asksMore(latestOf(replayed.log), all);
}

/** Whether an approval counts for an entry of a rule's groups: a group may answer at once, whoever its fallbacks are. */
function isMeant({ choices = [] }: ApprovalRule, group: string, { groups }: GivenApproval): boolean {
  if (groups.includes(group)) return true;
  const choice = choices.find(({ text, fallbacks }) => text === group && fallbacks !== undefined);
  return choice?.anyOf.some((one) => one.kind === 'group' && groups.includes(one.group)) === true;
}

/** Whether a decision asks for more people of some group than all the rules do. */
function asksMore({ requires }: Decision, rules: readonly ApprovalRule[]): boolean {
  return (requires?.approvals ?? []).some(({ group, needs }) =>
    rules.every((rule) => !rule.groups.includes(group) || rule.needs < needs),
  );
}

export type ApprovalRules = ReadonlyMap<string, RuleRequirement>;

/** The rules that take part in a decision and ask for approval or a step-up. */
function askedByRules({ rules }: Decision, asks: ApprovalRules): readonly RuleRequirement[] {
  const requirements: RuleRequirement[] = [];
  for (const id of rules) {
    const rule = asks.get(id);
    if (rule !== undefined) requirements.push(rule);
  }
  return requirements;
}

/** The approval rules by which the latest decision asks, and those by which a decision would ask now. */
function rulesAsking(
  replayed: ReplayedRequest,
  firing: readonly RuleRequirement[],
  asks: ApprovalRules,
): readonly ApprovalRule[] {
  const latest = askedByRules(latestOf(replayed), asks);
  return [...latest, ...firing.filter((rule) => !latest.includes(rule))].filter(isApproval);
}

/** Whether a decision asks a group, also as the first of approvers with fallbacks. */
function isAsked({ requires }: Decision, group: string): boolean {
  return (requires?.approvals ?? []).some(
    (one) =>
      one.group === group ||
      (one.fallbacks !== undefined && one.anyOf?.some((first) => 'group' in first && first.group === group)),
  );
}
