// A program into functions that decide. Code is made at an action's first use and kept in the cache; this is the only
// place where text becomes code, and the text is made by the `js` tag alone.

import { canonical } from '../model/canonical.ts';
import type { Decision, PayloadIssue } from '../model/decision.ts';
import type { Json } from '../model/json.ts';
import type { MeterDefinition, MeterUse } from '../model/metering.ts';
import type { Facts } from '../model/request.ts';
import type { TracedDecision, TracedRule } from '../model/trace.ts';
import type { Shape } from '../model/type.ts';
import { pack } from '../program/incremental.ts';
import type { PackedProgram } from '../program/packed.ts';
import type { Program, RuleHead } from '../program/program.ts';
import { createIndex, select } from '../program/select.ts';
import { sift } from '../program/sift.ts';
import { type OpenAction, unpack, wholeAction, wholeActionInSteps } from '../program/unpack.ts';
import { type CacheSession, createFunctionCache, type FunctionCache } from './cache.ts';
import type { Decider, State, Stretch } from './decide.ts';
import { type KeyedCode, KeyedDecider } from './decide-keyed.ts';
import { type ListedCode, ListedDecider, type RuleHeads } from './decide-listed.ts';
import { type Emitted, emitAction, emitSubjects, rulesInOneTextMax } from './emit.ts';
import { createEntries, type EnterMeters } from './enter.ts';
import { quotedKeyLengthMax, undeclaredAction } from './gate.ts';
import { createTextSets } from './membership.ts';
import { type ActionCode, isSmall, ownCode } from './own-code.ts';
import { createOwnTexts, type OwnTextLimits, type OwnTexts, ownTextLimits } from './own-texts.ts';
import { emitPayloadCheck } from './payload.ts';
import {
  issuesOf,
  type PayloadCheck,
  type PayloadGate,
  pass,
  recordedGate,
  refusedBy,
} from './payload-gate.ts';
import { resolvedTexts } from './payload-resolve.ts';
import { ruleText, SharedRules, type SharedSource } from './shared.ts';
import { createTracer, createTracerInSteps, type Tracer } from './trace.ts';

export { createFunctionCache, type FunctionCache };

export interface Linked {
  /** Whole decision: gate, payload check, rules, combining. */
  decide(facts: Facts): Decision;
  /** As `decide`, for a payload that is known to be of the action's shape, with each of its texts in canonical form. */
  decideChecked(facts: Facts): Decision;
  /** What is not of the declared shape, at most ten places; null where the action is not declared. */
  checkPayload(action: string, payload: Json): readonly PayloadIssue[] | null;
  /**
   * Makes actions of many rules ready to decide and to trace, a step at a time, so that whoever serves meanwhile is not
   * held up. What has not been made ready is at its first use.
   */
  prepare(): Iterator<void>;
  /** As `decide`, with every rule of the action as it turned out, the payload checked and the rules evaluated once. */
  decideTraced(facts: Facts): TracedDecision;
  /** As `decideTraced`, for a payload out of a record, where digests stand for secrets; no rule can read those. */
  decideRecorded(facts: Facts): TracedDecision;
  /** The rules alone. */
  trace(facts: Facts): readonly TracedRule[];
  /** Ids of the rules that deciding the request tries; none where the gate refuses it. */
  tried(facts: Facts): readonly string[];
  /** What the request adds to meters and reads of them; nothing where the gate refuses it. */
  entries(facts: Facts): readonly MeterUse[];
  /** As `entries`, of a record; null where its payload is not of the action's shape any more. */
  entriesRecorded(facts: Facts): readonly MeterUse[] | null;
  /** Every meter that some action counts or reads, each definition once. */
  readonly meters: readonly MeterDefinition[];
  /** What an action's payload may hold; null where the action is not declared. */
  shapeOf(action: string): Shape | null;
  /** The text of an action's generated functions; null where the action is not declared. */
  source(action: string): string | null;
  /** An action's functions themselves, which a reload keeps while their one text is equal; null where it is not declared. */
  code(action: string): object | null;
}

/**
 * How rules are turned into code. By size: an action of few rules is one text of its own (`own`); where there are many
 * actions they share texts (`shared`); where an action has many rules an index says which to try (`indexed`). The
 * others are for comparison: the same for all actions whatever their size, and all rules tried without index (`listed`).
 */
export type Realisation = 'by size' | 'shared' | 'indexed' | 'listed';

/** Keys that have been asked for in vain; agents choose them. */
const undeclaredMax = 1_024;

/** Tracers hold paths of all their rules; so many actions have one at a time. */
const tracersMax = 1_024;

/**
 * Makes a program ready to decide, which takes no time: an action is read when it is first asked for, a rule of many
 * when it is first tried. Functions come from the cache where it holds them.
 */
export function link(
  program: PackedProgram | Program,
  cache: FunctionCache = createFunctionCache(),
  realisation: Realisation = 'by size',
  limits: OwnTextLimits = ownTextLimits,
): Linked {
  const opened = unpack('texts' in program ? program : pack(program));
  const session = cache.begin(opened);
  const shapes = new Map<Shape, PayloadGate>();
  const makeOwn = (action: string): KeyedCode | null => promotedCode(opened.open(action)!, ctx);
  const ownTexts = realisation === 'by size' ? createOwnTexts(makeOwn, limits) : null;
  const ctx: LinkContext = {
    program: opened,
    session,
    realisation,
    textSets: createTextSets(),
    run,
    shapes,
    ownTexts,
    limits,
  };
  const units = new Map<string, Unit>();
  const undeclared = new Set<string>();
  const tracers = new Map<string, Tracer>();

  const unitOf = (action: string): Unit | null => {
    const known = units.get(action);
    if (known !== undefined) return known;
    if (undeclared.has(action)) return null;
    const declared = opened.open(action);
    if (declared === null) {
      if (undeclared.size >= undeclaredMax) undeclared.clear();
      if (action.length <= quotedKeyLengthMax) undeclared.add(action);
      return null;
    }
    const unit = createUnit(declared, ctx);
    units.set(action, unit);
    return unit;
  };

  const tracerOf = (action: string): Tracer => {
    const known = tracers.get(action);
    if (known !== undefined) return known;
    if (tracers.size >= tracersMax) tracers.clear();
    const tracer = createTracer(wholeAction(opened.open(action)!), shareText(session));
    tracers.set(action, tracer);
    return tracer;
  };

  function* prepare(): Generator<void> {
    for (const action of opened.indexed()) {
      yield* unitOf(action)?.layOut?.() ?? [];
      const whole = yield* wholeActionInSteps(opened.open(action)!);
      tracers.set(action, yield* createTracerInSteps(whole, shareText(session)));
    }
  }

  const decideTracedBy = (asked: Facts, gateOf: (gate: PayloadGate) => PayloadGate): TracedDecision => {
    const unit = unitOf(asked.action);
    if (unit === null) return { decision: undeclaredAction(asked.action), trace: noRules };
    const gate = gateOf(unit.gate);
    const facts = pass(gate, asked);
    if (facts === null) return { decision: refusedBy(gate, asked), trace: noRules };
    // Made first: truths are valid until rules are evaluated again.
    const tracer = tracerOf(facts.action);
    const all = unit.decider.decideAll(facts);
    const traced = { decision: all.decision, trace: tracer(facts, all) };
    return facts === asked
      ? traced
      : { ...traced, resolved: resolvedTexts(gate.shape, asked.payload, facts.payload) };
  };
  const decideTraced = (facts: Facts) => decideTracedBy(facts, (gate) => gate);

  return {
    decide: (asked) => {
      const unit = unitOf(asked.action);
      if (unit === null) return undeclaredAction(asked.action);
      const facts = pass(unit.gate, asked);
      return facts === null ? refusedBy(unit.gate, asked) : unit.decider.decide(facts);
    },
    decideChecked: (facts) => unitOf(facts.action)?.decider.decide(facts) ?? undeclaredAction(facts.action),
    checkPayload: (action, payload) => issuesOf(unitOf(action)?.gate, payload),
    prepare,
    decideTraced,
    decideRecorded: (facts) => decideTracedBy(facts, recordedGate),
    trace: (facts) => decideTraced(facts).trace,
    tried: (asked) => {
      const unit = unitOf(asked.action);
      const facts = unit === null ? null : pass(unit.gate, asked);
      if (unit === null || facts === null) return [];
      const declared = opened.open(facts.action)!;
      return unit.decider.tried(facts).map((place) => declared.head(place).id);
    },
    entries: (asked) => {
      const unit = unitOf(asked.action);
      if (unit === null || unit.enter === null) return [];
      const facts = pass(unit.gate, asked);
      return facts === null ? [] : unit.enter(facts);
    },
    entriesRecorded: (asked) => {
      const unit = unitOf(asked.action);
      if (unit === null || unit.enter === null) return [];
      const facts = pass(recordedGate(unit.gate), asked);
      return facts === null ? null : unit.enter(facts);
    },
    meters: opened.meters,
    shapeOf: (action) => unitOf(action)?.gate.shape ?? null,
    source: (action) => {
      const declared = opened.open(action);
      return declared === null ? null : sourceOf(declared, ctx);
    },
    code: (action) => unitOf(action)?.code ?? null,
  };
}

/** One action, ready; what it is made from is not kept. */
interface Unit {
  readonly gate: PayloadGate;
  readonly decider: Decider;
  readonly code: object;
  /** Null where no meter counts or reads requests of the action. */
  readonly enter: EnterMeters | null;
  /** Lays out the rules that have not been tried yet, in steps; absent where there are few. */
  readonly layOut?: () => Iterable<void>;
}

const noRules: readonly TracedRule[] = Object.freeze([]);

function createUnit(action: OpenAction, ctx: LinkContext): Unit {
  const enter = createEntries(action, { ...ctx, run });
  return { gate: gateOf(action.shape, ctx), enter, ...createRules(action, ctx) };
}

function gateOf(shape: Shape, { session, shapes }: LinkContext): PayloadGate {
  const known = shapes.get(shape);
  if (known !== undefined) return known;
  const key = `payload ${canonical(shape)}`;
  const check = session.shared(key, () => run<PayloadCheck>(emitPayloadCheck(shape)));
  const gate: PayloadGate = { shape, check };
  shapes.set(shape, gate);
  return gate;
}

/** Texts of traces are shared by all actions that have them. */
function shareText(session: CacheSession): <T>(emitted: Emitted) => T {
  return <T>(emitted: Emitted) => {
    const { text, bindings } = emitted;
    return session.shared(`trace ${bindings.keys.join(' ')} ${text}`, () => run<T>(emitted));
  };
}

interface LinkContext extends SharedSource {
  readonly realisation: Realisation;
  /** Of the actions that share texts; null where none shall have its own. */
  readonly ownTexts: OwnTexts<KeyedCode> | null;
  readonly limits: OwnTextLimits;
  readonly shapes: Map<Shape, PayloadGate>;
}

/** The rules of an action in the realisation that serves them best. */
function createRules(action: OpenAction, ctx: LinkContext): Omit<Unit, 'gate' | 'enter'> {
  switch (servedAs(action, ctx)) {
    case 'own':
      return ownRules(action, ctx);
    case 'shared':
      return sharedRules(action, ctx);
    case 'listed':
      return listedRules(action, ctx);
  }
}

function servedAs(
  { ruleCount }: OpenAction,
  { program, realisation, limits }: LinkContext,
): 'own' | 'shared' | 'listed' {
  if (realisation === 'indexed' || realisation === 'listed' || ruleCount > rulesInOneTextMax) return 'listed';
  return realisation === 'shared' || program.actions.size > limits.actionsMax ? 'shared' : 'own';
}

/** The text of all its functions but the payload check. */
function sourceOf(action: OpenAction, ctx: LinkContext): string {
  const hasOwn = servedAs(action, ctx) === 'own' || ctx.ownTexts?.has(action.action);
  if (hasOwn === true) return ownText(action, ctx).text;
  const texts = Array.from({ length: action.ruleCount }, (_, place) =>
    ruleText(action.condition(place), ctx),
  );
  return [...new Set(texts)].join('\n\n');
}

function ownText(action: OpenAction, { program, session }: LinkContext): Emitted {
  return emitAction(program, wholeAction(action), session.lists);
}

/** One text for all rules of the action. */
function ownRules(action: OpenAction, ctx: LinkContext): Omit<Unit, 'gate' | 'enter'> {
  const code = ctx.session.reuse({ action, part: 'rules' }, () => run<ActionCode>(ownText(action, ctx)));
  const decider = new KeyedDecider({ rules: headsOf(action), lets: action.lets }, ownCode(code, action));
  decider.serveOwn(ownCode(code, action));
  return { code, decider };
}

/** The code of an action that has shared texts; null where it would be too large. */
function promotedCode(action: OpenAction, ctx: LinkContext): KeyedCode | null {
  return isSmall(action) ? ownCode(run<ActionCode>(ownText(action, ctx)), action) : null;
}

function headsOf(action: OpenAction): readonly RuleHead[] {
  return Array.from({ length: action.ruleCount }, (_, place) => action.head(place));
}

/** Shared texts, and the truths of all rules as one number. */
function sharedRules(action: OpenAction, ctx: LinkContext): Omit<Unit, 'gate' | 'enter'> {
  const { lets } = action;
  const rules = headsOf(action);
  const code = new SharedKeyedCode(lets, ctx);
  code.layRules(action, rules);
  return { code, decider: new KeyedDecider({ rules, lets }, code, ctx.ownTexts) };
}

/** A class like the one it extends. */
class SharedKeyedCode extends SharedRules implements KeyedCode {
  early: Stretch = noStretch;
  late: Stretch = noStretch;
  readonly whole = null;

  /** One stretch of the layout holds the rules that do not read risk, by place, the next one those that do. */
  layRules(action: OpenAction, rules: readonly RuleHead[]): void {
    const stretch = (readsRisk: boolean): Stretch => {
      const places = [...rules.keys()].filter((place) => rules[place]!.readsRisk === readsRisk);
      const [base] = places.map((place) => this.lay(action.condition(place)));
      return base === undefined ? noStretch : { base, count: places.length };
    };
    this.early = stretch(false);
    this.late = stretch(true);
  }
}

const noStretch: Stretch = { base: 0, count: 0 };

/** Shared texts, and an index that says which rules to try. */
function listedRules(action: OpenAction, ctx: LinkContext): Omit<Unit, 'gate' | 'enter'> {
  const { lets, hasShadow, hasLate, ruleCount } = action;
  const shared = new SharedRules(lets, ctx);
  const bases = new Int32Array(ruleCount);
  const code: ListedCode = {
    find: ctx.realisation === 'listed' ? findAll(action) : findByIndex(action, ctx),
    layout: shared.layout,
    bases,
    lay: (place) => {
      bases[place] = shared.lay(action.condition(place));
      return bases[place];
    },
    reason: (rule) => shared.reason(rule),
  };
  const rules = createRuleHeads(action);
  const late = hasLate
    ? Uint8Array.from({ length: ruleCount }, (_, at) => Number(action.readsRisk(at)))
    : null;
  function* layOut(): Generator<void> {
    for (let place = 0; place < ruleCount; place += 1) {
      if (bases[place] === 0) code.lay(place);
      if (place % rulesPerStep === 0) yield;
    }
  }
  return { code: shared, decider: new ListedDecider({ rules, lets, hasShadow, late }, code), layOut };
}

/** Rules that are laid out in one step. */
const rulesPerStep = 20;

/** Heads of rules that have taken part lately; agents choose which. */
const headsKeptMax = 4_096;

function createRuleHeads(action: OpenAction): RuleHeads {
  const kept = new Map<number, RuleHead>();
  return {
    length: action.ruleCount,
    at: (place) => {
      const known = kept.get(place);
      if (known !== undefined) return known;
      if (kept.size >= headsKeptMax) kept.clear();
      const rule = action.head(place);
      kept.set(place, rule);
      return rule;
    },
  };
}

function findAll({ ruleCount }: OpenAction): ListedCode['find'] {
  return (_facts, _state, found) => {
    for (let place = 0; place < ruleCount; place += 1) found[place] = place;
    return ruleCount;
  };
}

function findByIndex(action: OpenAction, { program, session }: LinkContext): ListedCode['find'] {
  const index = program.index(action.action) ?? createIndex(wholeAction(action).rules, program.lists);
  const make = () => run<ReadSubjects>(emitSubjects(program, index.subjects, session.lists));
  const read = session.reuse({ action, part: 'subjects' }, make);
  const values: unknown[] = index.subjects.map(() => undefined);
  return (facts, state, found) => {
    read(facts, state, values);
    return sift(index.sieve, values, { found, count: select(index, values, found) });
  };
}

type ReadSubjects = (facts: Facts, state: State, values: unknown[]) => void;

/** Runs generated text with what is bound to its identifiers. `T` is what the generator says the text returns. */
function run<T>({ text, bindings }: Emitted): T {
  const names = bindings.keys.map((_, at) => `c${at}`);
  return new Function(...names, text)(...bindings.values) as T;
}
