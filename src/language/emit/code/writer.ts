// Where generated code is gathered: its functions, the values bound to them, and in each function the variables in
// scope and the temporaries it needs. Constants of the policy stand in the text, or apart from it, in `k` from `b` on,
// where rules that differ in nothing else share one text.

import type { List } from '../../model/policy.ts';
import type { Condition, Program, Term } from '../../program/program.ts';
import type { Constant } from '../../program/template.ts';
import type { PreparedList, TextSets } from '../runtime/membership.ts';
import { type RuntimeName, runtime } from '../runtime/runtime.ts';
import type { Bindings } from './bindings.ts';
import { identifier, type Js, joinJs, js } from './js.ts';

/** A condition's code: a JavaScript boolean where it is two-valued, else 0, 1 or 2. */
export interface ConditionCode {
  readonly js: Js;
  readonly isTwoValued: boolean;
}

/** Declared lists made ready once for all actions and reloads that use them. */
export interface Lists {
  /** Names this content of the list; another content has another version. */
  version(list: List): string;
  /** The same of a declared table. */
  tableVersion(name: string): string;
  prepared(list: List): PreparedList;
  /** Its entries folded, for `mentions`. */
  folded(list: List): readonly string[];
}

/** Constants that stand apart from the code. */
export interface ConstantsApart {
  /** Where the template has each of them. */
  readonly places: ReadonlyMap<Constant, number>;
  /** What the code finds at each place of `k`, counted from `b`. */
  readonly slots: CodeSlot[];
}

/** A value that code wants of a constant of its template; of another constant at this place it is made alike. */
export interface CodeSlot {
  readonly place: number;
  readonly make: (constant: Constant, ctx: ConstantContext) => unknown;
}

/** What constants are made of besides themselves. */
export interface ConstantContext {
  readonly program: Program;
  readonly lists: Lists;
  readonly textSets: TextSets;
  /** The shared let with this index. */
  readonly letAt: (index: number) => unknown;
}

/** Code in the making: that of one action, or of one template. */
export interface Unit {
  readonly program: Program;
  readonly lists: Lists;
  /** Null where constants stand in the text. */
  readonly apart: ConstantsApart | null;
  readonly bindings: Bindings;
  /** Function declarations so far; each may call those before it. */
  readonly functions: Js[];
  /** The functions of the shared lets, by index; unused where constants stand apart. */
  readonly shared: Js[];
  readonly counters: { variables: number };
  /** Terms and conditions contain each other, so their writers meet here. */
  term(writer: Writer, term: Term): Js;
  condition(writer: Writer, condition: Condition): ConditionCode;
}

/** One function in the making. `f` are the facts, `p` the payload, `s` the state of the evaluation, `k` and `b` as above. */
export interface Writer {
  readonly unit: Unit;
  /** Quantifier variables in scope, outermost first, with the parameters that hold their elements. */
  readonly variables: ReadonlyMap<string, Js>;
  readonly temporaries: Js[];
}

export const commaJs = js`, `;

/** A fresh local variable of the function. */
export function temporary(writer: Writer): Js {
  const name = identifier('t', writer.temporaries.length);
  writer.temporaries.push(name);
  return name;
}

/** The identifier of a runtime function. */
export function use(writer: Writer, name: RuntimeName): Js {
  return writer.unit.bindings.bind(name, () => runtime[name]);
}

/** A constant of the policy: `inline` as text, or what `make` makes of it where constants stand apart. */
export function constantCode<C extends Constant>(
  writer: Writer,
  constant: C,
  { inline, make }: { inline: () => Js; make: (constant: C, ctx: ConstantContext) => unknown },
): Js {
  const { apart } = writer.unit;
  if (apart === null) return inline();
  const place = apart.places.get(constant);
  if (place === undefined) throw new TypeError('the template lacks a constant');
  // A constant at the same place of an equal template is of the same kind.
  apart.slots.push({ place, make: make as CodeSlot['make'] });
  return js`k[b + ${apart.slots.length - 1}]`;
}

interface FunctionParts {
  readonly letters: string;
  readonly variables: ReadonlyMap<string, Js>;
  readonly body: (writer: Writer) => Js;
}

/** Declares a function of the facts, the state and the variables; `body` gives its statements. */
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

/** A call of a declared function with the variables in scope. */
export function call(writer: Writer, name: Js): Js {
  return js`${name}(${joinJs([...commonParameters(writer.unit), ...writer.variables.values()], commaJs)})`;
}

/** What every function of the unit takes first. */
export function commonParameters({ apart }: Unit): readonly Js[] {
  return apart === null ? [js`f`, js`s`] : [js`f`, js`s`, js`k`, js`b`];
}

/** The condition as 0, 1 or 2. */
export function kleene(code: ConditionCode): Js {
  return code.isTwoValued ? js`(${code.js} ? 2 : 0)` : code.js;
}

/** A test of values that may be unknown, and then is unknown itself; `test` gives a JavaScript boolean. */
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
