// Turns a program's question into facts, and a decision into the answer for the program. Facts that the
// question leaves out are unknown.

import type { LinkedFunctions } from '../language/emit/link.ts';
import type { Decision, Outcome, Requirements } from '../language/model/decision.ts';
import { isJsonObject, type JsonObject } from '../language/model/json.ts';
import type {
  AgentFacts,
  Facts,
  MeterReading,
  MetRequirements,
  RequestFacts,
} from '../language/model/request.ts';
import type { TracedRule } from '../language/model/trace.ts';
import { parseDecimal } from '../language/value/decimal.ts';

/**
 * The reading of a meter: a number, its digits as text when a number is not exact, or a pair with the least
 * and the most that it can be.
 */
export type MeterInput = number | string | readonly [number | string, number | string];

/** The question to decide. A fact that is left out is unknown, and an unknown fact grants nothing. */
export interface DecisionQuestion {
  readonly action: string;
  /** The payload as parsed JSON. */
  readonly payload: JsonObject;
  readonly agent?: AgentFacts;
  readonly request?: RequestFacts;
  /** Readings by the meter's name, with this request included; an amount of money in the meter's currency. */
  readonly meters?: Readonly<Record<string, MeterInput>>;
  /** Ids (`policy/rule`) of the rules whose requirement is met by approvals or by a step-up. */
  readonly satisfied?: Partial<MetRequirements>;
  /** The time of the decision; the present time when absent. */
  readonly now?: Date;
}

export interface EmbeddedDecision {
  readonly decision: Outcome;
  readonly reason: string;
  readonly matchedPolicy: string;
  /** Id (`policy/rule`) of the rule that decided, or the name of the gate. */
  readonly rule: string;
  /** The risk score, from 0 to 100. */
  readonly riskScore: number;
  /** Seconds that an ALLOW holds; null for other decisions. */
  readonly validForSeconds: number | null;
  /** The people that ESCALATE and REAUTH_REQUIRED ask; null for other decisions. */
  readonly requires: Requirements | null;
}

export interface ExplainedDecision extends EmbeddedDecision {
  /** Every rule of the action, with its truth and the values that it read. */
  readonly rules: readonly TracedRule[];
}

/** Policies that a program asks for decisions. */
export interface EmbeddedPolicies {
  /** Keys of the declared actions. */
  readonly actions: readonly string[];
  /** Throws a TypeError for a malformed question. A payload with a wrong shape is a DENY. */
  decide(question: DecisionQuestion): EmbeddedDecision;
  explain(question: DecisionQuestion): ExplainedDecision;
}

/** Makes policies that ask `engine` for the current functions at every question. */
export function embeddedPolicies(engine: () => LinkedFunctions): EmbeddedPolicies {
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

function factsOf(question: DecisionQuestion): Facts {
  const { action, payload, agent = {}, request = {}, meters = {}, satisfied = {}, now } = question;
  if (typeof action !== 'string') throw new TypeError('`action` must be the key of an action');
  if (!isJsonObject(payload)) throw new TypeError('`payload` must be an object');
  return {
    action,
    payload,
    agent,
    request,
    nowMs: now === undefined ? Date.now() : now.getTime(),
    meters: Object.fromEntries(
      Object.entries(meters).map(([name, input]) => [name, readingOf(name, input)] as const),
    ),
    satisfied: { escalate: satisfied.escalate ?? [], reauth: satisfied.reauth ?? [] },
  };
}

function readingOf(name: string, input: MeterInput): MeterReading {
  const [least, most] = Array.isArray(input) ? (input as readonly [number, number]) : [input, input];
  const [low, high] = [parseDecimal(String(least)), parseDecimal(String(most))];
  if (low !== null && high !== null) return { low, high };
  throw new TypeError(
    `the reading of \`${name}\` must be a number, a decimal string, or a list of two of these`,
  );
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
