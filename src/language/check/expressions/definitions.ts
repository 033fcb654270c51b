// Lets that stand for more than a value: a let with parameters, such as `let internal(mail: email) = ...`, and
// a let of a record or of a row, such as `let order = orders[payload.order_id]`. Both are expanded in the tree
// where they are used (hygienic macro expansion), so the model has no such lets, and presence, types and costs
// are those of the expanded expression.

import type { Expression } from '../../model/expression.ts';
import type { Slot, Type } from '../../model/type.ts';
import type {
  CallNode,
  ExpressionNode,
  LetDeclaration,
  LookUp,
  NameNode,
  ParameterNode,
  Path,
} from '../../syntax/tree/tree.ts';
import { expressionDepth, walkExpression } from '../../syntax/tree/visit.ts';
import type { Environment } from '../incremental/environment.ts';
import { moneyType } from '../logic/literals.ts';
import { areComparable, areSpeltAlike } from '../logic/type-relations.ts';
import { stepsMisplaced } from '../messages/path-errors.ts';
import {
  definitionArgumentCount,
  definitionArgumentMistyped,
  letTooLarge,
  unknownVariable,
  variableTaken,
} from '../messages/type-errors.ts';
import { type Context, failed, type Inference, inferValue, noVariables } from './context.ts';
import { whyReserved } from './names.ts';
import { resolveType } from './types.ts';

/** Returns the let with this name; undefined when the name is not that of a let, or the let has no end. */
export function letNamed(name: string, { env, variables }: Context): LetDeclaration | undefined {
  if (variables.has(name)) return undefined;
  const declaration = env.query('declaration', name);
  if (declaration?.kind !== 'let' || env.query('isEndless', name)) return undefined;
  return declaration;
}

// ---- lets with parameters

/** The most nodes that one call expands to, because lets that call one another can multiply. */
const expansionNodesMax = 5_000;
/** The most operators within one another, as in an expression that is written out. */
const expansionDepthMax = 500;

/** Types a call of a let with parameters. */
export function inferDefinition(node: CallNode, definition: LetDeclaration, ctx: Context): Inference {
  const { env } = ctx;
  env.use(definition.name.text);
  const args = node.args.map((arg) => inferValue(arg, ctx));
  if (definition.isBroken) return failed;
  const parameters = parametersOf(definition, env);
  if (node.args.length !== definition.parameters.length) {
    env.report(definitionArgumentCount(node, definition));
    return failed;
  }
  if (parameters === null || args.includes(null)) return failed;
  const strays = args.filter((arg, at) => !fits(node.args[at]!, arg!, parameters[at]!.slot.type));
  for (const stray of strays) env.report(definitionArgumentMistyped(stray!, definition, args.indexOf(stray)));
  if (strays.length > 0) return failed;
  const values = new Map(parameters.map(({ name }, at) => [name, node.args[at]!] as const));
  const { size, depth } = ctx.expansion ?? { size: { nodes: 0 }, depth: 0 };
  const body = substituted(definition.value, values, { ...ctx, expansion: { size, depth } });
  const expansion = { size, depth: depth + expressionDepth(body) };
  if (expansion.depth > expansionDepthMax) size.nodes = Number.POSITIVE_INFINITY;
  const isTooLarge = (): boolean => size.nodes > expansionNodesMax;
  const inferred = isTooLarge() ? failed : ctx.infer(body, { ...ctx, inLet: true, expansion });
  if (!isTooLarge()) return inferred;
  // The calls within are parts of the outermost one.
  if (ctx.expansion === null) env.report(letTooLarge(node, expansionNodesMax));
  return failed;
}

interface Parameter {
  readonly name: string;
  readonly slot: Slot;
}

/** Returns the parameters as variables, to check a let that nothing calls. */
export function parameterVariables(definition: LetDeclaration, env: Environment): Context['variables'] {
  const parameters = parametersOf(definition, env) ?? [];
  return parameters.length === 0
    ? noVariables
    : new Map(parameters.map(({ name, slot }) => [name, slot] as const));
}

/** Returns the typed parameters; null, with a diagnostic, when one of them is in error. */
function parametersOf({ parameters }: LetDeclaration, env: Environment): readonly Parameter[] | null {
  const all = parameters.map((parameter, at): Parameter | null => {
    const { name } = parameter;
    const earlier =
      parameters.slice(0, at).find((other) => other.name.text === name.text)?.name ??
      env.query('declaration', name.text)?.name;
    const slot = parameterSlot(parameter, env);
    if (earlier === undefined && whyReserved(name.text) === null) return slot && { name: name.text, slot };
    env.report(variableTaken(name, earlier));
    return null;
  });
  const resolved = all.filter((parameter) => parameter !== null);
  return resolved.length < all.length ? null : resolved;
}

/** Returns the type of a parameter. An amount has its currency with it, so `money` needs no currency field. */
function parameterSlot({ type }: ParameterNode, env: Environment): Slot | null {
  if (type.kind === 'named-type' && type.name.text === 'money' && type.range === null)
    return { type: moneyType, isNullable: false, isSecret: false, isSigned: false };
  return resolveType(type, env);
}

/** Whether a value can be the argument of a parameter. A record has to be a path, since its fields are read. */
function fits(node: ExpressionNode, { type }: Expression, expected: Type): boolean {
  if (expected.kind === 'record') return type.kind === 'record' && node.kind === 'path';
  if (expected.kind === 'list')
    return type.kind === 'list' && isOfOneKind(type.element.type, expected.element.type);
  return isOfOneKind(type, expected);
}

function isOfOneKind(a: Type, b: Type): boolean {
  if (a.kind === 'record' || b.kind === 'record') return a.kind === b.kind;
  return areComparable(a, b) && areSpeltAlike(a, b);
}

type Values = ReadonlyMap<string, ExpressionNode>;

/**
 * Returns the body of a definition with values in the place of parameters. Variables of quantifiers in the
 * body get a name that no variable around the call or in a value has.
 */
function substituted(body: ExpressionNode, values: Values, ctx: Context): ExpressionNode {
  if (ctx.expansion !== null) ctx.expansion.size.nodes += 1;
  const within = (node: ExpressionNode): ExpressionNode => substituted(node, values, ctx);
  switch (body.kind) {
    case 'path':
      return pathIn(body, values, ctx);
    case 'look-up':
      return { ...body, key: within(body.key) };
    case 'unary':
      return { ...body, operand: within(body.operand) };
    case 'binary':
      return binaryIn(body, values, ctx);
    case 'range':
      return { ...body, low: within(body.low), high: within(body.high) };
    case 'list-literal':
      return { ...body, entries: body.entries.map(within) };
    case 'quantifier': {
      const name = freshName(body.variable, values, ctx);
      const variable: Path = { kind: 'path', root: name, steps: [], span: name.span };
      const inner = new Map(values).set(body.variable.text, variable);
      return {
        ...body,
        variable: name,
        sources: body.sources.map(within),
        body: substituted(body.body, inner, ctx),
      };
    }
    case 'has': {
      const subject = within(body.subject);
      return subject.kind === 'path' || subject.kind === 'look-up' ? { ...body, subject } : body;
    }
    case 'single-script':
      return { ...body, subject: within(body.subject) };
    case 'else':
      return { ...body, subject: within(body.subject), fallback: within(body.fallback) };
    case 'if':
      return {
        ...body,
        condition: within(body.condition),
        whenTrue: within(body.whenTrue),
        otherwise: body.otherwise && within(body.otherwise),
      };
    case 'call':
      return { ...body, args: body.args.map(within) };
    default:
      return body;
  }
}

/** Substitutes in a chain of operators, which may be long, without recursion along the chain. */
function binaryIn(
  whole: Extract<ExpressionNode, { kind: 'binary' }>,
  values: Values,
  ctx: Context,
): ExpressionNode {
  const chain: Extract<ExpressionNode, { kind: 'binary' }>[] = [];
  let left: ExpressionNode = whole;
  for (; left.kind === 'binary'; left = left.left) chain.push(left);
  let result = substituted(left, values, ctx);
  for (const link of chain.toReversed())
    result = { ...link, left: result, right: substituted(link.right, values, ctx) };
  return result;
}

function pathIn(path: Path, values: Values, ctx: Context): ExpressionNode {
  const value = values.get(path.root.text);
  if (value === undefined) {
    // A body sees its parameters, not the variables around a call.
    if (!ctx.variables.has(path.root.text)) return path;
    ctx.env.report(unknownVariable(path.root));
    return { kind: 'missing', span: path.span };
  }
  if (path.steps.length === 0) return value;
  if (value.kind === 'path') return { ...value, steps: [...value.steps, ...path.steps] };
  ctx.env.report(stepsMisplaced(path, 0));
  return { kind: 'missing', span: path.span };
}

function freshName(variable: NameNode, values: Values, { variables }: Context): NameNode {
  const named = new Set([...values.values()].flatMap(variablesIn));
  const isTaken = (text: string): boolean => variables.has(text) || named.has(text);
  let { text } = variable;
  for (let number = 2; isTaken(text); number += 1) text = `${variable.text}_${number}`;
  return text === variable.text ? variable : { ...variable, text };
}

/** The root of a path, and the variables of quantifiers in an expression. */
function variablesIn(value: ExpressionNode): readonly string[] {
  if (value.kind === 'path') return [value.root.text];
  const names: string[] = [];
  walkExpression(value, (part) => {
    if (part.kind === 'quantifier') names.push(part.variable.text);
  });
  return names;
}

// ---- lets of records and rows

/** A path or look-up to read in the place of a path, and the context to read it in. */
export interface ExpandedPath {
  readonly node: Path | LookUp;
  readonly ctx: Context;
}

/**
 * Returns what a path means whose root is a let of a record or a row; the path itself for any other root.
 * Every place has the span of the path that was written.
 */
export function expandPath(path: Path, ctx: Context): ExpandedPath {
  const [first, ...rest] = path.steps;
  const named = first === undefined ? undefined : letNamed(path.root.text, ctx);
  if (first === undefined || named === undefined || named.parameters.length > 0) return { node: path, ctx };
  const { value } = named;
  const outside: Context = { ...ctx, variables: noVariables, inLet: true };
  if (value.kind === 'path') {
    ctx.env.use(named.name.text);
    const root = { ...value.root, span: path.root.span };
    const before = value.steps.map((step) => ({ ...step, span: path.root.span }));
    return expandPath({ ...path, root, steps: [...before, ...path.steps] }, outside);
  }
  if (value.kind !== 'look-up' || value.column !== null) return { node: path, ctx };
  ctx.env.use(named.name.text);
  if (rest.length > 0) ctx.env.report(stepsMisplaced(path, 1));
  const table = { ...value.table, span: path.root.span };
  return { node: { ...value, table, column: first, span: path.span }, ctx: outside };
}

/** Whether the let is a row of a table with columns, so that only its columns are values. */
export function isRow({ parameters, value }: LetDeclaration, env: Environment): boolean {
  if (parameters.length > 0 || value.kind !== 'look-up' || value.column !== null) return false;
  return env.query('tableColumns', value.table.text)?.some(({ name }) => name !== '') === true;
}
