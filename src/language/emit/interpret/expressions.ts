// Turns an expression of generated code into a closure over its parts. Forms that requests evaluate again and
// again (a field, a comparison with a constant) become one closure instead of three.

import type { CodeAssignment, CodeExpression, CodeOperator, Member } from './tree.ts';

/** The values of one call: its result, then its parameters and variables. */
export type CodeValues = unknown[];

export type Evaluate = (values: CodeValues) => unknown;

/** A variable of the whole text, or a function or value that is bound to a name. */
export interface CodeCell {
  value: unknown;
  readonly isFixed: boolean;
}

/** The meaning of names within one function. */
export interface CodeScope {
  readonly shared: ReadonlyMap<string, CodeCell>;
  /** The place of each parameter and variable in the values of a call. */
  readonly slots: ReadonlyMap<string, number>;
  readonly arrow: (code: Extract<CodeExpression, { readonly kind: 'arrow' }>['code']) => unknown;
}

type AnyFunction = (...args: readonly unknown[]) => unknown;
type Fields = Record<PropertyKey, unknown>;

/** Returns the closure of an expression. Throws a SyntaxError for a name that is not defined. */
export function expressionOf(expression: CodeExpression, scope: CodeScope): Evaluate {
  switch (expression.kind) {
    case 'literal': {
      const { value } = expression;
      return () => value;
    }
    case 'name':
      return nameOf(expression.name, scope);
    case 'member':
      return memberOf(expression, scope);
    case 'call':
      return callOf(expression, scope);
    case 'binary':
      return binaryOf(expression, scope);
    case 'unary': {
      const operand = expressionOf(expression.operand, scope);
      if (expression.operator === '!') return (values) => !operand(values);
      if (expression.operator === 'typeof') return (values) => typeof operand(values);
      return (values) => -(operand(values) as number);
    }
    case 'assignment':
      return assignmentOf(expression, scope);
    case 'step': {
      const { by, name } = expression;
      const slot = localPlace(name, scope);
      return (values) => {
        values[slot] = (values[slot] as number) + by;
      };
    }
    case 'choice': {
      const test = expressionOf(expression.test, scope);
      const whenTrue = expressionOf(expression.whenTrue, scope);
      const otherwise = expressionOf(expression.otherwise, scope);
      return (values) => (test(values) ? whenTrue(values) : otherwise(values));
    }
    case 'sequence': {
      const parts = expression.parts.map((part) => expressionOf(part, scope));
      const last = parts.pop()!;
      return (values) => {
        for (const part of parts) part(values);
        return last(values);
      };
    }
    case 'array': {
      const elements = expression.elements.map((element) => expressionOf(element, scope));
      return (values) => elements.map((element) => element(values));
    }
    case 'object': {
      const entries = expression.entries.map(([name, value]) => [name, expressionOf(value, scope)] as const);
      return (values) => Object.fromEntries(entries.map(([name, value]) => [name, value(values)]));
    }
    case 'arrow': {
      const made = scope.arrow(expression.code);
      return () => made;
    }
  }
}

function localPlace(name: string, { slots }: CodeScope): number {
  const slot = slots.get(name);
  if (slot === undefined) throw new SyntaxError(`generated code names no variable \`${name}\``);
  return slot;
}

function nameOf(name: string, scope: CodeScope): Evaluate {
  const slot = scope.slots.get(name);
  if (slot !== undefined) return (values) => values[slot];
  const cell = scope.shared.get(name);
  if (cell === undefined) throw new SyntaxError(`generated code names nothing by \`${name}\``);
  if (!cell.isFixed) return () => cell.value;
  const { value } = cell;
  return () => value;
}

/** The value that a name always has; undefined when the expression is not such a name. */
function fixedOf(expression: CodeExpression, { slots, shared }: CodeScope): CodeCell | undefined {
  if (expression.kind !== 'name' || slots.has(expression.name)) return undefined;
  const cell = shared.get(expression.name);
  return cell?.isFixed === true ? cell : undefined;
}

function memberOf({ object, key, isOptional }: Member, scope: CodeScope): Evaluate {
  const slot = object.kind === 'name' ? scope.slots.get(object.name) : undefined;
  const holder = expressionOf(object, scope);
  if (key.kind !== 'literal') {
    const member = expressionOf(key, scope);
    return (values) => (holder(values) as Fields)[member(values) as string];
  }
  const name = key.value as string;
  if (isOptional) return (values) => (holder(values) as Fields | null | undefined)?.[name];
  if (slot !== undefined) return (values) => (values[slot] as Fields)[name];
  return (values) => (holder(values) as Fields)[name];
}

/** The methods of texts, sets, `Number` and `Array` that generated code calls, each with one argument. */
const methods: ReadonlySet<string> = new Set([
  'endsWith',
  'has',
  'includes',
  'isArray',
  'isFinite',
  'isInteger',
  'startsWith',
]);

type Call = Extract<CodeExpression, { readonly kind: 'call' }>;

function callOf({ callee, args: argNodes }: Call, scope: CodeScope): Evaluate {
  const args = argNodes.map((arg) => expressionOf(arg, scope));
  if (callee.kind === 'member' && callee.key.kind === 'literal' && typeof callee.key.value === 'string') {
    const holder = expressionOf(callee.object, scope);
    const method = callee.key.value;
    const [arg, ...more] = args;
    if (!methods.has(method) || arg === undefined || more.length > 0)
      throw new SyntaxError(`generated code calls no method \`${method}\` like this`);
    return (values) => (holder(values) as Record<string, AnyFunction>)[method]!(arg(values));
  }
  const fixed = fixedOf(callee, scope);
  if (fixed !== undefined) return fixedCall(fixed.value as AnyFunction, args);
  const called = expressionOf(callee, scope);
  return (values) => (called(values) as AnyFunction)(...args.map((arg) => arg(values)));
}

function fixedCall(called: AnyFunction, args: readonly Evaluate[]): Evaluate {
  const [a, b, c, d] = args as [Evaluate, Evaluate, Evaluate, Evaluate];
  switch (args.length) {
    case 1:
      return (values) => called(a(values));
    case 2:
      return (values) => called(a(values), b(values));
    case 3:
      return (values) => called(a(values), b(values), c(values));
    case 4:
      return (values) => called(a(values), b(values), c(values), d(values));
    default:
      return (values) => called(...args.map((arg) => arg(values)));
  }
}

function assignmentOf({ operator, target, value: valueNode }: CodeAssignment, scope: CodeScope): Evaluate {
  const value = expressionOf(valueNode, scope);
  if (target.kind === 'member') {
    const [holder, key] = [expressionOf(target.object, scope), expressionOf(target.key, scope)];
    if (operator === '+=') throw new SyntaxError('generated code adds only to variables');
    return (values) => {
      const object = holder(values) as Fields;
      const name = key(values) as string;
      const assigned = value(values);
      object[name] = assigned;
      return assigned;
    };
  }
  if (target.kind !== 'name') throw new SyntaxError('generated code assigns to names and members');
  const cell = scope.slots.has(target.name) ? undefined : scope.shared.get(target.name);
  if (cell !== undefined && !cell.isFixed && operator === '=') {
    return (values) => {
      cell.value = value(values);
      return cell.value;
    };
  }
  const slot = localPlace(target.name, scope);
  if (operator === '+=') {
    return (values) => {
      values[slot] = (values[slot] as number) + (value(values) as number);
    };
  }
  return (values) => {
    const assigned = value(values);
    values[slot] = assigned;
    return assigned;
  };
}

type BinaryExpression = Extract<CodeExpression, { readonly kind: 'binary' }>;

function binaryOf(expression: BinaryExpression, scope: CodeScope): Evaluate {
  const { operator, right } = expression;
  if (operator === '&&' || operator === '||') return joinedOf(expression, scope);
  const left = expressionOf(expression.left, scope);
  if (right.kind === 'literal') return withConstant[operator](left, right.value as number);
  return withBoth[operator](left, expressionOf(right, scope) as EvaluateNumber);
}

/** Evaluates a chain of `&&` or of `||` as one flat list of operands. */
function joinedOf(expression: BinaryExpression, scope: CodeScope): Evaluate {
  const { operator } = expression;
  const operands = operandsOf(expression, operator).map((operand) => expressionOf(operand, scope));
  const [a, b, c] = operands as [Evaluate, Evaluate, Evaluate];
  const isAnd = operator === '&&';
  if (operands.length === 2)
    return isAnd ? (values) => a(values) && b(values) : (values) => a(values) || b(values);
  if (operands.length === 3) {
    return isAnd
      ? (values) => a(values) && b(values) && c(values)
      : (values) => a(values) || b(values) || c(values);
  }
  return (values) => {
    let value: unknown;
    for (const operand of operands) {
      value = operand(values);
      if (isAnd ? !value : value) return value;
    }
    return value;
  };
}

function operandsOf(expression: CodeExpression, operator: CodeOperator): readonly CodeExpression[] {
  if (expression.kind !== 'binary' || expression.operator !== operator) return [expression];
  return [...operandsOf(expression.left, operator), expression.right];
}

type StrictOperator = Exclude<CodeOperator, '&&' | '||'>;
type EvaluateNumber = (values: CodeValues) => number;

/** The operators work for every value that JavaScript compares, although the types name only numbers. */
const withBoth = {
  '??': (a, b) => (values) => a(values) ?? b(values),
  '|': (a, b) => (values) => (a(values) as number) | b(values),
  '&': (a, b) => (values) => (a(values) as number) & b(values),
  '===': (a, b) => (values) => a(values) === b(values),
  '!==': (a, b) => (values) => a(values) !== b(values),
  '==': (a, b) => (values) => bothMissing(a(values), b(values)),
  '!=': (a, b) => (values) => !bothMissing(a(values), b(values)),
  '<': (a, b) => (values) => (a(values) as number) < b(values),
  '<=': (a, b) => (values) => (a(values) as number) <= b(values),
  '>': (a, b) => (values) => (a(values) as number) > b(values),
  '>=': (a, b) => (values) => (a(values) as number) >= b(values),
  '+': (a, b) => (values) => (a(values) as number) + b(values),
  '-': (a, b) => (values) => (a(values) as number) - b(values),
  '*': (a, b) => (values) => (a(values) as number) * b(values),
} as const satisfies Record<StrictOperator, (a: Evaluate, b: EvaluateNumber) => Evaluate>;

const withConstant = {
  '??': (a, b) => (values) => a(values) ?? b,
  '|': (a, b) => (values) => (a(values) as number) | b,
  '&': (a, b) => (values) => (a(values) as number) & b,
  '===': (a, b) => (values) => a(values) === b,
  '!==': (a, b) => (values) => a(values) !== b,
  '==': (a, b) => (values) => bothMissing(a(values), b),
  '!=': (a, b) => (values) => !bothMissing(a(values), b),
  '<': (a, b) => (values) => (a(values) as number) < b,
  '<=': (a, b) => (values) => (a(values) as number) <= b,
  '>': (a, b) => (values) => (a(values) as number) > b,
  '>=': (a, b) => (values) => (a(values) as number) >= b,
  '+': (a, b) => (values) => (a(values) as number) + b,
  '-': (a, b) => (values) => (a(values) as number) - b,
  '*': (a, b) => (values) => (a(values) as number) * b,
} as const satisfies Record<StrictOperator, (a: Evaluate, b: number) => Evaluate>;

/** Whether a value is null or undefined. Generated code uses `==` and `!=` only with null. */
function bothMissing(value: unknown, other: unknown): boolean {
  if (other !== null) throw new SyntaxError('generated code compares with `===`, and with null');
  return value === null || value === undefined;
}
