// Turns quantifiers into functions of their own: a loop over every source that calls one function for the
// body. An unknown source makes the whole quantifier unknown; an absent or null source has no elements.
// `s.rounds` is how often the loops around a place run together. INVARIANT: a loop restores `s.rounds`.

import { elementRoundsMax } from '../../model/limits.ts';
import { isUnknowableList } from '../../program/condition.ts';
import type { CountTerm, QuantifiedCondition, SumTerm, Term } from '../../program/program.ts';
import { identifier, type Js, joinJs, js } from './js.ts';
import { elementCode, listCode } from './reads.ts';
import {
  type ConditionCode,
  call,
  commaJs,
  commonParameters,
  declareFunction,
  kleene,
  use,
  type Writer,
} from './writer.ts';

/** Generates the code of `some` and `every`. */
export function loopCondition(writer: Writer, condition: QuantifiedCondition): ConditionCode {
  const { kind } = condition;
  const [stop, rest] = kind === 'some' ? [js`2`, js`0`] : [js`0`, js`2`];
  const loop = declareLoop(writer, condition, {
    body: (inner) => kleene(inner.unit.condition(inner, condition.body)),
    start: () => rest,
    unknown: js`1`,
    step: (result) => js`if (e === ${stop}) { ${result} = ${stop}; break walk; } if (e === 1) ${result} = 1;`,
  });
  return { js: loop, isTwoValued: false };
}

/**
 * Generates the code of `count` and `sum`. The result is unknown as soon as the body is unknown for one
 * element.
 */
export function loopTerm(writer: Writer, term: CountTerm | SumTerm): Js {
  if (term.kind === 'count') {
    return declareLoop(writer, term, {
      body: (inner) => kleene(inner.unit.condition(inner, term.body)),
      start: () => js`0`,
      unknown: js`undefined`,
      step: (result) => js`if (e === 1) { ${result} = undefined; break walk; } if (e === 2) ${result} += 1;`,
    });
  }
  return declareLoop(writer, term, {
    body: (inner) => inner.unit.term(inner, term.body),
    start: (inner) =>
      term.sort === 'money'
        ? inner.unit.bindings.bind('sum of nothing', () => ({ amount: 0, currency: null }))
        : js`0`,
    unknown: js`undefined`,
    step: (result, inner) =>
      js`${result} = ${use(inner, 'add')}(${result}, e); if (${result} === undefined) break walk;`,
  });
}

interface Loop {
  readonly body: (inner: Writer) => Js;
  readonly start: (inner: Writer) => Js;
  readonly unknown: Js;
  /** The statements that handle the body's value `e`. */
  readonly step: (result: Js, inner: Writer) => Js;
}

type Quantifier = QuantifiedCondition | CountTerm | SumTerm;

/** Declares the function that goes through all sources, and returns a call of it. */
function declareLoop(writer: Writer, quantifier: Quantifier, loop: Loop): Js {
  const { unit } = writer;
  unit.counters.variables += 1;
  const element = identifier('v', unit.counters.variables);
  const body = declareFunction(unit, {
    letters: 'body',
    variables: new Map([...visible(writer, quantifier), [quantifier.variable, element]]),
    body: (inner) => js`return ${loop.body(inner)};`,
  });
  const name = declareFunction(unit, {
    letters: 'loop',
    variables: writer.variables,
    body: (inner) => loopStatements(inner, quantifier, { ...loop, bodyName: body }),
  });
  return call(writer, name);
}

/** The outer variables that the body sees: all except one that the quantifier's own variable hides. */
function visible(writer: Writer, { variable }: Quantifier): readonly (readonly [string, Js])[] {
  return [...writer.variables].filter(([name]) => name !== variable);
}

function loopStatements(inner: Writer, quantifier: Quantifier, loop: Loop & { bodyName: Js }): Js {
  const { sources } = quantifier;
  const outer = visible(inner, quantifier).map(([, name]) => name);
  const lists = sources.map((_, at) => identifier('a', at));
  const loads = sources.map((source, at) => {
    const load = js`const ${lists[at]} = ${sourceCode(inner, source)};`;
    const checked = isUnknowableList(source)
      ? js`${load} if (${lists[at]} == null) return ${loop.unknown};`
      : load;
    if (inner.variables.size === 0 || isWrittenOut(source)) return checked;
    return js`${checked} if (s.rounds * ${lists[at]}.length > ${elementRoundsMax}) return ${loop.unknown};`;
  });
  const count = joinJs([js`0`, ...lists.map((list) => js`${list}.length`)], js` + `);
  const loops = sources.map((source, at) => {
    const converted = elementCode(inner, source.element, js`${lists[at]}[i]`);
    const args = joinJs([...commonParameters(inner.unit), ...outer, converted], commaJs);
    const step = loop.step(js`r`, inner);
    return js`for (let i = 0; i < ${lists[at]}.length; i++) { const e = ${loop.bodyName}(${args}); ${step} }`;
  });
  return joinJs(
    [
      ...loads,
      js`const before = s.rounds; s.rounds = before * (${count});`,
      js`let r = ${loop.start(inner)};`,
      js`walk: {`,
      ...loops,
      js`}`,
      js`s.rounds = before; return r;`,
    ],
    js`\n`,
  );
}

/** Whether all elements are constants of the policy, so that no request can add more. */
export function isWrittenOut(source: Term): boolean {
  if (source.kind === 'text-list') return true;
  return source.kind === 'list' && source.elements.every((element) => element.kind === 'literal');
}

/**
 * The code of a source's list: undefined or null when the source is unknown, empty when it is absent or null.
 */
function sourceCode(writer: Writer, source: Term): Js {
  return source.kind === 'read' ? listCode(writer, source.read) : writer.unit.term(writer, source);
}
