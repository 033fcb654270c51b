// Gathers generated code: its functions, the values bound to them, and in each function the variables in
// scope and the temporaries that it needs. Constants of the policy are in the text or outside of it. Rules
// that differ only in their constants share one text and find them in `k`, from index `b` on.

import type { List } from '../../model/policy.ts';
import type { Condition, Program, Term } from '../../program/program.ts';
import type { Constant } from '../../program/template.ts';
import type { PreparedList, TextSets } from '../runtime/membership.ts';
import { type RuntimeName, runtime } from '../runtime/runtime.ts';
import type { Bindings } from './bindings.ts';
import { identifier, type Js, joinJs, js } from './js.ts';

/** The code of a condition: a JavaScript boolean when the condition is two-valued, otherwise 0, 1 or 2. */
export interface ConditionCode {
  readonly js: Js;
  readonly isTwoValued: boolean;
}

/** Prepared forms of declared lists, made once for all actions and reloads that use them. */
export interface Lists {
  /** Names this content of the list. Other content has another version. */
  version(list: List): string;
  /** Names this content of the declared table. Other content has another version. */
  tableVersion(name: string): string;
  prepared(list: List): PreparedList;
  /** The folded entries of the list, for `mentions`. */
  folded(list: List): readonly string[];
}

/** Constants that are kept outside of the code. */
export interface ExternalConstants {
  /** The place of each constant in the template. */
  readonly indexes: ReadonlyMap<Constant, number>;
  /** The value that the code finds at each place of `k`, counted from `b`. */
  readonly slots: CodeSlot[];
}

/**
 * A value that shared code needs, made from the constant at a place of the template. For another rule of the
 * template, `make` makes the value from that rule's constant.
 */
export interface CodeSlot {
  readonly index: number;
  readonly make: (constant: Constant, ctx: ConstantContext) => unknown;
}

/** What values of constants are made from, besides the constants. */
export interface ConstantContext {
  readonly program: Program;
  readonly lists: Lists;
  readonly textSets: TextSets;
  /** Returns the shared let with this index. */
  readonly letAt: (index: number) => unknown;
}

/** Code that is being generated: that of one action or of one template. */
export interface Unit {
  readonly program: Program;
  readonly lists: Lists;
  /** The constants outside of the text; null when constants are in the text. */
  readonly apart: ExternalConstants | null;
  readonly bindings: Bindings;
  /** The function declarations so far. Each may call those before it. */
  readonly functions: Js[];
  /** The functions of the shared lets, by index; unused when constants are outside of the text. */
  readonly shared: Js[];
  readonly counters: { variables: number };
  /**
   * Generates the code of a term. Terms and conditions contain each other, so each calls the other's
   * generator through the unit.
   */
  term(writer: Writer, term: Term): Js;
  condition(writer: Writer, condition: Condition): ConditionCode;
}

/**
 * One function that is being generated. In its code, `f` are the facts, `p` the payload, `s` the state of the
 * evaluation, and `k` and `b` the constants outside of the text and the index of their first one.
 */
export interface Writer {
  readonly unit: Unit;
  /** The quantifier variables in scope, outermost first, with the parameters that hold their elements. */
  readonly variables: ReadonlyMap<string, Js>;
  readonly temporaries: Js[];
}

export const commaJs = js`, `;

/** Declares a new local variable of the function. */
export function temporary(writer: Writer): Js {
  const name = identifier('t', writer.temporaries.length);
  writer.temporaries.push(name);
  return name;
}

/** Binds a runtime function and returns its identifier. */
export function use(writer: Writer, name: RuntimeName): Js {
  return writer.unit.bindings.bind(name, () => runtime[name]);
}

/**
 * The code of a constant: `inline` when constants are in the text, or the value that `make` makes from it
 * when they are outside of the text.
 */
export function constantCode<C extends Constant>(
  writer: Writer,
  constant: C,
  { inline, make }: { inline: () => Js; make: (constant: C, ctx: ConstantContext) => unknown },
): Js {
  const { apart } = writer.unit;
  if (apart === null) return inline();
  const index = apart.indexes.get(constant);
  if (index === undefined) throw new TypeError('the template lacks a constant');
  // The constant at the same place of an equal template is of the same kind.
  apart.slots.push({ index, make: make as CodeSlot['make'] });
  return js`k[b + ${apart.slots.length - 1}]`;
}

interface FunctionParts {
  readonly letters: string;
  readonly variables: ReadonlyMap<string, Js>;
  readonly body: (writer: Writer) => Js;
}

/** Declares a function of the facts, the state and the variables. `body` generates its statements. */
export function declareFunction(unit: Unit, { letters, variables, body }: FunctionParts): Js {
  const writer: Writer = { unit, variables, temporaries: [] };
  const statements = body(writer);
  const name = identifier(letters, unit.functions.length);
  const parameters = joinJs([...commonParameters(unit), ...variables.values()], commaJs);
  const { temporaries } = writer;
  const locals = temporaries.length === 0 ? js`` : js` let ${joinJs(temporaries, commaJs)};`;
  unit.functions.push(js`function ${name}(${parameters}) { const p = f.payload;${locals}\n${statements}\n}`);
  return name;
}

/** The code that calls a declared function with the variables in scope. */
export function call(writer: Writer, name: Js): Js {
  return js`${name}(${joinJs([...commonParameters(writer.unit), ...writer.variables.values()], commaJs)})`;
}

/** The first parameters of every function of the unit. */
export function commonParameters({ apart }: Unit): readonly Js[] {
  return apart === null ? [js`f`, js`s`] : [js`f`, js`s`, js`k`, js`b`];
}

/** The code of a condition as 0, 1 or 2. */
export function kleene(code: ConditionCode): Js {
  return code.isTwoValued ? js`(${code.js} ? 2 : 0)` : code.js;
}

/**
 * The code of a test that is unknown when one of its values is unknown. `test` generates a JavaScript
 * boolean.
 */
export function guarded(
  writer: Writer,
  terms: readonly Term[],
  test: (...values: readonly Js[]) => Js,
): ConditionCode {
  const checks: Js[] = [];
  const values = terms.map((term) => {
    const value = writer.unit.term(writer, term);
    if (!term.mayBeUnknown) return value;
    const name = temporary(writer);
    checks.push(js`(${name} = ${value}) == null`);
    return name;
  });
  if (checks.length === 0) return { js: js`(${test(...values)})`, isTwoValued: true };
  return { js: js`(${joinJs(checks, js` || `)} ? 1 : ${test(...values)} ? 2 : 0)`, isTwoValued: false };
}
