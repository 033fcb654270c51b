// Runs generated code on platforms that do not run text as code: reads what the generators write and carries
// it out. The result is that of the compiled function, because the text is the same. INVARIANT: the
// interpreter reaches only what is bound to its names.

import type { EmittedFunction } from '../code/emit.ts';
import {
  type CodeCell,
  type CodeScope,
  type CodeValues,
  type Evaluate,
  expressionOf,
} from './expressions.ts';
import { read } from './parse-code.ts';
import type { CodeStatement, FunctionTree } from './tree.ts';

/**
 * Interprets a text and returns what the text returns. Throws a SyntaxError for anything that the generators
 * do not write.
 */
export function interpret<T>({ text, bindings }: EmittedFunction): T {
  const shared = new Map<string, CodeCell>([
    ['Number', { value: Number, isFixed: true }],
    ['Array', { value: Array, isFixed: true }],
  ]);
  for (const [at, value] of bindings.values.entries()) shared.set(`c${at}`, { value, isFixed: true });
  const scope: CodeScope = { shared, slots: new Map(), arrow: (code) => functionOf(code, shared) };
  for (const statement of read(text)) {
    if (statement.kind === 'function') {
      shared.set(statement.name, { value: functionOf(statement.code, shared), isFixed: true });
    } else if (statement.kind === 'declare' && statement.value === null) {
      shared.set(statement.name, { value: undefined, isFixed: false });
    } else if (statement.kind === 'return') {
      return expressionOf(statement.value, scope)([]) as T;
    } else {
      throw new SyntaxError('generated code begins with functions and ends in what it returns');
    }
  }
  throw new SyntaxError('generated code returns what it makes');
}

/** How a statement ends. The value of a `return` is in the first place of the values. */
type Completion = 'done' | 'returned' | 'broken';
type Carry = (values: CodeValues) => Completion;

function functionOf({ parameters, body }: FunctionTree, shared: ReadonlyMap<string, CodeCell>): unknown {
  const slots = new Map(parameters.map((name, at) => [name, at + 1] as const));
  declareNames(body, slots);
  const arrow = (): never => {
    throw new SyntaxError('functions of generated code are siblings');
  };
  const scope: CodeScope = { shared, slots, arrow };
  const blank: CodeValues = Array.from({ length: slots.size + 1 }, () => undefined);
  return called(parameters.length, blank, bodyOf(body, scope));
}

/**
 * Gives each declared name a place. A function body declares each name once, whatever block the declaration
 * is in.
 */
function declareNames(statements: readonly CodeStatement[], slots: Map<string, number>): void {
  for (const statement of statements) {
    if (statement.kind === 'declare' || statement.kind === 'for-in') {
      if (!slots.has(statement.name)) slots.set(statement.name, slots.size + 1);
    }
    if (statement.kind === 'if') declareNames([statement.whenTrue], slots);
    if (statement.kind === 'block') declareNames(statement.statements, slots);
    if (statement.kind === 'for') declareNames([...statement.start, statement.body], slots);
    if (statement.kind === 'for-in') declareNames([statement.body], slots);
  }
}

/**
 * Makes a function of `count` parameters. Each call has its own values, because shared code may call itself.
 */
function called(count: number, blank: CodeValues, body: Evaluate): unknown {
  if (count <= 2) {
    return (a: unknown, b: unknown) => {
      const values = blank.slice();
      values[1] = a;
      if (count === 2) values[2] = b;
      return body(values);
    };
  }
  if (count === 4) {
    return (a: unknown, b: unknown, c: unknown, d: unknown) => {
      const values = blank.slice();
      values[1] = a;
      values[2] = b;
      values[3] = c;
      values[4] = d;
      return body(values);
    };
  }
  return (...args: readonly unknown[]) => {
    const values = blank.slice();
    for (let at = 0; at < count; at += 1) values[at + 1] = args[at];
    return body(values);
  };
}

/** Runs the statements up to the first `return`, whose value is the result. */
function bodyOf(statements: readonly CodeStatement[], scope: CodeScope): Evaluate {
  const carried = statements.flatMap((statement) => carryOf(statement, scope) ?? []);
  const last = statements.at(-1);
  if (last?.kind !== 'return') {
    const all = inOrder(carried);
    return (values) => (all(values) === 'returned' ? values[0] : undefined);
  }
  carried.pop();
  const result = expressionOf(last.value, scope);
  const [first] = carried;
  if (first === undefined) return result;
  const before = carried.length === 1 ? first : inOrder(carried);
  return (values) => (before(values) === 'returned' ? values[0] : result(values));
}

function inOrder(carried: readonly Carry[]): Carry {
  return (values) => {
    for (let at = 0; at < carried.length; at += 1) {
      const ending = carried[at]!(values);
      if (ending !== 'done') return ending;
    }
    return 'done';
  };
}

/**
 * Turns a statement into a closure; null when there is nothing to do, because the values of a call begin as
 * undefined.
 */
function carryOf(statement: CodeStatement, scope: CodeScope): Carry | null {
  switch (statement.kind) {
    case 'declare': {
      if (statement.value === null) return null;
      const value = expressionOf(statement.value, scope);
      const slot = scope.slots.get(statement.name)!;
      return (values) => {
        values[slot] = value(values);
        return 'done';
      };
    }
    case 'return': {
      const value = expressionOf(statement.value, scope);
      return (values) => {
        values[0] = value(values);
        return 'returned';
      };
    }
    case 'if': {
      const test = expressionOf(statement.test, scope);
      const whenTrue = carryOf(statement.whenTrue, scope) ?? (() => 'done');
      return (values) => (test(values) ? whenTrue(values) : 'done');
    }
    case 'block': {
      const all = inOrder(statement.statements.flatMap((one) => carryOf(one, scope) ?? []));
      if (!statement.isLabelled) return all;
      return (values) => {
        const ending = all(values);
        return ending === 'broken' ? 'done' : ending;
      };
    }
    case 'for':
      return forOf(statement, scope);
    case 'for-in':
      return forInOf(statement, scope);
    case 'break':
      return () => 'broken';
    case 'expression': {
      const expression = expressionOf(statement.expression, scope);
      return (values) => {
        expression(values);
        return 'done';
      };
    }
    case 'function':
      throw new SyntaxError('functions of generated code are siblings');
  }
}

function forOf(
  { start, test, step, body }: Extract<CodeStatement, { kind: 'for' }>,
  scope: CodeScope,
): Carry {
  const starts = inOrder(start.flatMap((one) => carryOf(one, scope) ?? []));
  const [isOn, next] = [expressionOf(test, scope), expressionOf(step, scope)];
  const round = carryOf(body, scope) ?? (() => 'done');
  return (values) => {
    for (starts(values); isOn(values); next(values)) {
      const ending = round(values);
      if (ending !== 'done') return ending;
    }
    return 'done';
  };
}

function forInOf(
  { name, object, body }: Extract<CodeStatement, { kind: 'for-in' }>,
  scope: CodeScope,
): Carry {
  const slot = scope.slots.get(name)!;
  const holder = expressionOf(object, scope);
  const round = carryOf(body, scope) ?? (() => 'done');
  return (values) => {
    for (const key in holder(values) as object) {
      values[slot] = key;
      const ending = round(values);
      if (ending !== 'done') return ending;
    }
    return 'done';
  };
}
