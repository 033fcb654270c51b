// A program into functions that decide. Code is made at an action's first use and kept in the cache; this is the only
// place where text becomes code, and the text is made by the `js` tag alone.

import type { Decision, Gate, PayloadIssue } from '../model/decision.ts';
import { payloadReason } from '../model/describe.ts';
import type { Json } from '../model/json.ts';
import type { Facts } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';
import type { ActionProgram, Program } from '../program/program.ts';
import { cut, escapeControls } from '../value/text.ts';
import { type CacheSession, createFunctionCache, type FunctionCache } from './cache.ts';
import { type ActionCode, createDecider, type Decider } from './decide.ts';
import { type Emitted, emitAction } from './emit.ts';
import { emitPayloadCheck } from './payload.ts';
import { payloadIssues } from './payload-issues.ts';
import { createTracer } from './trace.ts';

export { createFunctionCache, type FunctionCache };

export interface Linked {
  /** Whole decision: gate, payload check, rules, combining. */
  decide(facts: Facts): Decision;
  /** As `decide`, for a payload that is known to be of the action's shape. */
  decideChecked(facts: Facts): Decision;
  /** What is not of the declared shape, at most ten places; null where the action is not declared. */
  checkPayload(action: string, payload: Json): readonly PayloadIssue[] | null;
  /** Every rule of the action as it turned out; none where the gate refuses the request. */
  trace(facts: Facts): readonly TracedRule[];
  /** The text of an action's generated functions; null where the action is not declared. */
  source(action: string): string | null;
  /** An action's functions themselves, which a reload keeps while they are equal; null where it is not declared. */
  code(action: string): ActionCode | null;
}

/** Code points of an undeclared action's key that a reason quotes at most. */
const quotedKeyLengthMax = 100;

/** Makes a program ready to decide. Functions come from the cache where it holds them. */
export function link(program: Program, cache: FunctionCache = createFunctionCache()): Linked {
  const session = cache.begin(program);
  const units = new Map<string, Unit>();

  const unitOf = (action: string): Unit | null => {
    const known = units.get(action);
    if (known !== undefined) return known;
    const declared = program.actions.get(action);
    if (declared === undefined) return null;
    const unit = createUnit(program, declared, session);
    units.set(action, unit);
    return unit;
  };

  return {
    decide: (facts) => {
      const unit = unitOf(facts.action);
      if (unit === null) return undeclaredAction(facts.action);
      const issues = unit.issues(facts.payload);
      return issues.length > 0 ? invalidPayload(issues) : unit.decider.decide(facts);
    },
    decideChecked: (facts) => unitOf(facts.action)?.decider.decide(facts) ?? undeclaredAction(facts.action),
    checkPayload: (action, payload) => unitOf(action)?.issues(payload) ?? null,
    trace: (facts) => {
      const unit = unitOf(facts.action);
      return unit === null || unit.issues(facts.payload).length > 0 ? [] : unit.trace(facts);
    },
    source: (action) => unitOf(action)?.text ?? null,
    code: (action) => unitOf(action)?.code ?? null,
  };
}

/** One action, ready. */
interface Unit {
  readonly text: string;
  readonly code: ActionCode;
  readonly decider: Decider;
  issues(payload: Json): readonly PayloadIssue[];
  trace(facts: Facts): readonly TracedRule[];
}

const noIssues: readonly PayloadIssue[] = [];

function createUnit(program: Program, action: ActionProgram, session: CacheSession): Unit {
  const emitted = emitAction(program, action, session.lists);
  const code = session.reuse({ action: action.action, part: 'rules' }, emitted, run<ActionCode>);
  const check = emitPayloadCheck(action.shape);
  const isOfShape = session.reuse({ action: action.action, part: 'payload' }, check, run<PayloadCheck>);
  const decider = createDecider(action, code);
  let tracer: ReturnType<typeof createTracer> | undefined;
  return {
    text: emitted.text,
    code,
    decider,
    issues: (payload) => (isOfShape(payload) ? noIssues : payloadIssues(action.shape, payload)),
    trace: (facts) => {
      tracer ??= createTracer(action, decider);
      return tracer(facts);
    },
  };
}

type PayloadCheck = (payload: Json) => boolean;

/** Runs generated text with what is bound to its identifiers. `T` is what the generator says the text returns. */
function run<T>({ text, bindings }: Emitted): T {
  const names = bindings.keys.map((_, at) => `c${at}`);
  return new Function(...names, text)(...bindings.values) as T;
}

function undeclaredAction(action: string): Decision {
  const key = cut(escapeControls(action), quotedKeyLengthMax);
  return refused('undeclared_action', `Action ${key} is not declared`);
}

function invalidPayload(issues: readonly PayloadIssue[]): Decision {
  return refused('invalid_payload', payloadReason(issues));
}

/** What never came before a rule is as risky as can be. */
function refused(gate: Gate, reason: string): Decision {
  return {
    outcome: 'DENY',
    by: gate,
    matchedPolicy: gate,
    reason,
    risk: { low: 100, high: 100 },
    validForSeconds: null,
    requires: null,
    rules: [],
    withShadow: 'DENY',
  };
}
