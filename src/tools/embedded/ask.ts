// A question of a program into facts, and a decision into what the program is told. What the question does not say is unknown.

import type { Linked } from '../../language/emit/link.ts';
import type { Decision, Outcome, Requirements } from '../../language/model/decision.ts';
import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import type { AgentFacts, Facts, Reading, RequestFacts, Satisfied } from '../../language/model/request.ts';
import type { TracedRule } from '../../language/model/trace.ts';
import { parseDecimal } from '../../language/value/decimal.ts';

/** A number, its digits as text where a number is not exact, or the least and the most that it can be. */
export type ReadingGiven = number | string | readonly [number | string, number | string];

/** What is decided. What is not said is unknown, and what is unknown grants nothing. */
export interface AskedDecision {
  readonly action: string;
  /** As JSON has it. */
  readonly payload: JsonObject;
  readonly agent?: AgentFacts;
  readonly request?: RequestFacts;
  /** By name, with this request in it; an amount of money in the meter's currency. */
  readonly meters?: Readonly<Record<string, ReadingGiven>>;
  /** Ids (`policy/rule`) of the rules whose requirement has been met: by approvals, and by a step-up. */
  readonly satisfied?: Partial<Satisfied>;
  /** Now unless said otherwise. */
  readonly now?: Date;
}

export interface EmbeddedDecision {
  readonly decision: Outcome;
  readonly reason: string;
  readonly matchedPolicy: string;
  /** Id (`policy/rule`) of the rule that decided, or the gate. */
  readonly rule: string;
  /** From 0 to 100. */
  readonly riskScore: number;
  /** How long an ALLOW holds, in seconds; null for the others. */
  readonly validForSeconds: number | null;
  /** Whom ESCALATE and REAUTH_REQUIRED ask; null for the others. */
  readonly requires: Requirements | null;
}

export interface ExplainedDecision extends EmbeddedDecision {
  /** Every rule of the action, with its truth and what it read. */
  readonly rules: readonly TracedRule[];
}

/** Policies that are asked by a program. */
export interface AskedPolicies {
  /** Keys of the declared actions. */
  readonly actions: readonly string[];
  /** Throws a TypeError for a question that is not one; what a payload should not hold is a DENY. */
  decide(question: AskedDecision): EmbeddedDecision;
  explain(question: AskedDecision): ExplainedDecision;
}

/** `engine` is asked for at every question. */
export function askedOf(engine: () => Linked): AskedPolicies {
  return {
    get actions() {
      return [...engine().actions()].toSorted();
    },
    decide: (question) => answerOf(engine().decide(factsOf(question))),
    explain(question) {
      const facts = factsOf(question);
      return { ...answerOf(engine().decide(facts)), rules: engine().trace(facts) };
    },
  };
}

function factsOf(question: AskedDecision): Facts {
  const { action, payload, agent = {}, request = {}, meters = {}, satisfied = {}, now } = question;
  if (typeof action !== 'string') throw new TypeError('`action` is the key of an action');
  if (!isJsonObject(payload)) throw new TypeError('`payload` is an object');
  return {
    action,
    payload,
    agent,
    request,
    nowMs: now === undefined ? Date.now() : now.getTime(),
    meters: Object.fromEntries(
      Object.entries(meters).map(([name, given]) => [name, readingOf(name, given)] as const),
    ),
    satisfied: { escalate: satisfied.escalate ?? [], reauth: satisfied.reauth ?? [] },
  };
}

function readingOf(name: string, given: ReadingGiven): Reading {
  const [least, most] = Array.isArray(given) ? (given as readonly [number, number]) : [given, given];
  const [low, high] = [parseDecimal(String(least)), parseDecimal(String(most))];
  if (low !== null && high !== null) return { low, high };
  throw new TypeError(`the reading of \`${name}\` is a number, its digits as text, or two of them`);
}

function answerOf({ outcome, reason, matchedPolicy, by, risk, ...rest }: Decision): EmbeddedDecision {
  const { validForSeconds, requires } = rest;
  return {
    decision: outcome,
    reason,
    matchedPolicy,
    rule: by,
    riskScore: risk.high,
    validForSeconds,
    requires,
  };
}
