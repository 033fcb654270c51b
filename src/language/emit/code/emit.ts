// Turns rules into the text of functions. A small action is one text that contains its constants.
// `beforeRisk` evaluates the rules that do not read risk, `afterRisk` those that do; each returns a number
// that has the truth of each rule as a ternary digit. `reasons` make the sentences that show values. A
// template is a text that many rules share, with the constants outside of the text. INVARIANT: equal programs
// give equal text and equal keys of bindings; equal templates give equal text.

import { canonical } from '../../model/canonical.ts';
import { type MeterDefinition, meterRestart } from '../../model/metering.ts';
import type { NamedApprover } from '../../model/policy.ts';
import type { IndexSubject } from '../../program/index/index-key.ts';
import type {
  ActionMetering,
  ActionProgram,
  Condition,
  CountedEntry,
  PlannedEntry,
  PlannedRule,
  Program,
  TableRead,
  Term,
} from '../../program/program.ts';
import type { ProgramTemplate } from '../../program/template.ts';
import { fromNumber } from '../../value/decimal.ts';
import type { MeterHead } from '../runtime/entries.ts';
import { isFixed } from '../runtime/show.ts';
import { type Bindings, createBindings } from './bindings.ts';
import { conditionCode } from './conditions.ts';
import { identifier, type Js, joinJs, js, render } from './js.ts';
import { elseCode, rawCode, readCode, valuesOf } from './reads.ts';
import { termCode } from './terms.ts';
import {
  type CodeSlot,
  type ConditionCode,
  commaJs,
  constantCode,
  declareFunction,
  type ExternalConstants,
  kleene,
  type Lists,
  temporary,
  type Unit,
  use,
  type Writer,
} from './writer.ts';

/** The text of a function's body, and the bindings of its identifiers `c0`, `c1`, ... */
export interface EmittedFunction {
  readonly text: string;
  readonly bindings: Bindings;
}

/** The text of a template, and the values that the text finds at each place of `k`. */
export interface EmittedTemplate extends EmittedFunction {
  readonly slots: readonly CodeSlot[];
}

/** The most ternary digits that fit into a small integer. An action with more rules is not one text. */
export const rulesInOneTextMax = 19;

/**
 * Generates the functions of an action with few rules, as the body of a function that returns `{ beforeRisk,
 * afterRisk, reasons }`.
 */
export function emitAction(program: Program, action: ActionProgram, lists: Lists): EmittedFunction {
  const unit = createUnit(program, lists, null);
  for (const [index, { value }] of action.lets.entries()) unit.shared.push(declareLet(unit, index, value));
  const beforeRisk = declareRules(
    unit,
    action.rules.filter((rule) => !rule.readsRisk),
  );
  const rulesAfterRisk = action.rules.filter((rule) => rule.readsRisk);
  const afterRisk = rulesAfterRisk.length === 0 ? js`null` : declareRules(unit, rulesAfterRisk);
  const reasons = action.rules.flatMap((rule, index) =>
    isFixed(rule) ? [] : [js`[${index}, ${declareReason(unit, rule.reason)}]`],
  );
  const result = js`return { beforeRisk: ${beforeRisk}, afterRisk: ${afterRisk}, reasons: [${joinJs(reasons, commaJs)}] };`;
  return finish(unit, result);
}

/** Generates the function of a condition's template. The function returns 0, 1 or 2. */
export function emitCondition(condition: Condition, from: TemplateSource): EmittedTemplate {
  return emitTemplate(from, (unit) =>
    declareFunction(unit, {
      letters: 'rule',
      variables: noVariables,
      body: (writer) => js`return ${kleene(unit.condition(writer, condition))};`,
    }),
  );
}

/** Generates the function of a let's template. The function returns the value of the let. */
export function emitTerm(term: Term, from: TemplateSource): EmittedTemplate {
  return emitTemplate(from, (unit) =>
    declareFunction(unit, {
      letters: 'shared',
      variables: noVariables,
      body: (writer) => js`return ${valuesOf(writer, term, unit.term(writer, term))};`,
    }),
  );
}

/** Generates the function of a reason's template. The function returns the sentence. */
export function emitReason(reason: PlannedRule['reason'], from: TemplateSource): EmittedTemplate {
  return emitTemplate(from, (unit) => declareReason(unit, reason));
}

/** Generates the function of an approver's template. It returns the value, and why the value is unknown. */
export function emitApprover(
  { value, missing }: Pick<NamedApprover<Term>, 'value' | 'missing'>,
  from: TemplateSource,
): EmittedTemplate {
  return emitTemplate(from, (unit) =>
    declareFunction(unit, {
      letters: 'approver',
      variables: noVariables,
      body: (writer) =>
        js`return [${valuesOf(writer, value, unit.term(writer, value))}, ${reasonText(writer, missing)}];`,
    }),
  );
}

/**
 * Generates the function that reads the subjects of an index into an array. The array is its third argument,
 * after facts and state.
 */
export function emitSubjects(
  program: Program,
  subjects: readonly IndexSubject[],
  lists: Lists,
): EmittedFunction {
  const unit = createUnit(program, lists, null);
  const values = identifier('v', 0);
  const name = declareFunction(unit, {
    letters: 'read',
    variables: new Map([['values', values]]),
    body: (writer) => {
      const reads = subjects.map((subject, at) => js`${values}[${at}] = ${subjectCode(writer, subject)};`);
      return joinJs(reads, js`\n`);
    },
  });
  return finish(unit, js`return ${name};`);
}

/**
 * Generates the function that returns what an action reads of tables, as an array. Undefined stands for
 * unknown.
 */
export function emitTableReads(
  program: Program,
  { lets, reads }: { readonly lets: ActionProgram['lets']; readonly reads: readonly TableRead[] },
  lists: Lists,
): EmittedFunction {
  const unit = createUnit(program, lists, null);
  for (const [index, { value }] of lets.entries()) unit.shared.push(declareLet(unit, index, value));
  const name = declareFunction(unit, {
    letters: 'read',
    variables: noVariables,
    body: (writer) => {
      const values = reads.map((read) =>
        read.kind === 'column'
          ? unit.term(writer, read)
          : js`${use(writer, 'truthValue')}(${kleene(unit.condition(writer, read))})`,
      );
      return js`return [${joinJs(values, commaJs)}];`;
    },
  });
  return finish(unit, js`return ${name};`);
}

/** Generates the function that makes a request's entries in the meters of its action. */
export function emitEntries(
  program: Program,
  { entries, lets }: ActionMetering,
  lists: Lists,
): EmittedFunction {
  const unit = createUnit(program, lists, null);
  for (const [index, { value }] of lets.entries()) unit.shared.push(declareLet(unit, index, value));
  const name = declareFunction(unit, {
    letters: 'entries',
    variables: noVariables,
    body: (writer) => {
      const made = entries.map((entry) => entryCode(writer, entry));
      return js`return [${joinJs(made, commaJs)}];`;
    },
  });
  return finish(unit, js`return ${name};`);
}

/** The source of a template: the template, and the program and lists of a rule that has the template. */
export interface TemplateSource {
  readonly program: Program;
  readonly lists: Lists;
  readonly template: ProgramTemplate;
}

function emitTemplate(
  { program, lists, template }: TemplateSource,
  declare: (unit: Unit) => Js,
): EmittedTemplate {
  const indexes = new Map(template.constants.map((constant, index) => [constant, index] as const));
  const apart: ExternalConstants = { indexes, slots: [] };
  const unit = createUnit(program, lists, apart);
  const name = declare(unit);
  return { ...finish(unit, js`return ${name};`), slots: apart.slots };
}

function finish(unit: Unit, result: Js): EmittedFunction {
  const text = render(joinJs([js`"use strict";`, ...unit.functions, result], js`\n`));
  return { text, bindings: unit.bindings };
}

function createUnit(program: Program, lists: Lists, apart: ExternalConstants | null): Unit {
  return {
    program,
    lists,
    apart,
    bindings: createBindings(),
    functions: [],
    shared: [],
    counters: { variables: 0 },
    term: termCode,
    condition: conditionCode,
  };
}

const noVariables: ReadonlyMap<string, Js> = new Map();

/**
 * Declares the function of a let, which evaluates the let at its first use in a request. `null` in `s.lets`
 * means that the let has not been evaluated.
 */
function declareLet(unit: Unit, index: number, value: Term): Js {
  return declareFunction(unit, {
    letters: 'shared',
    variables: noVariables,
    body: (writer) => js`const known = s.lets[${index}]; if (known !== null) return known;
const rounds = s.rounds; s.rounds = 1;
const value = ${valuesOf(writer, value, unit.term(writer, value))} ?? undefined;
s.rounds = rounds; return s.lets[${index}] = value;`,
  });
}

/** Declares one function that evaluates all of the rules. The first rule is the lowest digit. */
function declareRules(unit: Unit, rules: readonly PlannedRule[]): Js {
  return declareFunction(unit, {
    letters: 'rules',
    variables: noVariables,
    body: (writer) => {
      const digits = rules.map(({ condition }, at) => digit(unit.condition(writer, condition), 3 ** at));
      return js`return ${joinJs([js`0`, ...digits], js`\n+ `)};`;
    },
  });
}

function digit(code: ConditionCode, weight: number): Js {
  return code.isTwoValued ? js`(${code.js} ? ${2 * weight} : 0)` : js`${weight} * ${code.js}`;
}

function declareReason(unit: Unit, reason: PlannedRule['reason']): Js {
  return declareFunction(unit, {
    letters: 'reason',
    variables: noVariables,
    body: (writer) => js`return ${reasonText(writer, reason)};`,
  });
}

function reasonText(writer: Writer, reason: PlannedRule['reason']): Js {
  return joinJs([js`""`, ...reason.map(partCode(writer))], js` + `);
}

function partCode(writer: Writer): (part: string | Term) => Js {
  return (part) => {
    if (typeof part === 'string') {
      return constantCode(writer, part, { inline: () => js`${part}`, make: (text) => text });
    }
    const elementSort = part.element?.sort ?? null;
    return js`${use(writer, 'show')}(${displayCode(writer, part)}, ${part.sort}, ${elementSort})`;
  };
}

/**
 * The code of the value to show: null when a field is absent or null, undefined when the field is unknown.
 */
function displayCode(writer: Writer, term: Term): Js {
  if (term.kind === 'absent') return js`null`;
  if (term.kind === 'read') return term.read.isSecret ? js`"secret"` : elseCode(writer, term, js`null`);
  if (term.kind === 'else') return elseCode(writer, term.subject, displayCode(writer, term.fallback));
  return valuesOf(writer, term, writer.unit.term(writer, term));
}

/** The code of the value under which rules are filed. An amount is filed as its bare number. */
function subjectCode(writer: Writer, { term, currency }: IndexSubject): Js {
  if (term.kind !== 'read' || currency === null) return writer.unit.term(writer, term);
  const amount = rawCode(writer, term.read);
  if (term.currency === null || term.currency.known !== null) {
    return term.currency?.known === currency ? amount : readCode(writer, term);
  }
  return js`(${rawCode(writer, term.currency.read)} === ${currency} ? ${amount} : undefined)`;
}

function entryCode(writer: Writer, { definition, names, keys, counted }: PlannedEntry): Js {
  const head: MeterHead = { definition, names };
  const bound = writer.unit.bindings.bind(`meter ${canonical(head)}`, () => head);
  const terms = keys.map((key) => writer.unit.term(writer, key));
  const parts = js`${bound}, ${use(writer, 'meterKey')}([${joinJs(terms, commaJs)}])`;
  if (counted === null) return js`${use(writer, 'meterUse')}(${parts}, 0, null)`;
  if (counted === 'anew') {
    const anew = writer.unit.bindings.bind('starts anew', () => meterRestart.value);
    return js`${use(writer, 'meterUse')}(${parts}, 2, ${anew})`;
  }
  const counts = temporary(writer);
  const when = kleene(writer.unit.condition(writer, counted.when));
  const value = js`${counts} === 0 ? null : ${addedCode(writer, counted, definition.aggregate)}`;
  return js`${use(writer, 'meterUse')}(${parts}, ${counts} = ${when}, ${value})`;
}

function addedCode(
  writer: Writer,
  { argument, currency }: CountedEntry,
  aggregate: MeterDefinition['aggregate'],
): Js {
  if (argument === null) return writer.unit.bindings.bind('one request', () => fromNumber(1));
  const value = writer.unit.term(writer, argument);
  if (aggregate === 'values') return js`${use(writer, 'valueText')}(${value})`;
  return js`${use(writer, 'addedAmount')}(${value}, ${currency})`;
}
