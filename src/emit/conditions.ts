// Conditions into JavaScript expressions: booleans where nothing can be unknown, else 0 for false, 1 for unknown and 2
// for true, so that `and` is the smallest, `or` the largest and `not` is 2 less. Evaluation stops as soon as the
// answer is certain.

import { canonical } from '../program/canonical.ts';
import { isMoney } from '../program/condition.ts';
import type { Comparison, Condition, InList, LiteralTerm, Read, ReadTerm, Term } from '../program/program.ts';
import { compileGlob, globLiteralParts } from '../value/glob.ts';
import { formatCidr } from '../value/ip.ts';
import { compileRegex } from '../value/regex.ts';
import { fold } from '../value/text.ts';
import { type Js, joinJs, js } from './js.ts';
import { loopCondition } from './loops.ts';
import { plainNumber } from './quantity.ts';
import { chainCode, rawCode, valuesOf } from './reads.ts';
import type { RuntimeName } from './runtime.ts';
import { isPlain } from './terms.ts';
import { type ConditionCode, guarded, kleene, temporary, use, type Writer } from './writer.ts';

/** So many constants are compared one by one; more are looked up in a set. */
const comparedOneByOneMax = 8;

/** The condition's code. */
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
      return presence(condition.read, js`(${chainCode(writer, condition.read)} != null)`);
    case 'is-null':
      return presence(condition.read, js`(${chainCode(writer, condition.read)} === null)`);
    case 'in-list':
      return inListCode(writer, condition);
    case 'in-elements':
      return inElementsCode(writer, condition.subject, condition.elements);
    case 'in-hours': {
      const hours = writer.unit.program.hours.get(condition.hours)!;
      const bound = writer.unit.bindings.bind(`hours ${canonical(hours)}`, () => hours);
      return threeValued(
        js`${use(writer, 'within')}(${bound}, ${writer.unit.term(writer, condition.subject)})`,
      );
    }
    case 'in-cidr': {
      const { cidr } = condition;
      const bound = writer.unit.bindings.bind(`cidr ${formatCidr(cidr)}`, () => cidr);
      return guarded(writer, [condition.subject], (ip) => js`${use(writer, 'isInCidr')}(${ip}, ${bound})`);
    }
    case 'like':
      return guarded(writer, [condition.subject], (text) => likeCode(writer, text!, condition.pattern));
    case 'matches': {
      const test = writer.unit.bindings.bind(`matches ${condition.pattern}`, () =>
        regexTest(condition.pattern),
      );
      return guarded(writer, [condition.subject], (text) => js`${test}(${text})`);
    }
    case 'text-test':
      return guarded(writer, [condition.left, condition.right], textTests[condition.operator](writer));
    case 'mentions-list': {
      const list = writer.unit.program.lists.get(condition.list)!;
      const words = bindWords(writer, `words of ${version(writer, condition.list)}`, () =>
        writer.unit.lists.folded(list),
      );
      return mentionsCode(writer, condition.subject, words);
    }
    case 'mentions-words': {
      const { words } = condition;
      const bound = bindWords(writer, `words ${canonical(words)}`, () => words.map(fold));
      return mentionsCode(writer, condition.subject, bound);
    }
    case 'some':
    case 'every':
      return loopCondition(writer, condition);
  }
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

/** Operands in order, until one settles it; of unsettled ones `&` and `|` are the smallest and the largest. */
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
  // Of ones and twos `&` gives 2 for twos alone, and 0 where a one meets a two.
  if (isAnd) return threeValued(js`(${test} ? (${joinJs(unsettled, js` & `)}) || 1 : 0)`);
  return threeValued(js`(${test} ? 2 : ${joinJs(unsettled, js` | `)})`);
}

/** Definite, but unknown where a signature is asked for and missing. */
function presence(read: Read, test: Js): ConditionCode {
  return read.isSigned ? threeValued(js`(f.request.signed === true ? ${test} ? 2 : 0 : 1)`) : twoValued(test);
}

const operators = {
  '==': js`===`,
  '<': js`<`,
  '<=': js`<=`,
  '>': js`>`,
  '>=': js`>=`,
} as const satisfies Record<Comparison['operator'], Js>;

function comparisonCode(writer: Writer, { operator, left, right }: Comparison): ConditionCode {
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

/** An amount of the payload against a constant, without making a value of the two. */
function amountCode(
  writer: Writer,
  parts: { amount: ReadTerm; operator: Comparison['operator']; limit: LiteralTerm },
): ConditionCode {
  const { amount, operator, limit } = parts;
  if (!isMoney(limit.value)) throw new TypeError('the limit of an amount is money');
  const number = plainNumber(limit.value.amount);
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

function isPayloadAmount(term: Term): term is ReadTerm {
  return (
    term.kind === 'read' &&
    term.sort === 'money' &&
    term.currency !== null &&
    (term.read.root === 'payload' || term.read.steps.length > 0)
  );
}

function isPlainMoney(term: Term): term is LiteralTerm {
  return (
    term.kind === 'literal' &&
    isMoney(term.value) &&
    term.value.currency !== null &&
    plainNumber(term.value.amount) !== null
  );
}

function inListCode(writer: Writer, condition: InList): ConditionCode {
  const { unit } = writer;
  const list = unit.program.lists.get(condition.list)!;
  const isFew = list.entries.length <= comparedOneByOneMax;
  if (list.type.kind === 'text' && !list.ignoringCase && isFew) {
    return oneOf(writer, condition.subject, list.entries as readonly string[]);
  }
  const { scalars, test } = unit.lists.prepared(list);
  if (scalars === null) {
    const bound = unit.bindings.bind(`test of ${version(writer, condition.list)}`, () => test);
    const [subject, name] = [unit.term(writer, condition.subject), temporary(writer)];
    return threeValued(js`((${name} = ${subject}) == null ? 1 : ${bound}(${name}))`);
  }
  const bound = unit.bindings.bind(`set of ${version(writer, condition.list)}`, () => scalars);
  const prepared = (value: Js): Js => (list.ignoringCase ? js`${use(writer, 'fold')}(${value})` : value);
  return guarded(writer, [condition.subject], (value) => js`${bound}.has(${prepared(value!)})`);
}

function version(writer: Writer, name: string): string {
  return writer.unit.lists.version(writer.unit.program.lists.get(name)!);
}

function inElementsCode(writer: Writer, subject: Term, elements: Term): ConditionCode {
  const texts = textsOf(elements);
  if (texts !== null && texts.length <= comparedOneByOneMax) return oneOf(writer, subject, texts);
  if (texts !== null) {
    const bound = writer.unit.bindings.bind(`texts ${canonical(texts)}`, () => new Set(texts));
    return guarded(writer, [subject], (value) => js`${bound}.has(${value})`);
  }
  const list = valuesOf(writer, elements, writer.unit.term(writer, elements));
  const value = writer.unit.term(writer, subject);
  return threeValued(js`${use(writer, 'among')}(${list}, ${value}, ${use(writer, sameness(subject))})`);
}

/** Equality of two values that are there. */
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

/** The constants of a written-out list of text; null for every other list. */
function textsOf(elements: Term): readonly string[] | null {
  if (elements.kind !== 'list') return null;
  const texts = elements.elements.map((element) => (element.kind === 'literal' ? element.value : null));
  return texts.every((text) => typeof text === 'string') ? texts : null;
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

/** Patterns with stars at their ends alone are plain tests of text. */
function likeCode(writer: Writer, text: Js, pattern: string): Js {
  const [first = '', second, third, ...more] = globLiteralParts(pattern);
  if (second === undefined) return js`${text} === ${first}`;
  if (third === undefined && second === '') return js`${text}.startsWith(${first})`;
  if (third === undefined && first === '') return js`${text}.endsWith(${second})`;
  if (first === '' && third === '' && more.length === 0) return js`${text}.includes(${second})`;
  return js`${writer.unit.bindings.bind(`like ${pattern}`, () => compileGlob(pattern))}(${text})`;
}

/** The checker has compiled the pattern before. */
function regexTest(pattern: string): (text: string) => boolean {
  const test = compileRegex(pattern);
  if (typeof test !== 'function') throw new TypeError(`the checker lets no such pattern pass: ${test.error}`);
  return test;
}

type TextTest = (writer: Writer) => (...values: readonly Js[]) => Js;

const textTests = {
  'starts with': () => (a, b) => js`${a}.startsWith(${b})`,
  'ends with': () => (a, b) => js`${a}.endsWith(${b})`,
  contains: () => (a, b) => js`${a}.includes(${b})`,
  inside: (writer) => (a, b) => js`${use(writer, 'isInside')}(${a}, ${b})`,
} as const satisfies Record<Extract<Condition, { kind: 'text-test' }>['operator'], TextTest>;

function bindWords(writer: Writer, key: string, words: () => readonly string[]): Js {
  return writer.unit.bindings.bind(key, words);
}

function mentionsCode(writer: Writer, subject: Term, words: Js): ConditionCode {
  return guarded(writer, [subject], (text) => js`${use(writer, 'mentions')}(${text}, ${words})`);
}
