// Turns conditions into JavaScript expressions. When nothing can be unknown, the result is a boolean.
// Otherwise it is 0 for false, 1 for unknown and 2 for true: `and` is the smallest, `or` the largest, and
// `not x` is `2 - x`. Evaluation stops as soon as the answer is certain.

import { canonical } from '../../model/canonical.ts';
import type { Value } from '../../model/value.ts';
import { isMoneyTerm } from '../../program/condition.ts';
import { isPayloadAmount, isPlain, isPlainMoney, plainNumber } from '../../program/plain.ts';
import type {
  ColumnTerm,
  ComparisonTest,
  Condition,
  InList,
  LiteralTerm,
  ReadFrom,
  ReadTerm,
  Term,
} from '../../program/program.ts';
import { type ConstantCondition, type GlobForm, globForm } from '../../program/template.ts';
import type { Decimal } from '../../value/decimal.ts';
import { compileGlob, globLiteralParts } from '../../value/glob.ts';
import { formatCidr } from '../../value/ip.ts';
import { compileRegex } from '../../value/regex.ts';
import { fold } from '../../value/text.ts';
import { hoursTest } from '../runtime/hours.ts';
import type { RuntimeName } from '../runtime/runtime.ts';
import { type Js, joinJs, js } from './js.ts';
import { isWrittenOut, loopCondition } from './loops.ts';
import { chainCode, isSignedCode, rawCode, valuesOf } from './reads.ts';
import { rowsCode } from './terms.ts';
import {
  type ConditionCode,
  commaJs,
  constantCode,
  guarded,
  kleene,
  temporary,
  use,
  type Writer,
} from './writer.ts';

/** The most constants that are compared one by one. More constants are looked up in a set. */
const comparedOneByOneMax = 8;

/** Generates the code of a condition. */
export function conditionCode(writer: Writer, condition: Condition): ConditionCode {
  const code = (operand: Condition): ConditionCode => writer.unit.condition(writer, operand);
  switch (condition.kind) {
    case 'constant':
      return constants[condition.truth];
    case 'flag':
      return guarded(writer, [condition.term], (value) => value);
    case 'not':
      return negated(code(condition.operand));
    case 'and':
      return joined(writer, condition.operands.map(code), 'and');
    case 'or':
      return joined(writer, condition.operands.map(code), 'or');
    case 'compare':
      return comparisonCode(writer, condition);
    case 'same': {
      const [left, right] = [code(condition.left), code(condition.right)];
      if (left.isTwoValued && right.isTwoValued) return twoValued(js`(${left.js} === ${right.js})`);
      return threeValued(js`${use(writer, 'same')}(${kleene(left)}, ${kleene(right)})`);
    }
    case 'has':
      return presence(writer, condition.read, js`(${chainCode(writer, condition.read)} != null)`);
    case 'is-null':
      return presence(writer, condition.read, js`(${chainCode(writer, condition.read)} === null)`);
    case 'in-list':
      return inListCode(writer, condition);
    case 'in-table': {
      const subject = writer.unit.term(writer, condition.subject);
      return threeValued(js`${use(writer, 'isRowThere')}(${rowsCode(writer, condition)}, f, ${subject})`);
    }
    case 'has-cell':
      return cellPresence(writer, condition.cell);
    case 'list-prefix':
      return listPrefixCode(writer, condition);
    case 'in-elements':
      return inElementsCode(writer, condition);
    case 'in-hours':
      return inHoursCode(writer, condition);
    case 'in-cidr': {
      const { cidr } = condition;
      const network = constantCode(writer, condition, {
        inline: () => writer.unit.bindings.bind(`cidr ${formatCidr(cidr)}`, () => cidr),
        make: (constant) => constant.cidr,
      });
      return guarded(writer, [condition.subject], (ip) => js`${use(writer, 'isInCidr')}(${ip}, ${network})`);
    }
    case 'like':
      return guarded(writer, [condition.subject], (text) => likeCode(writer, text!, condition));
    case 'matches': {
      const test = constantCode(writer, condition, {
        inline: () =>
          writer.unit.bindings.bind(`matches ${condition.pattern}`, () => regexTest(condition.pattern)),
        make: ({ pattern }) => regexTest(pattern),
      });
      return guarded(writer, [condition.subject], (text) => js`${test}(${text})`);
    }
    case 'single-script':
      return guarded(writer, [condition.subject], (text) => js`${use(writer, 'isSingleScript')}(${text})`);
    case 'text-test': {
      const { left, right, operator } = condition;
      const test =
        operator === 'contains' && right.kind === 'literal' ? containsConstant : textTests[operator](writer);
      return guarded(writer, [left, right], test);
    }
    case 'mentions-list': {
      const words = constantCode(writer, condition, {
        inline: () =>
          writer.unit.bindings.bind(`words of ${version(writer, condition.list)}`, () =>
            writer.unit.lists.folded(writer.unit.program.lists.get(condition.list)!),
          ),
        make: ({ list }, { lists, program }) => lists.folded(program.lists.get(list)!),
      });
      return mentionsCode(writer, condition.subject, words);
    }
    case 'mentions-words': {
      const words = constantCode(writer, condition, {
        inline: () =>
          writer.unit.bindings.bind(`words ${canonical(condition.words)}`, () => condition.words.map(fold)),
        make: (constant) => constant.words.map(fold),
      });
      return mentionsCode(writer, condition.subject, words);
    }
    case 'some':
    case 'every':
      return loopCondition(writer, condition);
  }
}

function inHoursCode(writer: Writer, condition: Extract<Condition, { kind: 'in-hours' }>): ConditionCode {
  const hours = writer.unit.program.hours.get(condition.hours)!;
  const test = constantCode(writer, condition, {
    inline: () => writer.unit.bindings.bind(`hours ${canonical(hours)}`, () => hoursTest(hours)),
    make: ({ hours: name }, { program }) => hoursTest(program.hours.get(name)!),
  });
  return threeValued(js`${test}(${writer.unit.term(writer, condition.subject)})`);
}

function cellPresence(writer: Writer, cell: ColumnTerm): ConditionCode {
  const key = writer.unit.term(writer, cell.key);
  return threeValued(js`${use(writer, 'hasCell')}(${rowsCode(writer, cell)}, f, ${key}, ${cell.index})`);
}

function listPrefixCode(
  writer: Writer,
  { subject, texts }: Extract<Condition, { kind: 'list-prefix' }>,
): ConditionCode {
  const list = valuesOf(writer, subject, writer.unit.term(writer, subject));
  const parts = joinJs(
    texts.map((text) => js`${text}`),
    commaJs,
  );
  return threeValued(js`${use(writer, 'beginsWith')}(${list}, [${parts}])`);
}

function twoValued(code: Js): ConditionCode {
  return { js: code, isTwoValued: true };
}

function threeValued(code: Js): ConditionCode {
  return { js: code, isTwoValued: false };
}

const constants = { true: twoValued(js`true`), false: twoValued(js`false`), unknown: threeValued(js`1`) };

function negated(operand: ConditionCode): ConditionCode {
  return operand.isTwoValued ? twoValued(js`!${operand.js}`) : threeValued(js`(2 - ${operand.js})`);
}

/**
 * Joins operands in order and stops when one of them decides the result. Among undecided operands, `&` and
 * `|` yield the smallest and the largest.
 */
function joined(writer: Writer, operands: readonly ConditionCode[], kind: 'and' | 'or'): ConditionCode {
  const isAnd = kind === 'and';
  const separator = isAnd ? js` && ` : js` || `;
  if (operands.every(({ isTwoValued }) => isTwoValued)) {
    return twoValued(
      js`(${joinJs(
        operands.map((operand) => operand.js),
        separator,
      )})`,
    );
  }
  const unsettled: Js[] = [];
  const tests = operands.map((operand) => {
    if (operand.isTwoValued) return operand.js;
    const name = temporary(writer);
    unsettled.push(name);
    return isAnd ? js`(${name} = ${operand.js}) !== 0` : js`(${name} = ${operand.js}) === 2`;
  });
  const test = joinJs(tests, separator);
  // Over ones and twos, `&` gives 2 when all are 2, and 0 when a 1 meets a 2.
  if (isAnd) return threeValued(js`(${test} ? (${joinJs(unsettled, js` & `)}) || 1 : 0)`);
  return threeValued(js`(${test} ? 2 : ${joinJs(unsettled, js` | `)})`);
}

/** True or false; unknown only when a required signature is missing. */
function presence(writer: Writer, read: ReadFrom, test: Js): ConditionCode {
  return read.isSigned
    ? threeValued(js`((${isSignedCode(writer, read)}) ? ${test} ? 2 : 0 : 1)`)
    : twoValued(test);
}

const operators = {
  '==': js`===`,
  '<': js`<`,
  '<=': js`<=`,
  '>': js`>`,
  '>=': js`>=`,
} as const satisfies Record<ComparisonTest['operator'], Js>;

function comparisonCode(writer: Writer, { operator, left, right }: ComparisonTest): ConditionCode {
  if (left.sort === 'text' || (isPlain(left) && isPlain(right))) {
    return guarded(writer, [left, right], (a, b) => js`${a} ${operators[operator]} ${b}`);
  }
  if (left.sort === 'ip') {
    return guarded(writer, [left, right], (a, b) => js`${use(writer, 'sameIp')}(${a}, ${b}) === 2`);
  }
  if (isPayloadAmount(left) && isPlainMoney(right)) {
    return amountCode(writer, { amount: left, operator, limit: right });
  }
  const [a, b] = [writer.unit.term(writer, left), writer.unit.term(writer, right)];
  switch (operator) {
    case '==':
      return threeValued(js`${use(writer, 'equal')}(${a}, ${b})`);
    case '<':
      return threeValued(js`${use(writer, 'less')}(${a}, ${b})`);
    case '<=':
      return threeValued(js`${use(writer, 'lessOrEqual')}(${a}, ${b})`);
    case '>':
      return threeValued(js`${use(writer, 'less')}(${b}, ${a})`);
    case '>=':
      return threeValued(js`${use(writer, 'lessOrEqual')}(${b}, ${a})`);
  }
}

/** Compares an amount of the payload with a constant, without making a money value at run time. */
function amountCode(
  writer: Writer,
  parts: { amount: ReadTerm; operator: ComparisonTest['operator']; limit: LiteralTerm },
): ConditionCode {
  const { amount, operator, limit } = parts;
  if (!isMoneyTerm(limit.value)) throw new TypeError('the limit of an amount is money');
  const amountOf = (term: LiteralTerm): number => plainNumber((term.value as Money).amount)!;
  const number = constantCode(writer, limit, { inline: () => js`${amountOf(limit)}`, make: amountOf });
  const raw = rawCode(writer, amount.read);
  const known = amount.currency?.known ?? null;
  if (known !== null && !amount.mayBeUnknown) return twoValued(js`(${raw} ${operators[operator]} ${number})`);
  const name = temporary(writer);
  const currency =
    amount.currency === null || known !== null
      ? js``
      : js`${rawCode(writer, amount.currency.read)} !== ${limit.value.currency} || `;
  return threeValued(
    js`(${currency}(${name} = ${raw}) == null ? 1 : ${name} ${operators[operator]} ${number} ? 2 : 0)`,
  );
}

type InElements = Extract<Condition, { kind: 'in-elements' }>;
type Money = Extract<Value, { readonly amount: Decimal }>;

function inListCode(writer: Writer, condition: InList): ConditionCode {
  const { unit } = writer;
  const list = unit.program.lists.get(condition.list)!;
  const isFew = list.entries.length <= comparedOneByOneMax;
  if (list.type.kind === 'text' && !list.ignoringCase && isFew && unit.apart === null) {
    return oneOf(writer, condition.subject, list.entries as readonly string[]);
  }
  if (list.type.kind !== 'text' && list.type.kind !== 'boolean') {
    const test = constantCode(writer, condition, {
      inline: () =>
        unit.bindings.bind(
          `test of ${version(writer, condition.list)}`,
          () => unit.lists.prepared(list).test,
        ),
      make: (constant, { lists, program }) => lists.prepared(program.lists.get(constant.list)!).test,
    });
    const [subject, name] = [unit.term(writer, condition.subject), temporary(writer)];
    return threeValued(js`((${name} = ${subject}) == null ? 1 : ${test}(${name}))`);
  }
  const set = constantCode(writer, condition, {
    inline: () =>
      unit.bindings.bind(
        `set of ${version(writer, condition.list)}`,
        () => unit.lists.prepared(list).scalars,
      ),
    make: (constant, { lists, program }) => lists.prepared(program.lists.get(constant.list)!).scalars,
  });
  const prepared = (value: Js): Js => (list.ignoringCase ? js`${use(writer, 'fold')}(${value})` : value);
  return guarded(writer, [condition.subject], (value) => js`${set}.has(${prepared(value!)})`);
}

function version(writer: Writer, name: string): string {
  return writer.unit.lists.version(writer.unit.program.lists.get(name)!);
}

function inElementsCode(writer: Writer, condition: InElements): ConditionCode {
  const { subject, elements } = condition;
  if (elements.kind === 'text-list') {
    const { texts } = elements;
    if (texts.length <= comparedOneByOneMax && writer.unit.apart === null)
      return oneOf(writer, subject, texts);
    const set = constantCode(writer, condition, {
      inline: () => writer.unit.bindings.bind(`texts ${canonical(texts)}`, () => new Set(texts)),
      make: (constant, { textSets }) => textSets.of((constant.elements as typeof elements).texts),
    });
    return guarded(writer, [subject], (value) => js`${set}.has(${value})`);
  }
  const list = valuesOf(writer, elements, elementsCode(writer, elements));
  const value = writer.unit.term(writer, subject);
  return threeValued(js`${use(writer, 'among')}(${list}, ${value}, ${use(writer, sameness(subject))})`);
}

/**
 * The code of a list. Within quantifiers, the list is unknown when it is too long to go through in every
 * round.
 */
function elementsCode(writer: Writer, elements: Term): Js {
  const code = writer.unit.term(writer, elements);
  if (writer.variables.size === 0 || isWrittenOut(elements)) return code;
  return js`${use(writer, 'boundedList')}(${code}, s.rounds)`;
}

/** The function that compares two known values for equality. */
function sameness(term: Term): RuntimeName {
  switch (term.sort) {
    case 'text':
    case 'boolean':
      return 'sameScalar';
    case 'ip':
      return 'sameIp';
    default:
      return 'equal';
  }
}

function oneOf(writer: Writer, subject: Term, texts: readonly string[]): ConditionCode {
  const name = temporary(writer);
  const value = writer.unit.term(writer, subject);
  const tests = joinJs(
    texts.map((text) => js`${name} === ${text}`),
    js` || `,
  );
  if (!subject.mayBeUnknown) return twoValued(js`(${name} = ${value}, ${tests})`);
  return threeValued(js`((${name} = ${value}) == null ? 1 : ${tests} ? 2 : 0)`);
}

type PatternCondition = Extract<ConstantCondition, { kind: 'like' | 'matches' }>;

/** A pattern with stars only at its ends becomes a plain test of text. */
function likeCode(writer: Writer, text: Js, condition: PatternCondition): Js {
  const form = globForm(condition.pattern);
  if (form === 'glob') {
    const { pattern } = condition;
    const test = constantCode(writer, condition, {
      inline: () => writer.unit.bindings.bind(`like ${pattern}`, () => compileGlob(pattern)),
      make: (constant) => compileGlob(constant.pattern),
    });
    return js`${test}(${text})`;
  }
  const literal = (like: PatternCondition): string => globLiteralParts(like.pattern).join('');
  const part = constantCode(writer, condition, { inline: () => js`${literal(condition)}`, make: literal });
  return plainGlobs[form](text, part);
}

const plainGlobs = {
  whole: (text, part) => js`${text} === ${part}`,
  prefix: (text, part) => js`${text}.startsWith(${part})`,
  suffix: (text, part) => js`${text}.endsWith(${part})`,
  infix: (text, part) => js`${text}.includes(${part})`,
} as const satisfies Record<Exclude<GlobForm, 'glob'>, (text: Js, part: Js) => Js>;

/** Compiles a pattern. The checker has compiled it before, so a pattern that fails is a TypeError. */
function regexTest(pattern: string): (text: string) => boolean {
  const test = compileRegex(pattern);
  if (typeof test !== 'function') throw new TypeError(`the checker lets no such pattern pass: ${test.error}`);
  return test;
}

type TextTest = (writer: Writer) => (...values: readonly Js[]) => Js;

const textTests = {
  'starts with': () => (a, b) => js`${a}.startsWith(${b})`,
  'ends with': () => (a, b) => js`${a}.endsWith(${b})`,
  contains: (writer) => (a, b) => js`${use(writer, 'includes')}(${a}, ${b})`,
  inside: (writer) => (a, b) => js`${use(writer, 'isInside')}(${a}, ${b})`,
} as const satisfies Record<Extract<Condition, { kind: 'text-test' }>['operator'], TextTest>;

/**
 * A part from the policy has a fixed length, whatever the payload is, so the runtime's own search is fast
 * enough.
 */
function containsConstant(...[text, part]: readonly Js[]): Js {
  return js`${text!}.includes(${part!})`;
}

function mentionsCode(writer: Writer, subject: Term, words: Js): ConditionCode {
  return guarded(writer, [subject], (text) => js`${use(writer, 'mentions')}(${text}, ${words})`);
}
