// One action's program into the text of its functions: `early` evaluates the rules that do not read risk, `late` those
// that do, each rule to 0, 1 or 2 in `s.truths`; `reasons` make the sentences that show values.
// INVARIANT: equal programs give equal text and equal keys of bindings.

import type { ActionProgram, PlannedRule, Program, Term } from '../program/program.ts';
import { type Bindings, createBindings } from './bindings.ts';
import { conditionCode } from './conditions.ts';
import { type Js, joinJs, js, render } from './js.ts';
import { elseCode, valuesOf } from './reads.ts';
import { termCode } from './terms.ts';
import { commaJs, declareFunction, kleene, type Lists, type Unit, use, type Writer } from './writer.ts';

/** The text of a function's body, and what its identifiers `c0`, `c1`, ... are bound to. */
export interface Emitted {
  readonly text: string;
  readonly bindings: Bindings;
}

/** Rules in one function at most: V8 does not optimise functions of more than 60 KiB of bytecode. */
const rulesPerFunctionMax = 64;

/** The functions of an action, as the body of a function that returns `{ early, late, reasons }`. */
export function emitAction(program: Program, action: ActionProgram, lists: Lists): Emitted {
  const unit = createUnit(program, action, lists);
  for (const [index, { value }] of action.lets.entries()) unit.shared.push(declareLet(unit, index, value));
  const numbered = action.rules.map((rule, index) => ({ rule, index }));
  const early = declareRules(
    unit,
    numbered.filter(({ rule }) => !rule.readsRisk),
  );
  const late = declareRules(
    unit,
    numbered.filter(({ rule }) => rule.readsRisk),
  );
  const reasons = numbered.filter(({ rule }) => !isFixed(rule)).map((entry) => declareReason(unit, entry));
  const result = js`return { early: ${early}, late: ${late}, reasons: [${joinJs(reasons, commaJs)}] };`;
  const text = render(joinJs([js`"use strict";`, ...unit.functions, result], js`\n`));
  return { text, bindings: unit.bindings };
}

/** Whether the rule's reason shows no value. */
function isFixed(rule: PlannedRule): boolean {
  return rule.reason.every((part) => typeof part === 'string');
}

function createUnit(program: Program, action: ActionProgram, lists: Lists): Unit {
  return {
    program,
    action,
    lists,
    bindings: createBindings(),
    functions: [],
    shared: [],
    counters: { variables: 0 },
    term: termCode,
    condition: conditionCode,
  };
}

const noVariables: ReadonlyMap<string, Js> = new Map();

/** A let is evaluated at its first use in a request; `null` says that it has not been. */
function declareLet(unit: Unit, index: number, value: Term): Js {
  return declareFunction(unit, {
    letters: 'shared',
    variables: noVariables,
    body: (writer) => js`const known = s.lets[${index}]; if (known !== null) return known;
return s.lets[${index}] = ${valuesOf(writer, value, unit.term(writer, value))} ?? undefined;`,
  });
}

interface NumberedRule {
  readonly rule: PlannedRule;
  readonly index: number;
}

/** One function that evaluates all of the rules, by way of others where they are many. */
function declareRules(unit: Unit, rules: readonly NumberedRule[]): Js {
  const parts: Js[] = [];
  for (let from = 0; from < rules.length; from += rulesPerFunctionMax) {
    parts.push(declarePart(unit, rules.slice(from, from + rulesPerFunctionMax)));
  }
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only;
  const calls = joinJs(
    parts.map((part) => js`${part}(f, s);`),
    js` `,
  );
  return declareFunction(unit, { letters: 'rules', variables: noVariables, body: () => calls });
}

function declarePart(unit: Unit, rules: readonly NumberedRule[]): Js {
  const evaluate =
    (writer: Writer) =>
    (entry: NumberedRule): Js =>
      js`o[${entry.index}] = ${kleene(unit.condition(writer, entry.rule.condition))};`;
  return declareFunction(unit, {
    letters: 'rules',
    variables: noVariables,
    body: (writer) => joinJs([js`const o = s.truths;`, ...rules.map(evaluate(writer))], js`\n`),
  });
}

/** An entry of `reasons`: the rule's index, and the function that makes its sentence. */
function declareReason(unit: Unit, { rule, index }: NumberedRule): Js {
  const name = declareFunction(unit, {
    letters: 'reason',
    variables: noVariables,
    body: (writer) => js`return ${joinJs([js`""`, ...rule.reason.map(partCode(writer))], js` + `)};`,
  });
  return js`[${index}, ${name}]`;
}

function partCode(writer: Writer): (part: string | Term) => Js {
  return (part) => {
    if (typeof part === 'string') return js`${part}`;
    const elementSort = part.element?.sort ?? null;
    return js`${use(writer, 'show')}(${shownCode(writer, part)}, ${part.sort}, ${elementSort})`;
  };
}

/** The value to show: null where a field is absent or null, undefined where it is unknown. */
function shownCode(writer: Writer, term: Term): Js {
  if (term.kind === 'absent') return js`null`;
  if (term.kind === 'read') return term.read.isSecret ? js`"secret"` : elseCode(writer, term, js`null`);
  if (term.kind === 'else') return elseCode(writer, term.subject, shownCode(writer, term.fallback));
  return valuesOf(writer, term, writer.unit.term(writer, term));
}
