// Links a program into functions that decide. Code is made at an action's first use and kept in the cache.
// Only the `js` tag makes its text, and `run.ts` turns the text into functions.

import type { CheckedRow, PolicyEngine } from '../model/active-policies.ts';
import { canonical } from '../model/canonical.ts';
import type { Decision, PayloadIssue } from '../model/decision.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { MeterDefinition } from '../model/metering.ts';
import { isPushed, keyedRow, type PushedTable, pushedKey, strayKey } from '../model/pushed-row.ts';
import type { Facts } from '../model/request.ts';
import { noTrace, type TracedDecision, tracedRules, tracedWholeMax } from '../model/trace.ts';
import type { Shape } from '../model/type.ts';
import { type OpenAction, type OpenProgram, wholeAction } from '../program/packed/unpack.ts';
import type { Program, RuleHead } from '../program/program.ts';
import { type CacheSession, createFunctionCache, type FunctionCache } from './cache.ts';
import { type EmittedFunction, emitAction, rulesInOneTextMax } from './code/emit.ts';
import { emitPayloadCheck } from './code/payload.ts';
import { payloadIssues } from './code/payload-issues.ts';
import { resolvedTexts, resolvePayload } from './code/payload-resolve.ts';
import { type Decider, type DecideSome, digitsOf, type Frame } from './decide/decide.ts';
import { quotedKeyLengthMax, undeclaredAction } from './decide/gate.ts';
import { type IndexedCode, IndexedDecider } from './decide/indexed.ts';
import { type KeyedCode, KeyedDecider } from './decide/keyed.ts';
import { createIndexes, createRuleHeads, findAll, findByIndex, type IndexOf } from './find-rules.ts';
import { createEntries, type EntriesFunction } from './meter-entries.ts';
import {
  issuesOf,
  type PayloadCheck,
  type PayloadGate,
  pass,
  recordedGate,
  refusedBy,
} from './payload-gate.ts';
import { createPossibility, type PossibilityOf } from './possibility.ts';
import type { Run } from './run.ts';
import { createTextSets } from './runtime/membership.ts';
import type { ReasonCode, State } from './runtime/state.ts';
import { ruleText, SharedRules, type SharedSource } from './shared.ts';
import { createTracers, traceDecision } from './tracers.ts';

export interface LinkedFunctions extends PolicyEngine {
  /**
   * Decides like `decide`, for a payload that is known to have the action's shape, with all texts in
   * canonical form.
   */
  decideChecked(facts: Facts): Decision;
  /**
   * Returns where a payload does not have the declared shape, at most ten places. Null when the action is not
   * declared.
   */
  checkPayload(action: string, payload: Json): readonly PayloadIssue[] | null;
  /**
   * Returns where the result of a call does not have the declared shape, at most ten places. Null when the
   * action is not declared or declares no result.
   */
  checkResult(action: string, result: Json): readonly PayloadIssue[] | null;
  /**
   * Makes actions with many rules ready to decide and to trace, step by step, so that a thread that serves
   * requests in the meantime is not held up. Anything that is not ready yet is made ready at its first use.
   */
  prepare(): Iterator<void>;
  /**
   * Returns the ids of the rules that are tried to decide the request. Empty when the action is not declared
   * or the payload is refused.
   */
  tried(facts: Facts): readonly string[];
  /** Returns the meters that count requests of the action. */
  counted(action: string): readonly MeterDefinition[];
  /** Returns the text of an action's generated functions. Null when the action is not declared. */
  source(action: string): string | null;
  /**
   * Returns the object with an action's functions. Null when the action is not declared. For an action with a
   * text of its own, a reload keeps the object while its content is equal.
   */
  code(action: string): object | null;
}

/**
 * How rules are turned into code. `by size` is the default. The truths of an action with few rules are one
 * number, the key of a decision that is made once (keyed). For an action with many rules, an index finds the
 * rules to try (`indexed`). Keyed actions have one text each or, when there are many actions, share the texts
 * of rules (`shared`). The other values exist for comparison: one realisation for all actions whatever their
 * size, or all rules tried for each request (`without index`).
 */
export type Realisation = 'by size' | 'shared' | 'indexed' | 'without index';

/**
 * The most actions for which each has a text of its own. Such texts decide faster, but more of them would
 * outgrow the caches of processors.
 */
const ownTextActionsMax = 1_024;

/**
 * The most action keys that are remembered as undeclared. Agents choose such keys, so the number is bounded.
 */
const undeclaredMax = 1_024;

/**
 * Makes a program ready to decide. This takes no time: an action is read when it is first needed, and a rule
 * of a large action when it is first tried. Functions come from the cache when the cache has them.
 */
export function link(
  program: OpenProgram,
  cache: FunctionCache = createFunctionCache(),
  realisation: Realisation = 'by size',
): LinkedFunctions {
  const session = cache.begin(program);
  const ctx: LinkContext = {
    program,
    session,
    realisation,
    textSets: createTextSets(),
    run: session.run,
    shapes: new Map(),
    indexOf: createIndexes(program),
  };
  const unitOf = createUnits(ctx);
  const tracers = createTracers(program, shareText(session), session);

  function* prepare(): Generator<void> {
    for (const action of program.indexed()) {
      // To read an index takes as long as many of the steps behind it.
      yield void ctx.indexOf(action);
      yield* unitOf(action)?.placeRules?.() ?? [];
      yield* tracers.prepare(action);
    }
  }

  const decideTracedBy = (request: Facts, gateOf: (gate: PayloadGate) => PayloadGate): TracedDecision => {
    const unit = unitOf(request.action);
    if (unit === null) return { decision: undeclaredAction(request.action), trace: noTrace };
    return decideAndTrace(request, unit, gateOf(unit.gate), tracers);
  };

  /**
   * Returns the request as its rules see it, with the decider of its action; null when the action is not
   * declared or the payload is refused.
   */
  const passGate = (request: Facts): { readonly facts: Facts; readonly decider: Decider } | null => {
    const unit = unitOf(request.action);
    const facts = unit === null ? null : pass(unit.gate, request);
    return unit === null || facts === null ? null : { facts, decider: unit.decider };
  };

  const entriesBy = (request: Facts, gateOf: (gate: PayloadGate) => PayloadGate): MeterEntries | null => {
    const unit = unitOf(request.action);
    if (unit === null || unit.enter === null) return [];
    const facts = pass(gateOf(unit.gate), withResult(unit, request));
    return facts === null ? null : unit.enter(facts);
  };

  return {
    decide: (request) => {
      const unit = unitOf(request.action);
      if (unit === null) return undeclaredAction(request.action);
      const facts = pass(unit.gate, request);
      return facts === null ? refusedBy(unit.gate, request) : unit.decider.decide(facts);
    },
    decideChecked: (facts) => unitOf(facts.action)?.decider.decide(facts) ?? undeclaredAction(facts.action),
    checkResult: (action, result) => issuesOf(unitOf(action)?.resultGate ?? undefined, result),
    checkPayload: (action, payload) => issuesOf(unitOf(action)?.gate, payload),
    ...createPushedTables(program),
    readsPushed: (action) => unitOf(action)?.readsPushed === true,
    prepare,
    decideTraced: (facts) => decideTracedBy(facts, (gate) => gate),
    decideRecorded: (facts) => decideTracedBy(facts, recordedGate),
    trace: (request) => {
      const passed = passGate(request);
      if (passed === null) return [];
      const { facts, decider } = passed;
      return tracedRules(tracers.of(facts.action).all(facts, decider.decideAll(facts)));
    },
    tried: (request) => {
      const passed = passGate(request);
      if (passed === null) return [];
      const declared = program.open(request.action)!;
      return passed.decider.tried(passed.facts).map((index) => declared.head(index).id);
    },
    entries: (request) => entriesBy(request, (gate) => gate) ?? [],
    entriesRecorded: (request) => entriesBy(request, recordedGate),
    meters: program.meters,
    counted: (action) =>
      (program.open(action)?.metering?.entries ?? []).flatMap(({ counted, definition }) =>
        counted === null ? [] : [definition],
      ),
    shapeOf: (action) => unitOf(action)?.gate.shape ?? null,
    resultShapeOf: (action) => unitOf(action)?.resultGate?.shape ?? null,
    actions: () => program.actions.keys(),
    possibility: createPossibilities(ctx),
    source: (action) => {
      const declared = program.open(action);
      return declared === null ? null : sourceOf(declared, ctx);
    },
    code: (action) => unitOf(action)?.code ?? null,
  };
}

/**
 * Returns the facts with the result as meters see it. A result that does not have the declared shape is left
 * out and so unknown.
 */
function withResult({ resultGate }: Unit, request: Facts): Facts {
  if (request.result === undefined) return request;
  const { result, ...others } = request;
  const checkedResult = resultGate?.check(result) ?? null;
  return checkedResult === null ? others : { ...others, result: checkedResult };
}

function decideAndTrace(
  request: Facts,
  unit: Unit,
  gate: PayloadGate,
  tracers: ReturnType<typeof createTracers>,
): TracedDecision {
  const facts = pass(gate, request);
  if (facts === null) return { decision: refusedBy(gate, request), trace: noTrace };
  const traced = traceDecision(tracers.of(facts.action), unit, facts);
  if (facts === request) return traced;
  const { payload } = facts;
  return { ...traced, resolved: resolvedTexts(gate.shape, request.payload, payload), payload };
}

/**
 * Returns a function that finds the unit of an action. A unit is made ready at its first use; null when the
 * action is not declared.
 */
function createUnits(ctx: LinkContext): (action: string) => Unit | null {
  const units = new Map<string, Unit>();
  const undeclared = new Set<string>();
  return (action) => {
    const cached = units.get(action);
    if (cached !== undefined) return cached;
    if (undeclared.has(action)) return null;
    const declared = ctx.program.open(action);
    if (declared === null) {
      if (undeclared.size >= undeclaredMax) undeclared.clear();
      if (action.length <= quotedKeyLengthMax) undeclared.add(action);
      return null;
    }
    const unit = createUnit(declared, ctx);
    units.set(action, unit);
    return unit;
  };
}

/**
 * Returns the function for what is possible, by action and agent. Each action is made ready at its first use.
 */
function createPossibilities(ctx: LinkContext): PolicyEngine['possibility'] {
  const ready = new Map<string, PossibilityOf>();
  return (action, agent) => {
    const declared = ready.has(action) ? null : ctx.program.open(action);
    if (declared !== null) ready.set(action, createPossibility(declared, ctx));
    return ready.get(action)?.(agent) ?? null;
  };
}

/** An action that is ready to decide. The program's action from which it is made is not kept. */
interface Unit {
  readonly gate: PayloadGate;
  /** The gate for the result of a call; null when the action declares no result. */
  readonly resultGate: PayloadGate | null;
  readonly decider: Decider;
  /** Makes decisions for traces that name only the rules that took part; null when traces name all rules. */
  readonly decideSome: DecideSome | null;
  readonly code: object;
  readonly readsPushed: boolean;
  /** Makes the request's entries in meters; null when no meter counts or reads the action's requests. */
  readonly enter: EntriesFunction | null;
  /** Adds the rules that have not been tried yet to the layout, in steps; absent when there are few rules. */
  readonly placeRules?: () => Iterable<void>;
}

type RulesUnit = Omit<Unit, 'gate' | 'resultGate' | 'enter' | 'readsPushed'>;

function createUnit(action: OpenAction, ctx: LinkContext): Unit {
  const enter = createEntries(action, ctx);
  const resultGate = action.result && gateOf(action.result, ctx);
  const readsPushed = action.tables.some((name) => isPushed(ctx.program.tables.get(name)));
  return { gate: gateOf(action.shape, ctx), resultGate, enter, readsPushed, ...createRules(action, ctx) };
}

function gateOf(shape: Shape, { session, shapes, run }: LinkContext): PayloadGate {
  const cached = shapes.get(shape);
  if (cached !== undefined) return cached;
  const key = `payload ${canonical(shape)}`;
  const check = session.shared(key, () => run<PayloadCheck>(emitPayloadCheck(shape)));
  const gate: PayloadGate = { shape, check };
  shapes.set(shape, gate);
  return gate;
}

/** Runs the generated text of traces. Actions with the same text share the result. */
function shareText(session: CacheSession): <T>(emitted: EmittedFunction) => T {
  return <T>(emitted: EmittedFunction) => {
    const { text, bindings } = emitted;
    return session.shared(`trace ${bindings.keys.join(' ')} ${text}`, () => session.run<T>(emitted));
  };
}

interface LinkContext extends SharedSource {
  readonly run: Run;
  readonly realisation: Realisation;
  readonly shapes: Map<Shape, PayloadGate>;
  readonly indexOf: IndexOf;
}

/** Makes the rules of an action ready, in the realisation that serves them best. */
function createRules(action: OpenAction, ctx: LinkContext): RulesUnit {
  switch (servedAs(action, ctx)) {
    case 'own':
      return ownRules(action, ctx);
    case 'shared':
      return sharedRules(action, ctx);
    case 'indexed':
      return indexedRules(action, ctx);
  }
}

function servedAs(
  { ruleCount }: OpenAction,
  { program, realisation }: LinkContext,
): 'own' | 'shared' | 'indexed' {
  if (realisation === 'indexed' || realisation === 'without index') return 'indexed';
  if (ruleCount > rulesInOneTextMax) return 'indexed';
  return realisation === 'shared' || program.actions.size > ownTextActionsMax ? 'shared' : 'own';
}

/** The text of all functions of an action, except the payload check. */
function sourceOf(action: OpenAction, ctx: LinkContext): string {
  if (servedAs(action, ctx) === 'own') return ownText(action, ctx).text;
  const texts = Array.from({ length: action.ruleCount }, (_, index) =>
    ruleText(action.condition(index), ctx),
  );
  return [...new Set(texts)].join('\n\n');
}

function ownText(action: OpenAction, { program, session }: LinkContext): EmittedFunction {
  return emitAction(program, wholeAction(action), session.lists);
}

/** Makes one text for all rules of the action. */
function ownRules(action: OpenAction, ctx: LinkContext): RulesUnit {
  const code = ctx.session.reuse({ action, part: 'rules' }, () => ctx.run<ActionCode>(ownText(action, ctx)));
  const { lets } = action;
  const decider = new KeyedDecider({ rules: headsOf(action), lets }, ownCode(code, action, ctx));
  return { code, decider, decideSome: null };
}

function headsOf(action: OpenAction): readonly RuleHead[] {
  return Array.from({ length: action.ruleCount }, (_, index) => action.head(index));
}

/** Uses shared texts, and combines the truths of all rules into one number. */
function sharedRules(action: OpenAction, ctx: LinkContext): RulesUnit {
  const { lets } = action;
  const rules = headsOf(action);
  const shared = new SharedRules(lets, ctx);
  const evaluate = (readsRisk: boolean): ((facts: Facts, state: State) => number) | null => {
    const frame = placeFrame(action, shared, (index) => rules[index]!.readsRisk === readsRisk);
    return frame === null ? null : (facts, state) => digitsOf(shared.layout, frame, facts, state);
  };
  const code: KeyedCode = {
    beforeRisk: evaluate(false) ?? noDigits,
    afterRisk: evaluate(true),
    reason: (rule) => shared.reason(rule),
    approver: (one) => shared.approver(one),
  };
  return { code, decider: new KeyedDecider({ rules, lets }, code), decideSome: null };
}

const noDigits = (): number => 0;

/**
 * Adds the wanted rules of an action to the layout, one after the other, by place. Null when there are none.
 */
function placeFrame(
  action: OpenAction,
  shared: SharedRules,
  isWanted: (index: number) => boolean,
): Frame | null {
  const indexes = Array.from({ length: action.ruleCount }, (_, index) => index).filter(isWanted);
  const [base] = indexes.map((place) => shared.placeRule(action.condition(place)));
  return base === undefined ? null : { base, count: indexes.length };
}

/** Uses shared texts, and an index that finds the rules to try. */
function indexedRules(action: OpenAction, ctx: LinkContext): RulesUnit {
  const { lets, hasShadow, hasAfterRisk, ruleCount } = action;
  const shared = new SharedRules(lets, ctx);
  const bases = new Int32Array(ruleCount);
  const code: IndexedCode = {
    find: ctx.realisation === 'without index' ? findAll(action) : findByIndex(action, ctx),
    layout: shared.layout,
    bases,
    placeRule: (index) => {
      bases[index] = shared.placeRule(action.condition(index));
      return bases[index];
    },
    reason: (rule) => shared.reason(rule),
    approver: (one) => shared.approver(one),
  };
  const rules = createRuleHeads(action);
  const afterRisk = hasAfterRisk
    ? Uint8Array.from({ length: ruleCount }, (_, at) => Number(action.readsRisk(at)))
    : null;
  function* placeRules(): Generator<void> {
    for (let place = 0; place < ruleCount; place += 1) {
      if (place % rulesPerStep === 0) yield;
      if (bases[place] === 0) code.placeRule(place);
    }
  }
  const decider = new IndexedDecider({ rules, lets, hasShadow, afterRisk }, code);
  const decideSome: DecideSome | null =
    ruleCount > tracedWholeMax ? (facts) => decider.decideSome(facts) : null;
  return { code: shared, decider, decideSome, placeRules };
}

/** The number of rules that one step adds to the layout. */
const rulesPerStep = 20;

type MeterEntries = ReturnType<EntriesFunction>;

/** What the text of an action returns. Reasons are listed with the place of their rule. */
export interface ActionCode {
  readonly beforeRisk: (facts: Facts, state: State) => number;
  /** Evaluates the rules that read risk; null when there are none. */
  readonly afterRisk: ((facts: Facts, state: State) => number) | null;
  readonly reasons: readonly (readonly [number, ReasonCode])[];
}

function ownCode(
  { beforeRisk, afterRisk, reasons }: ActionCode,
  action: OpenAction,
  ctx: LinkContext,
): KeyedCode {
  const byRule = new Map(reasons.map(([at, reason]) => [action.head(at).id, reason] as const));
  let shared: SharedRules | null = null;
  return {
    beforeRisk,
    afterRisk,
    reason: ({ id }) => byRule.get(id)!,
    approver: (one) => {
      shared ??= new SharedRules(action.lets, ctx);
      return shared.approver(one);
    },
  };
}

/** Finds the tables when they are first needed. */
function createPushedTables({ tables }: Program): Pick<PolicyEngine, 'checkRow' | 'pushedTables'> {
  let pushed: ReadonlyMap<string, PushedTable> | null = null;
  const pushedTables = () => {
    pushed ??= new Map([...tables.values()].filter(isPushed).map((table) => [table.name, table]));
    return pushed;
  };
  return {
    pushedTables,
    checkRow: (name, key, row) => {
      const table = pushedTables().get(name);
      return table === undefined ? null : checkRow(table, key, row);
    },
  };
}

function checkRow(table: PushedTable, key: string, row: JsonObject): CheckedRow {
  const { shape, record } = keyedRow(table, key, row);
  const issues = [...strayKey(table, row), ...payloadIssues(shape, record)];
  if (issues.length > 0) return { kind: 'unfit', issues };
  return { kind: 'fit', key: pushedKey(table, resolvePayload(shape, record)) };
}
