// Turns an expression of Cedar, for one kind of request, into a condition of Writ. INVARIANT: what has no
// counterpart is taken as false in a policy that permits, and as true in one that forbids; an expression that ends in an
// error is neither true nor false. So the result is as strict as the policy, or stricter.

import { isJsonObject } from '../../../language/model/json.ts';
import { calledValue, ipTest } from './cedar-functions.ts';
import {
  attributeOf,
  type CedarValue,
  contains,
  containsAll,
  containsAny,
  type EntityValue,
  entityLiteral,
  entityTypeOf,
  isEmpty,
  isEqual,
  isIn,
  isSet,
  NoCounterpart,
  type ScalarValue,
  scalar,
  tagsPath,
  type ValueScope,
  valueAt,
} from './cedar-value.ts';
import type { CedarEntityId, CedarExpression, CedarPolicyJson } from './cedar-wasm.ts';
import {
  always,
  and,
  both,
  type Comparison,
  type Condition,
  choice,
  comparison,
  conditionText,
  constant,
  either,
  exactly,
  negation,
  never,
  not,
  or,
  sameTruth,
  type Truth,
  test,
} from './condition.ts';
import type { Environment } from './environment.ts';
import { text } from './texts.ts';
import { arithmetic, eitherBounds, longLiteral } from './whole-numbers.ts';

/** A tag that a condition reads: the variable stands for the tag with this key. */
interface TagRead {
  readonly variable: string;
  readonly path: string;
  readonly key: string;
}

/** What the translation of a policy for one kind of request knows. */
export interface Scope extends ValueScope {
  readonly effect: CedarPolicyJson['effect'];
  readonly reasons: Set<string>;
  /** The tags that the present comparison has read. */
  readonly tags: TagRead[];
}

export function isSameId(a: CedarEntityId, b: CedarEntityId): boolean {
  return a.type === b.type && a.id === b.id;
}

export function isActionIn({ uid, groups }: Environment['action'], one: CedarEntityId): boolean {
  return [uid, ...groups].some((own) => isSameId(own, one));
}

/** The principal or the resource. */
export function variable(env: Environment, root: 'principal' | 'resource'): EntityValue {
  const path = `payload.${root}`;
  env.opened.add(path);
  return { kind: 'entity', type: env[root].name, id: `${path}.uid`, place: { path } };
}

// ---- conditions

/** The one operator of an expression, with its operands. */
function operation(expression: CedarExpression): { readonly name: string; readonly of: unknown } {
  const [[name, of] = ['', undefined]] = Object.entries(expression);
  return { name, of };
}

interface Operands {
  readonly left: CedarExpression;
  readonly right: CedarExpression;
  readonly arg: CedarExpression;
}

export function truthOf(scope: Scope, expression: CedarExpression): Truth {
  const { name, of } = operation(expression);
  const { left, right, arg } = of as Operands;
  switch (name) {
    case '!':
      return negation(truthOf(scope, arg));
    case '&&':
      return conjunction(scope, { left, right });
    case '||':
      return disjunction(scope, { left, right });
    case 'if-then-else':
      return choiceTruth(scope, of as Choice);
    case '==':
    case '!=': {
      if (!isBoolean(scope, left) || !isBoolean(scope, right)) return testTruth(scope, expression);
      const truth = sameTruth(truthOf(scope, left), truthOf(scope, right));
      return name === '==' ? truth : negation(truth);
    }
    default:
      return testTruth(scope, expression);
  }
}

/** The right side is read only where Cedar may evaluate it: the schema can rule that out, such as by the type of a principal. */
function conjunction(scope: Scope, { left, right }: Omit<Operands, 'arg'>): Truth {
  const first = truthOf(scope, left);
  return first.yes === never ? first : both(first, truthOf(scope, right));
}

function disjunction(scope: Scope, { left, right }: Omit<Operands, 'arg'>): Truth {
  const first = truthOf(scope, left);
  return first.no === never ? first : either(first, truthOf(scope, right));
}

type Choice = Readonly<Record<'if' | 'then' | 'else', CedarExpression>>;

function choiceTruth(scope: Scope, parts: Choice): Truth {
  const condition = truthOf(scope, parts.if);
  if (condition.no === never) return both(condition, truthOf(scope, parts.then));
  if (condition.yes === never) return both(negation(condition), truthOf(scope, parts.else));
  return choice(condition, { whenTrue: truthOf(scope, parts.then), otherwise: truthOf(scope, parts.else) });
}

const connectives = new Set(['!', '&&', '||', '==', '!=']);

/** Whether an expression is a condition made of others, rather than a value or one test. */
function isBoolean(scope: Scope, expression: CedarExpression): boolean {
  const { name, of } = operation(expression);
  if (connectives.has(name) || name in tests || name in calledTests) return true;
  if (name === 'if-then-else') return isBoolean(scope, (of as { then: CedarExpression }).then);
  return name === 'Value' && typeof of === 'boolean';
}

/** One test. Without a counterpart it is as strict as the policy's effect asks. */
function testTruth(scope: Scope, expression: CedarExpression): Truth {
  const own: Scope = { ...scope, tags: [] };
  try {
    const { condition, isDefined } = testOf(own, expression);
    // A tag is read only behind a test that it is there, which Cedar's own check of the policies requires.
    const withTags = (of: Condition): Condition =>
      own.tags.reduceRight(
        (inner, { variable: one, path, key }) =>
          test(`some ${one} in ${path} (${one}.key == ${key} and ${conditionText(inner)})`),
        of,
      );
    if (isDefined === always) return exactly(withTags(condition));
    return {
      yes: withTags(and(isDefined, condition)),
      no: withTags(and(isDefined, not(condition))),
      isExact: false,
    };
  } catch (error) {
    if (!(error instanceof NoCounterpart)) throw error;
    scope.reasons.add(error.message);
    const strict = constant(scope.effect === 'forbid');
    return { yes: strict, no: strict, isExact: false };
  }
}

interface Test {
  readonly condition: Condition;
  /** The condition under which its values have no error. */
  readonly isDefined: Condition;
}

type TestMaker = (scope: Scope, of: never) => Test;

function testOf(scope: Scope, expression: CedarExpression): Test {
  const { name, of } = operation(expression);
  const make = tests[name];
  if (make !== undefined) return make(scope, of as never);
  const call = calledTests[name];
  if (call !== undefined) {
    const values = (of as readonly CedarExpression[]).map((one) => cedarValue(scope, one));
    return { condition: call(values), isDefined: areDefined(values) };
  }
  const value = cedarValue(scope, expression);
  if (value.kind !== 'scalar' || value.type.kind !== 'boolean')
    throw new NoCounterpart(`\`${name}\` is not known as a condition`);
  const condition = typeof value.literal === 'boolean' ? constant(value.literal) : test(value.text);
  return { condition, isDefined: value.isDefined };
}

function areDefined(values: readonly CedarValue[]): Condition {
  return and(...values.map(isDefinedValue));
}

function isDefinedValue(value: CedarValue): Condition {
  switch (value.kind) {
    case 'scalar':
      return value.isDefined;
    case 'record-literal':
      return areDefined([...value.values.values()]);
    case 'set-literal':
      return areDefined(value.items);
    case 'entity':
    case 'record':
    case 'set':
      return always;
  }
}

function binary(make: (scope: Scope, left: CedarValue, right: CedarValue) => Condition): TestMaker {
  return (scope, { left, right }: Operands) => {
    const values = [cedarValue(scope, left), cedarValue(scope, right)] as const;
    return { condition: make(scope, ...values), isDefined: areDefined(values) };
  };
}

function ordering(operator: Comparison): TestMaker {
  return binary((_, left, right) => ordered(operator, left, right));
}

function ordered(operator: Comparison, left: CedarValue, right: CedarValue): Condition {
  if (left.kind !== 'scalar' || right.kind !== 'scalar')
    throw new NoCounterpart(`\`${operator}\` compares no numbers`);
  return comparison(left.text, operator, right.text);
}

function ofSets(make: typeof containsAll): TestMaker {
  return binary((scope, left, right) => {
    if (!isSet(left) || !isSet(right)) throw new NoCounterpart('a set is missing');
    return make(scope, left, right);
  });
}

const tests: Readonly<Record<string, TestMaker>> = {
  '==': binary(isEqual),
  '!=': binary((...operands) => not(isEqual(...operands))),
  '<': ordering('<'),
  '<=': ordering('<='),
  '>': ordering('>'),
  '>=': ordering('>='),
  in: binary((scope, left, right) => memberTest(scope, left, right)),
  contains: binary((scope, left, right) => {
    if (!isSet(left)) throw new NoCounterpart('`contains` asks no set');
    return contains(scope, left, right);
  }),
  containsAll: ofSets(containsAll),
  containsAny: ofSets(containsAny),
  isEmpty: (scope, { arg }: Operands) => {
    const set = cedarValue(scope, arg);
    if (!isSet(set)) throw new NoCounterpart('`isEmpty` asks no set');
    return { condition: isEmpty(set), isDefined: areDefined([set]) };
  },
  has: (
    scope,
    { left, attr }: { readonly left: CedarExpression; readonly attr: string | readonly string[] },
  ) => ({
    condition: hasAll(scope, cedarValue(scope, left), typeof attr === 'string' ? [attr] : attr),
    isDefined: always,
  }),
  like: (
    scope,
    { left, pattern }: { readonly left: CedarExpression; readonly pattern: readonly PatternPart[] },
  ) => {
    const value = scalarOf(cedarValue(scope, left));
    return { condition: test(`${value.text} like ${text(globOf(pattern))}`), isDefined: value.isDefined };
  },
  is: (
    scope,
    {
      left,
      entity_type: type,
      in: group,
    }: { readonly left: CedarExpression; readonly entity_type: string; readonly in?: CedarExpression },
  ) => {
    const value = cedarValue(scope, left);
    if (value.kind !== 'entity' || value.type !== type)
      return { condition: constant(false), isDefined: always };
    const isMember = group === undefined ? always : memberTest(scope, value, cedarValue(scope, group));
    return { condition: isMember, isDefined: always };
  },
  hasTag: binary((scope, left, right) => {
    if (left.kind !== 'entity' || entityTypeOf(scope.env, left.type).tags === null) return constant(false);
    const one = scope.variables.next();
    return test(`some ${one} in ${tagsPath(scope.env, left)} (${one}.key == ${scalarOf(right).text})`);
  }),
};

type PatternPart = 'Wildcard' | { readonly Literal: string };

function globOf(pattern: readonly PatternPart[]): string {
  return pattern
    .map((part) => (part === 'Wildcard' ? '*' : part.Literal.replaceAll(/[\\*]/g, '\\$&')))
    .join('');
}

function hasAll(scope: Scope, subject: CedarValue, names: readonly string[]): Condition {
  const [name, ...more] = names;
  if (name === undefined) return always;
  const { isPresent, read } = attributeOf(scope.env, subject, name);
  if (more.length === 0 || read === null) return isPresent;
  return and(isPresent, hasAll(scope, read(), more));
}

/** `in` between entities; the groups of an action are part of the schema. */
function memberTest(scope: Scope, left: CedarValue, right: CedarValue): Condition {
  if (left.kind !== 'entity') throw new NoCounterpart('the left side of `in` is no entity');
  if (!isSet(right) || right.kind !== 'set-literal') {
    if (left.literal === undefined || left.type !== scope.env.action.uid.type)
      return isIn(scope, left, right);
  }
  if (right.kind === 'set-literal') return or(...right.items.map((one) => memberTest(scope, left, one)));
  const { action } = scope.env;
  if (right.kind !== 'entity' || right.literal === undefined) return isIn(scope, left, right);
  const isOwn = left.literal === action.uid.id;
  if (!isOwn) throw new NoCounterpart(`the groups of \`${left.type}::${text(left.literal ?? '')}\` are read`);
  return constant(isActionIn(action, { type: right.type, id: right.literal }));
}

function calledOrdering(operator: Comparison): (values: readonly CedarValue[]) => Condition {
  return ([left, right]) => ordered(operator, left!, right!);
}

/** Functions of Cedar's extensions that are conditions. */
const calledTests: Readonly<Record<string, (values: readonly CedarValue[]) => Condition>> = {
  lessThan: calledOrdering('<'),
  lessThanOrEqual: calledOrdering('<='),
  greaterThan: calledOrdering('>'),
  greaterThanOrEqual: calledOrdering('>='),
  isIpv4: ([address]) => ipTest(address, ['0.0.0.0/0']),
  isIpv6: ([address]) => not(ipTest(address, ['0.0.0.0/0'])),
  isLoopback: ([address]) => ipTest(address, ['127.0.0.0/8', '::1/128']),
  isMulticast: ([address]) => ipTest(address, ['224.0.0.0/4', 'ff00::/8']),
  isInRange: ([address, range]) => {
    if (range?.kind !== 'scalar' || typeof range.literal !== 'string')
      throw new NoCounterpart('`isInRange` with a range that is not constant');
    return ipTest(address, [range.literal]);
  },
};

// ---- values

function scalarOf(value: CedarValue): ScalarValue {
  if (value.kind !== 'scalar') throw new NoCounterpart('a text is missing');
  return value;
}

function cedarValue(scope: Scope, expression: CedarExpression): CedarValue {
  const { name, of } = operation(expression);
  const { left, right, arg } = of as Operands;
  switch (name) {
    case 'Value':
      return literalOf(of);
    case 'Var':
      return variableOf(scope.env, of as string);
    case '.': {
      const attribute = (of as { attr: string }).attr;
      const { read } = attributeOf(scope.env, cedarValue(scope, left), attribute);
      if (read === null) throw new NoCounterpart(`there is no attribute \`${attribute}\``);
      return read();
    }
    case 'getTag':
      return tagOf(scope, cedarValue(scope, left), scalarOf(cedarValue(scope, right)));
    case 'Set':
      return {
        kind: 'set-literal',
        items: (of as readonly CedarExpression[]).map((one) => cedarValue(scope, one)),
      };
    case 'Record':
      return {
        kind: 'record-literal',
        values: new Map(
          Object.entries(of as Record<string, CedarExpression>).map(([key, one]) => [
            key,
            cedarValue(scope, one),
          ]),
        ),
      };
    case 'if-then-else':
      return chosenValue(scope, of as Choice);
    case 'neg':
      return arithmetic('-', [cedarValue(scope, arg)]);
    case '+':
    case '-':
    case '*':
      return arithmetic(name, [cedarValue(scope, left), cedarValue(scope, right)]);
    default:
      if (isBoolean(scope, expression)) return conditionValue(scope, expression);
      return calledValue(
        name,
        (of as readonly CedarExpression[]).map((one) => cedarValue(scope, one)),
      );
  }
}

/** A condition in the place of a value; only one that the schema decides is a value. */
function conditionValue(scope: Scope, expression: CedarExpression): CedarValue {
  const { yes, isExact } = truthOf(scope, expression);
  if (!isExact || yes.kind !== 'constant') throw new NoCounterpart('a condition is used as a value');
  return { ...scalar('boolean', String(yes.value)), literal: yes.value };
}

function variableOf(env: Environment, name: string): CedarValue {
  switch (name) {
    case 'principal':
    case 'resource':
      return variable(env, name);
    case 'context':
      return { kind: 'record', attributes: env.action.context, place: { path: 'payload.context' } };
    default:
      return entityLiteral(env.action.uid);
  }
}

function literalOf(value: unknown): CedarValue {
  if (typeof value === 'boolean') return { ...scalar('boolean', String(value)), literal: value };
  if (typeof value === 'string') return { ...scalar('string', text(value)), literal: value };
  if (typeof value === 'number') return longLiteral(value);
  if (Array.isArray(value)) return { kind: 'set-literal', items: value.map(literalOf) };
  if (!isJsonObject(value)) throw new NoCounterpart('a constant is not known');
  if (isJsonObject(value.__entity)) return entityLiteral(value.__entity as unknown as CedarEntityId);
  if (isJsonObject(value.__extn)) {
    const { fn, arg } = value.__extn;
    return calledValue(String(fn), [literalOf(arg)]);
  }
  return {
    kind: 'record-literal',
    values: new Map(Object.entries(value).map(([key, one]) => [key, literalOf(one)])),
  };
}

function tagOf(scope: Scope, entity: CedarValue, key: ScalarValue): CedarValue {
  if (entity.kind !== 'entity') throw new NoCounterpart('tags are read from no entity');
  const { tags } = entityTypeOf(scope.env, entity.type);
  if (tags === null) throw new NoCounterpart(`\`${entity.type}\` has no tags`);
  const read = { variable: scope.variables.next(), path: tagsPath(scope.env, entity), key: key.text };
  scope.tags.push(read);
  return valueAt(scope.env, tags, `${read.variable}.value`);
}

/** A condition that chooses a value has to be carried whole: neither value is the stricter one. */
function exactTruthOf(scope: Scope, expression: CedarExpression): Truth {
  const reasons = new Set<string>();
  const truth = truthOf({ ...scope, reasons }, expression);
  const [reason] = reasons;
  if (reason !== undefined) throw new NoCounterpart(reason);
  return truth;
}

function chosenValue(scope: Scope, parts: Choice): CedarValue {
  const condition = exactTruthOf(scope, parts.if);
  if (condition.no === never && condition.isExact) return cedarValue(scope, parts.then);
  if (condition.yes === never && condition.isExact) return cedarValue(scope, parts.else);
  const [then, otherwise] = [cedarValue(scope, parts.then), cedarValue(scope, parts.else)];
  if (scope.tags.length > 0) throw new NoCounterpart('a tag within `if` has no counterpart');
  if (then.kind !== 'scalar' || otherwise.kind !== 'scalar' || then.type.kind === 'ip')
    throw new NoCounterpart('`if` chooses between values that are no texts, numbers or times');
  const areDefined = then.isDefined === always && otherwise.isDefined === always;
  const isDefined = areDefined
    ? always
    : or(and(condition.yes, then.isDefined), and(condition.no, otherwise.isDefined));
  return {
    ...scalar(
      then.type.kind,
      `(if ${conditionText(condition.yes)} then ${then.text} else ${otherwise.text})`,
    ),
    isDefined: condition.isExact ? isDefined : and(or(condition.yes, condition.no), isDefined),
    ...eitherBounds(then, otherwise),
  };
}
