// A program into functions that decide. Code is made at an action's first use and kept in the cache; this is the only
// place where text becomes code, and the text is made by the `js` tag alone.

import type { Decision, Gate, PayloadIssue } from '../model/decision.ts';
import { payloadReason } from '../model/describe.ts';
import type { Json } from '../model/json.ts';
import type { Facts } from '../model/request.ts';
import type { TracedRule } from '../model/trace.ts';
import type { ActionProgram, Program } from '../program/program.ts';
import { createIndex, select } from '../program/select.ts';
import { type CacheSession, createFunctionCache, type FunctionCache } from './cache.ts';
import type { Decider, ReasonCode, RuleCode, State, Stretch } from './decide.ts';
import { KeyedDecider } from './decide-keyed.ts';
import { type ListedCode, ListedDecider } from './decide-listed.ts';
import { type Emitted, emitAction, emitSubjects, rulesInOneTextMax } from './emit.ts';
import { emitPayloadCheck } from './payload.ts';
import { payloadIssues } from './payload-issues.ts';
import { createSharedRules, type SharedRules } from './shared.ts';
import { safeText } from './show.ts';
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
  /** An action's functions themselves, which a reload keeps while their one text is equal; null where it is not declared. */
  code(action: string): object | null;
}

/** Code points of an undeclared action's key that a reason quotes at most. */
const quotedKeyLengthMax = 100;

/**
 * How rules are turned into code. By size: an action of few rules is one text of its own (`own`); where there are many
 * actions they share texts (`shared`); where an action has many rules an index says which to try (`indexed`). The
 * others are for comparison: the same for all actions whatever their size, and all rules tried without index (`listed`).
 */
export type Realisation = 'by size' | 'shared' | 'indexed' | 'listed';

/** Sets of more actions share texts: so many functions of their own would outgrow the processor's caches. */
const ownTextsMax = 256;

/** Actions of more rules are made ready with the set, not at their first use. */
const rulesAtFirstUseMax = 500;

/** Makes a program ready to decide. Functions come from the cache where it holds them. */
export function link(
  program: Program,
  cache: FunctionCache = createFunctionCache(),
  realisation: Realisation = 'by size',
): Linked {
  const session = cache.begin(program);
  const ctx: LinkContext = { program, session, realisation };
  const units = new Map<string, Unit>();

  const unitOf = (action: string): Unit | null => {
    const known = units.get(action);
    if (known !== undefined) return known;
    const declared = program.actions.get(action);
    if (declared === undefined) return null;
    const unit = createUnit(declared, ctx);
    units.set(action, unit);
    return unit;
  };

  for (const action of program.actions.values()) {
    if (action.rules.length > rulesAtFirstUseMax) unitOf(action.action);
  }

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
  readonly code: object;
  readonly decider: Decider;
  issues(payload: Json): readonly PayloadIssue[];
  trace(facts: Facts): readonly TracedRule[];
}

const noIssues: readonly PayloadIssue[] = [];

function createUnit(action: ActionProgram, ctx: LinkContext): Unit {
  const { session } = ctx;
  const check = emitPayloadCheck(action.shape);
  const isOfShape = session.reuse({ action: action.action, part: 'payload' }, check, run<PayloadCheck>);
  const { text, code, decider } = createRules(action, ctx);
  let tracer: ReturnType<typeof createTracer> | undefined;
  return {
    text,
    code,
    decider,
    issues: (payload) => (isOfShape(payload) ? noIssues : payloadIssues(action.shape, payload)),
    trace: (facts) => {
      tracer ??= createTracer(action, decider, run);
      return tracer(facts);
    },
  };
}

interface LinkContext {
  readonly program: Program;
  readonly session: CacheSession;
  readonly realisation: Realisation;
}

type RulesUnit = Pick<Unit, 'text' | 'code' | 'decider'>;

/** The rules of an action in the realisation that serves them best. */
function createRules(action: ActionProgram, ctx: LinkContext): RulesUnit {
  const { program, realisation } = ctx;
  if (realisation === 'indexed' || realisation === 'listed') return listedRules(action, ctx);
  if (action.rules.length > rulesInOneTextMax) return listedRules(action, ctx);
  if (realisation === 'shared' || program.actions.size > ownTextsMax) return sharedRules(action, ctx);
  return ownRules(action, ctx);
}

/** One text for all rules of the action. */
function ownRules(action: ActionProgram, { program, session }: LinkContext): RulesUnit {
  const emitted = emitAction(program, action, session.lists);
  const code = session.reuse({ action: action.action, part: 'rules' }, emitted, run<ActionCode>);
  const reasons = new Map(code.reasons.map(([at, reason]) => [action.rules[at]!, reason] as const));
  const decider = new KeyedDecider(action, {
    layout: [code.early, 4, code.late, 6],
    early: { base: 2, count: 1 },
    late: { base: 4, count: code.late === null ? 0 : 1 },
    reason: (rule) => reasons.get(rule)!,
  });
  return { text: emitted.text, code, decider };
}

/** What the text of an action returns; reasons by the place of their rule. */
interface ActionCode {
  readonly early: RuleCode<number>;
  readonly late: RuleCode<number> | null;
  readonly reasons: readonly (readonly [number, ReasonCode])[];
}

/** Shared texts, and the truths of all rules as one number. */
function sharedRules(action: ActionProgram, ctx: LinkContext): RulesUnit {
  const shared = createSharedRules(action, { ...ctx, run });
  const { layout, bases, reason } = shared;
  const stretch = (readsRisk: boolean): Stretch => {
    const places = [...action.rules.keys()].filter((place) => action.rules[place]!.readsRisk === readsRisk);
    return { base: bases[places[0] ?? 0] ?? 0, count: places.length };
  };
  const decider = new KeyedDecider(action, { layout, early: stretch(false), late: stretch(true), reason });
  return { text: textOf(shared), code: shared, decider };
}

/** Shared texts, and an index that says which rules to try. */
function listedRules(action: ActionProgram, ctx: LinkContext): RulesUnit {
  const shared = createSharedRules(action, { ...ctx, run });
  const find = ctx.realisation === 'listed' ? findAll(action) : findByIndex(action, ctx);
  const decider = new ListedDecider(action, { ...shared, find });
  return { text: textOf(shared), code: shared, decider };
}

function findAll({ rules }: ActionProgram): ListedCode['find'] {
  return (_facts, _state, found) => {
    for (let place = 0; place < rules.length; place += 1) found[place] = place;
    return rules.length;
  };
}

function findByIndex(action: ActionProgram, { program, session }: LinkContext): ListedCode['find'] {
  const index = createIndex(action.rules, program.lists);
  const emitted = emitSubjects(program, index.subjects, session.lists);
  const read = session.reuse({ action: action.action, part: 'subjects' }, emitted, run<ReadSubjects>);
  const values: unknown[] = index.subjects.map(() => undefined);
  return (facts, state, found) => {
    read(facts, state, values);
    return select(index, values, found);
  };
}

type ReadSubjects = (facts: Facts, state: State, values: unknown[]) => void;

function textOf({ templates }: SharedRules): string {
  return [...templates].map(({ text }) => text).join('\n\n');
}

type PayloadCheck = (payload: Json) => boolean;

/** Runs generated text with what is bound to its identifiers. `T` is what the generator says the text returns. */
function run<T>({ text, bindings }: Emitted): T {
  const names = bindings.keys.map((_, at) => `c${at}`);
  return new Function(...names, text)(...bindings.values) as T;
}

function undeclaredAction(action: string): Decision {
  const key = safeText(action, quotedKeyLengthMax);
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
