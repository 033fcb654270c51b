// The facts of a case. In a sequence, meters hold what the requests before left: grants count, and requests
// that wait for people are reserved until people answer or the wait ends. Standing approvals that people gave
// serve later requests. INVARIANT: meters count as in the service, since the code is the service's own.

import type { Decision } from '../language/model/decision.ts';
import type { Contribution, MeterUse } from '../language/model/metering.ts';
import type { PolicySet } from '../language/model/policy.ts';
import type { Facts, MeterReading } from '../language/model/request.ts';
import type { CompileResult } from '../pipeline.ts';
import { createMeterTotals, type MeterTotals } from '../service/meters/meter-totals.ts';
import { validSeconds } from '../service/requests/record/lifecycle.ts';
import { toFacts } from './situation.ts';
import { StandingApprovals, standingScopes } from './standing.ts';
import type { ApprovalAnswer, GivenResult, TestCase } from './test-file.ts';
import type { Report } from './yaml.ts';

interface CaseEngine {
  readonly set: PolicySet;
  readonly engine: NonNullable<CompileResult['engine']>;
}

/** Null, with at least one report, when the set lacks a name in the case. */
export function caseFacts({ situation, before }: TestCase, tried: CaseEngine, report: Report): Facts | null {
  const { set } = tried;
  if (before === null) return toFacts(situation, set, report);
  const { engine } = tried;
  const counted = new CountedMeters(engine);
  const standing = new StandingApprovals(standingScopes(set));
  for (const [at, past] of before.entries()) {
    const given = toFacts(past.situation, set, report);
    if (given === null) return null;
    const { facts: asked, uses } = counted.read(given);
    const { facts, covering } = underStanding(asked, engine, standing);
    const entering = { id: String(at), uses, nowMs: facts.nowMs };
    const decision = engine.decide(facts);
    const isGranted = counted.enter(entering, decision, past.answer?.kind ?? null);
    if (isGranted) standing.use(covering, entering.id, null);
    else if (waitsForPeople(decision) && past.answer === null)
      standing.use(covering, entering.id, facts.nowMs + validSeconds(decision) * 1_000);
    const isGiven = past.answer?.kind === 'standing' && waitsForPeople(decision);
    if (isGiven && !standing.give(past.answer, { decision, facts }, report)) return null;
    if (past.result !== null && !isReportable(past.result, { facts, engine, isGranted, report })) return null;
    if (past.result !== null) counted.report(entering, { ...given, result: past.result.json });
  }
  const given = toFacts(situation, set, report);
  return given && underStanding(counted.read(given).facts, engine, standing).facts;
}

/** The facts with the rules satisfied that standing approvals serve, if the request would wait for people. */
function underStanding(facts: Facts, engine: CaseEngine['engine'], standing: StandingApprovals) {
  const decision = engine.decide(facts);
  const covering = waitsForPeople(decision) ? standing.covering(decision, facts) : [];
  if (covering.length === 0) return { facts, covering };
  const { escalate, reauth } = facts.satisfied;
  const satisfied = { escalate: [...escalate, ...covering.map(({ rule }) => rule)], reauth };
  return { facts: { ...facts, satisfied }, covering };
}

interface OutcomeInput {
  readonly facts: Facts;
  readonly engine: CaseEngine['engine'];
  readonly isGranted: boolean;
  readonly report: Report;
}

/** Whether the service would accept the result; reports why not. */
function isReportable(
  { json, span }: GivenResult,
  { facts, engine, isGranted, report }: OutcomeInput,
): boolean {
  const issues = engine.checkResult(facts.action, json);
  if (!isGranted) report(span, 'only a granted request returns a result');
  else if (issues === null) report(span, `\`${facts.action}\` has no declared result`);
  else for (const { pointer, message } of issues) report(span, `\`result${pointer}\` ${message}`);
  return isGranted && issues?.length === 0;
}

const nothingAdded: Contribution = { isCertain: false, value: null };

export function waitsForPeople({ outcome }: Decision): boolean {
  return outcome === 'ESCALATE' || outcome === 'REAUTH_REQUIRED';
}

interface EntryInput {
  readonly id: string;
  readonly uses: readonly MeterUse[];
  readonly nowMs: number;
}

/** A class, because it holds what was counted. */
export class CountedMeters {
  readonly #engine: CaseEngine['engine'];
  readonly #totals: MeterTotals = createMeterTotals();
  /** By id of a waiting request, the time at which its wait ends. */
  readonly #waits = new Map<string, number>();

  constructor(engine: CaseEngine['engine']) {
    this.#engine = engine;
    for (const definition of engine.meters) this.#totals.fill(definition, []);
  }

  /** The facts with each meter's reading at the request's time. */
  read(given: Facts): { readonly facts: Facts; readonly uses: readonly MeterUse[] } {
    const { nowMs } = given;
    for (const [id, endMs] of this.#waits) {
      if (endMs > nowMs) continue;
      this.#totals.release(id);
      this.#waits.delete(id);
    }
    const uses = this.#engine.entries(given);
    const meters: Record<string, MeterReading> = {};
    for (const use of uses) {
      const reading = this.#totals.read(use, { nowMs, requestId: null });
      for (const name of reading === null ? [] : use.names) meters[name] = reading!;
    }
    return { facts: { ...given, meters }, uses };
  }

  /** Enters a request and returns whether it is granted. */
  enter({ id, uses, nowMs }: EntryInput, decision: Decision, answer: ApprovalAnswer['kind'] | null): boolean {
    const isApproved = waitsForPeople(decision) && answer !== null && answer !== 'rejected';
    const isGranted = decision.outcome === 'ALLOW' || isApproved;
    if (isGranted) this.#totals.grant(id, uses, nowMs);
    if (!waitsForPeople(decision) || answer !== null) return isGranted;
    this.#totals.reserve(id, uses);
    this.#waits.set(id, nowMs + validSeconds(decision) * 1_000);
    return false;
  }

  /** Enters what a granted call returned. */
  report({ id: requestId, nowMs: grantedAtMs }: EntryInput, facts: Facts): void {
    for (const { definition, key, contribution } of this.#engine.entries(facts)) {
      if (key === null || definition.readsResult !== true) continue;
      const entry = { requestId, key, grantedAtMs, contribution: contribution ?? nothingAdded };
      this.#totals.move(definition, entry, contribution === null);
    }
  }
}
