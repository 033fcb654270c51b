// Counts the results of a replay: decisions before and now, work for people, unanswerable requests, examples,
// and the changes of each finding. INVARIANT: every request is in one cell of the matrix, or withheld; a
// changed request is under a finding, without one, or unfiled.

import {
  type ApprovalRequirement,
  type Decision,
  type Outcome,
  outcomes,
  type Requirements,
} from '../../../language/model/decision.ts';
import { type Facts, valueAt } from '../../../language/model/request.ts';
import { noTrace } from '../../../language/model/trace.ts';
import type { ReplayCandidate } from './candidate.ts';
import { Examples, type ReplayExample } from './examples.ts';
import type { LoggedRequest } from './log.ts';
import { changedRequirements } from './requirement-changes.ts';
import { isWithheld } from './withheld-values.ts';
import { countVotes, type GroupWorkload, type VoteCounts, Workload, type WorkloadSide } from './workload.ts';

/** A class, because it learns the reads of an action from the action's first request. */
export class FactReads {
  readonly #candidate: ReplayCandidate;
  readonly #byAction = new Map<string, readonly FactRead[]>();

  constructor(candidate: ReplayCandidate) {
    this.#candidate = candidate;
  }

  /** Paths of the missing facts, such as `request.session`; empty when a gate refuses the request. */
  unknownTo(facts: Facts, holdsDigests: boolean): readonly string[] {
    const reads = this.#byAction.get(facts.action) ?? this.#learn(facts, holdsDigests);
    const isUnknown = ({ steps }: FactRead): boolean => valueAt(facts, steps) === undefined;
    return reads.some(isUnknown) ? reads.filter(isUnknown).map(({ path }) => path) : none;
  }

  #learn(facts: Facts, holdsDigests: boolean): readonly FactRead[] {
    const { decideRecorded, decideTraced } = this.#candidate;
    const { trace } = holdsDigests ? decideRecorded(facts) : decideTraced(facts);
    if (trace.form === noTrace.form) return none;
    const paths = new Set(trace.form.paths.filter(isFactPath));
    const reads = [...paths].map((path) => ({ path, steps: path.split('.') }));
    this.#byAction.set(facts.action, reads);
    return reads;
  }
}

interface FactRead {
  readonly path: string;
  readonly steps: readonly string[];
}

const none: readonly never[] = [];

function isFactPath(path: string): boolean {
  return /^(?:agent|request|meters)\../.test(path);
}

/** A finding about the difference of two sets; requests that meet the finding are filed under it. */
export interface ReplayFinding {
  readonly id: string;
  /** Whether the finding is about how long decisions hold; requests that meet it may not count as changed. */
  readonly isOfTime: boolean;
  /** Null when the answer is unknown, because digests replace what the two sets read. */
  readonly matches: (request: FiledRequest) => boolean | null;
}

export interface FiledRequest {
  /** The facts in the log. */
  readonly before: Facts;
  /** The facts on which the candidate decides. */
  readonly after: Facts;
  /** The digest of the policies that decided the request; null when the log does not hold it. */
  readonly policies: string | null;
  readonly holdsDigests: boolean;
}

/** The number of requests under one finding, how many agents sent them, and what they ask of people. */
export interface FiledRequests {
  readonly id: string;
  readonly requests: number;
  readonly agents: number;
  readonly people: readonly GroupWorkload[];
}

interface ChangeGroup {
  requests: number;
  readonly agents: Set<string>;
  readonly workload: Workload;
}

/** A request that the candidate decides differently, or for which it asks other people. */
export interface ChangedRequest extends ReplayExample {
  readonly agentId: string | null;
  readonly votes: Readonly<Record<WorkloadSide, VoteCounts>>;
}

/** The candidate's decision on a request. */
interface DecidedNow {
  readonly facts: Facts;
  readonly decision: Decision;
  /** Names of the meters among the facts that are incomplete. */
  readonly incomplete: readonly string[];
}

/** Decisions of the log by row, decisions of the candidate by column. */
export type DecisionMatrix = Readonly<Record<Outcome, Readonly<Record<Outcome, number>>>>;

export interface TallyResult {
  readonly requests: number;
  /** From the first to the last request; null when there are no requests. */
  readonly period: { readonly fromMs: number; readonly untilMs: number } | null;
  readonly matrix: DecisionMatrix;
  /** Number of requests that are in no cell, because the record withholds what the payload check reads. */
  readonly withheld: number;
  readonly changes: {
    readonly outcome: number;
    /** The same outcome, but other people are asked, or more, or fewer. */
    readonly asked: number;
    /** The same outcome and the same demands, but decided by another rule. */
    readonly rule: number;
  };
  /**
   * Number of requests that are decided differently or ask other people, and that read an incomplete meter.
   */
  readonly changedOnIncomplete: number;
  readonly people: readonly GroupWorkload[];
  /**
   * By action, requests that are newly refused: `otherShape` for the shape of their payload, `undeclared`
   * because their action is not declared.
   */
  readonly otherShape: ReadonlyMap<string, number>;
  readonly undeclared: ReadonlyMap<string, number>;
  /** By fact that the candidate's rules read, the number of requests that lack the fact. */
  readonly unknownFacts: ReadonlyMap<string, number>;
  /** By digest of a policy set, the number of requests that the set decided, as far as the log tells. */
  readonly decidedBy: ReadonlyMap<string, number>;
  readonly findings: readonly FiledRequests[];
  /** Number of requests that are decided differently or ask other people, and that meet no finding. */
  readonly withoutFinding: number;
  /** What requests under no finding ask of people, unchanged requests included. */
  readonly otherPeople: readonly GroupWorkload[];
  /** Number of requests whose finding is unknown, because digests replace what the sets read. */
  readonly unfiled: number;
  readonly examples: readonly ReplayExample[];
}

export interface TallyOptions {
  readonly candidate: ReplayCandidate;
  readonly findings: readonly ReplayFinding[];
  readonly onChanged?: ((changed: ChangedRequest) => void) | undefined;
}

/** A class, because each request increases its counts. */
export class Tally {
  readonly #options: TallyOptions;
  readonly #reads: FactReads;
  readonly #matrix = emptyMatrix();
  readonly #changes = { outcome: 0, asked: 0, rule: 0 };
  readonly #examples = new Examples();
  readonly #counts = {
    otherShape: new Map(),
    undeclared: new Map(),
    unknownFacts: new Map(),
    decidedBy: new Map(),
  } as const satisfies Record<string, Map<string, number>>;
  readonly #workload = new Workload();
  readonly #otherWorkload = new Workload();
  readonly #filed = new Map<string, ChangeGroup>();
  readonly #findingsOfTime: readonly ReplayFinding[];
  #requests = 0;
  #withheld = 0;
  #withoutFinding = 0;
  #changedOnIncomplete = 0;
  #unfiled = 0;
  #fromMs = Number.POSITIVE_INFINITY;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(options: TallyOptions) {
    this.#options = options;
    this.#reads = new FactReads(options.candidate);
    this.#findingsOfTime = options.findings.filter(({ isOfTime }) => isOfTime);
  }

  /**
   * Counts one request and the candidate's decision on it. Returns the workloads that must count what the
   * request asks of people; null when the request cannot be decided again.
   */
  count(logged: LoggedRequest, now: DecidedNow): readonly Workload[] | null {
    const { nowMs, action } = logged.facts;
    const { facts, decision } = now;
    this.#requests += 1;
    this.#fromMs = Math.min(this.#fromMs, nowMs);
    this.#untilMs = Math.max(this.#untilMs, nowMs);
    if (logged.policies !== null) increase(this.#counts.decidedBy, logged.policies);
    if (isWithheld(this.#options.candidate, logged, decision)) {
      this.#withheld += 1;
      return null;
    }
    this.#matrix[logged.decision.outcome][decision.outcome] += 1;
    const isNew = decision.by !== logged.decision.by;
    if (decision.by === 'invalid_payload') increase(this.#counts.otherShape, action, isNew);
    else if (decision.by === 'undeclared_action') increase(this.#counts.undeclared, action, isNew);
    else this.#countUnknown(facts, logged.holdsDigests);
    return [this.#workload, this.#compare(logged, now)?.workload ?? this.#otherWorkload];
  }

  result(): TallyResult {
    const isEmpty = this.#requests === 0;
    const [fromMs, untilMs] = [this.#fromMs, this.#untilMs];
    const peopleIn = (workload: Workload | undefined): readonly GroupWorkload[] =>
      isEmpty ? [] : (workload?.groups(fromMs, untilMs) ?? []);
    return {
      requests: this.#requests,
      period: isEmpty ? null : { fromMs, untilMs },
      matrix: this.#matrix,
      withheld: this.#withheld,
      changes: this.#changes,
      changedOnIncomplete: this.#changedOnIncomplete,
      people: peopleIn(this.#workload),
      ...this.#counts,
      findings: this.#options.findings.map(({ id }) => {
        const filed = this.#filed.get(id);
        return {
          id,
          requests: filed?.requests ?? 0,
          agents: filed?.agents.size ?? 0,
          people: peopleIn(filed?.workload),
        };
      }),
      withoutFinding: this.#withoutFinding,
      otherPeople: peopleIn(this.#otherWorkload),
      unfiled: this.#unfiled,
      examples: this.#examples.all(),
    };
  }

  #countUnknown(facts: Facts, holdsDigests: boolean): void {
    for (const path of this.#reads.unknownTo(facts, holdsDigests)) increase(this.#counts.unknownFacts, path);
  }

  /** Compares the two decisions. Returns what the request is filed under; null for no finding. */
  #compare(logged: LoggedRequest, now: DecidedNow): ChangeGroup | null {
    const { facts, decision } = now;
    const change = changeOf(logged.decision, decision);
    const findings = change === null ? this.#findingsOfTime : this.#options.findings;
    const { holdsDigests, policies } = logged;
    const met = findingMet(findings, { before: logged.facts, after: facts, policies, holdsDigests });
    if (met === 'unfiled') this.#unfiled += 1;
    const finding = met === 'unfiled' ? null : met;
    if (change !== null) this.#changes[change] += 1;
    if (change === 'outcome' || change === 'asked') {
      if (met === null) this.#withoutFinding += 1;
      if (now.incomplete.length > 0) this.#changedOnIncomplete += 1;
      this.#tell(logged, now, finding);
    }
    return finding === null ? null : this.#file(finding, facts);
  }

  #tell(logged: LoggedRequest, { decision, incomplete }: DecidedNow, finding: string | null): void {
    const { agent, nowMs: atMs, action } = logged.facts;
    const example: ReplayExample = {
      id: logged.id,
      atMs,
      agent: agent.name ?? agent.id ?? '',
      action,
      before: { outcome: logged.decision.outcome, by: logged.decision.by },
      now: { outcome: decision.outcome, by: decision.by },
      asks: changedRequirements(logged.decision, decision),
      finding,
      incompleteMeters: incomplete,
    };
    this.#examples.offer(example);
    const votes = { before: new Map(countVotes(logged.decision)), now: new Map(countVotes(decision)) };
    this.#options.onChanged?.({ ...example, agentId: agent.id ?? null, votes });
  }

  #file(id: string, { agent }: Facts): ChangeGroup {
    const filed = this.#filed.get(id) ?? { requests: 0, agents: new Set(), workload: new Workload() };
    filed.requests += 1;
    filed.agents.add(agent.id ?? agent.name ?? '');
    this.#filed.set(id, filed);
    return filed;
  }
}

/**
 * The id of the first finding that the request meets; "unfiled" if an earlier finding cannot be judged, null
 * if no finding is met.
 */
function findingMet(findings: readonly ReplayFinding[], request: FiledRequest): string | 'unfiled' | null {
  for (const finding of findings) {
    const isMet = finding.matches(request);
    if (isMet === null) return 'unfiled';
    if (isMet) return finding.id;
  }
  return null;
}

/** The most important difference between two decisions; null when they are equal. */
function changeOf(before: Decision, now: Decision): keyof TallyResult['changes'] | null {
  if (before.outcome !== now.outcome) return 'outcome';
  if (!asksAlike(before.requires, now.requires)) return 'asked';
  return before.by === now.by ? null : 'rule';
}

function asksAlike(before: Requirements | null, now: Requirements | null): boolean {
  if (before === null || now === null) return before === now;
  return (
    before.reauth?.withinSeconds === now.reauth?.withinSeconds &&
    before.approvals.length === now.approvals.length &&
    before.approvals.every((approval, at) => isSameApproval(approval, now.approvals[at]!))
  );
}

function isSameApproval(a: ApprovalRequirement, b: ApprovalRequirement): boolean {
  const [except, others] = [a.except ?? [], b.except ?? []];
  return (
    a.group === b.group &&
    a.needs === b.needs &&
    a.withinSeconds === b.withinSeconds &&
    fallbackTimes(a) === fallbackTimes(b) &&
    except.length === others.length &&
    except.every((person, at) => person === others[at])
  );
}

function fallbackTimes({ fallbacks = [] }: ApprovalRequirement): string {
  return fallbacks.map(({ afterSeconds }) => afterSeconds).join();
}

function increase(counts: Map<string, number>, name: string, isCounted = true): void {
  if (isCounted) counts.set(name, (counts.get(name) ?? 0) + 1);
}

function emptyMatrix(): Record<Outcome, Record<Outcome, number>> {
  const row = (): Record<Outcome, number> => ({ ALLOW: 0, ESCALATE: 0, REAUTH_REQUIRED: 0, DENY: 0 });
  return Object.fromEntries(outcomes.map((outcome) => [outcome, row()])) as Record<
    Outcome,
    Record<Outcome, number>
  >;
}
