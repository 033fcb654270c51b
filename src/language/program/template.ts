// Splits a condition, a term or a reason into a key, which says everything except the constants, and the
// constants in order. INVARIANT: parts with equal keys differ only in their constants, place by place, so
// that one piece of code can serve them all.

import type { List, NamedApprover } from '../model/policy.ts';
import { signedMark } from '../model/signers.ts';
import type { Value } from '../model/value.ts';
import { globLiteralParts } from '../value/glob.ts';
import { isDecimal, isMoneyTerm } from './condition.ts';
import { isPayloadAmount, isPlainMoney, plainNumber } from './plain.ts';
import type { Condition, Element, LiteralTerm, ReadFrom, Term } from './program.ts';

/** What differs between rules of one form: a node with a constant, or a text of a reason. */
export type Constant = ConstantCondition | ConstantTerm | string;

export type ConstantCondition = Extract<
  Condition,
  {
    readonly kind:
      | 'in-list'
      | 'in-table'
      | 'in-elements'
      | 'in-hours'
      | 'in-cidr'
      | 'like'
      | 'matches'
      | 'mentions-list'
      | 'mentions-words';
  }
>;

export type ConstantTerm =
  | LiteralTerm
  | Extract<Term, { readonly kind: 'meter' | 'let' | 'column' | 'text-list' }>;

export interface ProgramTemplate {
  readonly key: string;
  readonly constants: readonly Constant[];
}

type Lists = ReadonlyMap<string, List>;

export function conditionTemplate(condition: Condition, lists: Lists): ProgramTemplate {
  return gather(lists, (into) => writeCondition(condition, into));
}

export function termTemplate(term: Term, lists: Lists): ProgramTemplate {
  return gather(lists, (into) => writeTerm(term, into));
}

export function reasonTemplate(reason: readonly (string | Term)[], lists: Lists): ProgramTemplate {
  return gather(lists, (into) => writeReason(reason, into));
}

function writeReason(reason: readonly (string | Term)[], into: TemplateBuilder): void {
  for (const part of reason) {
    if (typeof part === 'string') writeConstant(part, 'text', into);
    else writeTerm(part, into);
  }
}

/** The value that names an approver, and why it is unknown. */
export function approverTemplate(
  { value, missing }: Pick<NamedApprover<Term>, 'value' | 'missing'>,
  lists: Lists,
): ProgramTemplate {
  return gather(lists, (into) => {
    writeTerm(value, into);
    writeReason(missing, into);
  });
}

interface TemplateBuilder {
  readonly lists: Lists;
  readonly constants: Constant[];
  key: string;
}

function gather(lists: Lists, write: (into: TemplateBuilder) => void): ProgramTemplate {
  const into: TemplateBuilder = { lists, constants: [], key: '' };
  write(into);
  return into;
}

/**
 * Adds a constant to the template. A constant that occurs again refers to its first place, because code finds
 * constants by identity.
 */
function writeConstant(constant: Constant, form: string, into: TemplateBuilder): void {
  const index = into.constants.indexOf(constant);
  if (index < 0) into.constants.push(constant);
  into.key += index < 0 ? `#${form};` : `#${form}=${index};`;
}

function writeCondition(condition: Condition, into: TemplateBuilder): void {
  const { kind } = condition;
  into.key += condition.mayBeUnknown ? `${kind}?(` : `${kind}(`;
  writeParts(condition, into);
  into.key += ')';
}

function writeParts(condition: Condition, into: TemplateBuilder): void {
  switch (condition.kind) {
    case 'constant':
      into.key += condition.truth;
      break;
    case 'flag':
      writeTerm(condition.term, into);
      break;
    case 'not':
      writeCondition(condition.operand, into);
      break;
    case 'and':
    case 'or':
      for (const operand of condition.operands) writeCondition(operand, into);
      break;
    case 'compare':
      into.key += condition.operator;
      writeTerm(condition.left, into);
      // Next to an amount of the payload, a constant amount is a bare number.
      if (isPayloadAmount(condition.left) && isPlainMoney(condition.right)) into.key += 'bare';
      writeTerm(condition.right, into);
      break;
    case 'same':
      writeCondition(condition.left, into);
      writeCondition(condition.right, into);
      break;
    case 'has':
    case 'is-null':
      writeRead(condition.read, into);
      break;
    case 'in-list': {
      const { type, ignoringCase } = into.lists.get(condition.list)!;
      writeTerm(condition.subject, into);
      writeConstant(condition, `${type.kind}${ignoringCase}`, into);
      break;
    }
    case 'in-elements':
      writeTerm(condition.subject, into);
      if (condition.elements.kind === 'text-list') writeConstant(condition, 'texts', into);
      else writeTerm(condition.elements, into);
      break;
    case 'like':
      writeTerm(condition.subject, into);
      writeConstant(condition, globForm(condition.pattern), into);
      break;
    case 'in-table':
      writeTerm(condition.subject, into);
      writeConstant(condition, condition.mayBeUnknown ? 'open' : '', into);
      break;
    case 'in-hours':
    case 'in-cidr':
    case 'matches':
    case 'mentions-list':
    case 'mentions-words':
      writeTerm(condition.subject, into);
      writeConstant(condition, '', into);
      break;
    case 'single-script':
      writeTerm(condition.subject, into);
      break;
    case 'has-cell':
      writeTerm(condition.cell, into);
      break;
    case 'list-prefix':
      writeTerm(condition.subject, into);
      into.key += JSON.stringify(condition.texts);
      break;
    case 'text-test':
      into.key += condition.operator;
      writeTerm(condition.left, into);
      writeTerm(condition.right, into);
      break;
    case 'some':
    case 'every':
      writeLoop(condition, into, () => writeCondition(condition.body, into));
      break;
  }
}

function writeTerm(term: Term, into: TemplateBuilder): void {
  into.key += term.mayBeUnknown ? `${term.kind}?${term.sort}` : `${term.kind} ${term.sort}`;
  if (term.element !== null) into.key += elementForm(term.element);
  into.key += '(';
  writeTermParts(term, into);
  into.key += ')';
}

function writeTermParts(term: Term, into: TemplateBuilder): void {
  switch (term.kind) {
    case 'literal':
      writeLiteral(term, into);
      break;
    case 'read':
      writeRead(term.read, into);
      if (term.currency === null) break;
      into.key += inCurrency(term.currency.known);
      writeRead(term.currency.read, into);
      break;
    case 'absent':
    case 'now':
    case 'risk':
      break;
    case 'truth':
      writeCondition(term.condition, into);
      break;
    case 'fact':
      into.key += term.fact;
      break;
    case 'meter':
      if (typeof term.currency === 'object' && term.currency !== null) {
        writeConstant(term, 'in', into);
        writeTerm(term.currency, into);
      } else writeConstant(term, term.currency ?? '', into);
      break;
    case 'let':
      writeConstant(term, '', into);
      break;
    case 'column':
      writeTerm(term.key, into);
      writeConstant(term, String(term.index), into);
      break;
    case 'else':
      writeTerm(term.subject, into);
      writeTerm(term.fallback, into);
      break;
    case 'if':
      writeCondition(term.condition, into);
      writeTerm(term.whenTrue, into);
      writeTerm(term.otherwise, into);
      break;
    case 'arithmetic':
      into.key += term.operator;
      writeTerm(term.left, into);
      writeTerm(term.right, into);
      break;
    case 'negate':
      writeTerm(term.operand, into);
      break;
    case 'count':
      writeLoop(term, into, () => writeCondition(term.body, into));
      break;
    case 'sum':
      writeLoop(term, into, () => writeTerm(term.body, into));
      break;
    case 'list':
      for (const element of term.elements) writeTerm(element, into);
      break;
    case 'text-list':
      writeConstant(term, 'texts', into);
      break;
    case 'call':
      into.key += term.builtin;
      for (const arg of term.args) writeTerm(arg, into);
      break;
  }
}

function writeLoop(
  loop: { readonly variable: string; readonly sources: readonly Term[] },
  into: TemplateBuilder,
  writeBody: () => void,
): void {
  into.key += `${loop.variable} in ${loop.sources.length} `;
  for (const source of loop.sources) writeTerm(source, into);
  writeBody();
}

/**
 * Truth values and null are part of the code. For other literals, the form in the key decides how they are
 * compared.
 */
function writeLiteral(term: LiteralTerm, into: TemplateBuilder): void {
  const { value } = term;
  if (value === null || typeof value === 'boolean') into.key += String(value);
  else writeConstant(term, valueForm(value), into);
}

function valueForm(value: Value): string {
  if (typeof value === 'string') return 'text';
  if (isDecimal(value)) return plainNumber(value) === null ? 'decimal' : 'number';
  if (isMoneyTerm(value))
    return `${plainNumber(value.amount) === null ? 'decimal' : 'number'}${value.currency}`;
  return 'value';
}

function writeRead(read: ReadFrom, into: TemplateBuilder): void {
  const flags = [read.isDeclared, read.isSigned, read.isSecret, read.mayBeAbsent];
  into.key += flags.reduce((form, flag) => form + (flag ? '1' : '0'), read.root) + signedMark(read);
  // The length comes first, because a name may contain any character.
  for (const step of read.steps) into.key += `.${step.length}:${step}`;
}

function inCurrency(currency: string | null): string {
  return currency === null ? ' in ' : ` in ${currency.length}:${currency}`;
}

function elementForm({ sort, encoding, element }: Element): string {
  return `[${sort} ${encoding}${element === null ? '' : elementForm(element)}]`;
}

/** Where a pattern has its stars. Every form except `glob` becomes a plain test of text. */
export type GlobForm = 'whole' | 'prefix' | 'suffix' | 'infix' | 'glob';

export function globForm(pattern: string): GlobForm {
  const [first, second, third, ...more] = globLiteralParts(pattern);
  if (second === undefined) return 'whole';
  if (third === undefined && second === '') return 'prefix';
  if (third === undefined && first === '') return 'suffix';
  return first === '' && third === '' && more.length === 0 ? 'infix' : 'glob';
}
