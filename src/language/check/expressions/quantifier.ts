// Types quantifiers: `some`, `every`, `no`, `count` and `sum` over the elements of one or more lists with one
// element type.

import type { Expression, Quantify } from '../../model/expression.ts';
import { booleanType, quantity, type Slot, type Type } from '../../model/type.ts';
import type { Path, Quantifier, ExpressionNode as Tree } from '../../syntax/tree/tree.ts';
import { behindLets } from '../logic/constants.ts';
import { moneyType } from '../logic/literals.ts';
import { mergeSlots } from '../logic/merge.ts';
import { commonType, isNumeric } from '../logic/type-relations.ts';
import { secretRead } from '../messages/path-errors.ts';
import {
  notSummable,
  quantifierTooDeep,
  sourceDeclaredList,
  sourcesDiffer,
  sourceUnfit,
  variableTaken,
} from '../messages/type-errors.ts';
import { adaptAll } from './adapt.ts';
import { type Context, inferCondition, inferValue, isResult } from './context.ts';
import { expandPath } from './definitions.ts';
import { resolveField } from './fields.ts';
import { letsOf } from './lets.ts';
import { negated } from './logic.ts';
import { whyReserved } from './names.ts';

const depthMax = 2;

export function inferQuantifier(node: Quantifier, ctx: Context): Expression | null {
  const inferredSources = node.sources.map((source) => inferSource(source, ctx));
  const resolved = inferredSources.filter((source) => source !== null);
  const sources = resolved.length < inferredSources.length ? inferredSources : adaptAll(resolved, ctx.env);
  const element = elementOf(node, sources, ctx) ?? elementOfDeclared(node, ctx);
  const isFree = checkVariable(node, ctx);
  if (ctx.depth >= depthMax) {
    ctx.env.report(quantifierTooDeep(node));
    return null;
  }
  if (element === null || isReserved(node, ctx)) return null;
  const variables = new Map([...ctx.variables, [node.variable.text, element]]);
  const inner = { ...ctx, variables, depth: ctx.depth + 1 };
  const isSum = node.quantifier === 'sum';
  const body = isSum ? inferValue(node.body, inner) : inferCondition(node.body, inner).expression;
  // The body of a quantifier in error is only looked at for errors of its own.
  if (body === null || !isFree || sources.some((source) => source === null)) return null;
  const type = resultType(node, body, ctx);
  if (type === null) return null;
  const { quantifier } = node;
  const quantified: Quantify = {
    kind: 'quantify',
    quantifier: quantifier === 'no' ? 'some' : quantifier,
    variable: node.variable.text,
    sources: sources.filter((source) => source !== null),
    body,
    type,
    span: node.span,
  };
  return quantifier === 'no' ? negated(quantified, node.span) : quantified;
}

function resultType(node: Quantifier, body: Expression, ctx: Context): Type | null {
  if (node.quantifier === 'count') return quantity('integer');
  if (node.quantifier !== 'sum') return booleanType;
  if (body.type.kind === 'money') return moneyType;
  if (isNumeric(body.type) || body.type.kind === 'duration') {
    return quantity(body.type.kind as 'number' | 'integer' | 'duration');
  }
  ctx.env.report(notSummable(body));
  return null;
}

/**
 * Types a list to iterate over: a field, which may be absent, a list literal, a list column of a table,
 * `agent.tags`, `links(...)` or `commands(...)`.
 */
function inferSource(written: Tree, around: Context): Expression | null {
  const { node, ctx } =
    written.kind === 'path' ? expandPath(written, around) : { node: written, ctx: around };
  if (node.kind === 'path' && isDeclaredList(node, ctx)) {
    ctx.env.use(node.root.text);
    ctx.env.report(sourceDeclaredList(node.root));
    return null;
  }
  const isField = node.kind === 'path' && (node.root.text === 'payload' || ctx.variables.has(node.root.text));
  const value = isField && node.steps.length > 0 ? inferFieldSource(node, ctx) : inferValue(node, ctx);
  if (value === null) return null;
  const source = behindLets(value, letsOf(ctx.env));
  const isSource =
    ['field', 'list', 'text-list', 'fact', 'column'].includes(source.kind) || isListCall(source);
  if (isSource && source.type.kind === 'list') return source;
  ctx.env.report(sourceUnfit(value));
  return null;
}

function isDeclaredList(node: Path, ctx: Context): boolean {
  return ctx.env.query('kind', node.root.text) === 'list' && !ctx.variables.has(node.root.text);
}

/** Returns the element of a declared list, through which no quantifier goes. */
function elementOfDeclared({ sources }: Quantifier, ctx: Context): Slot | null {
  const [source] = sources;
  if (source?.kind !== 'path' || !isDeclaredList(source, ctx)) return null;
  const type = ctx.env.query('listType', source.root.text);
  return type === undefined ? null : { type, isNullable: false, isSecret: false, isSigned: false };
}

function isListCall(source: Expression): boolean {
  return source.kind === 'call' && (source.builtin === 'links' || source.builtin === 'commands');
}

/** Types a field without requiring its presence: an absent list counts as empty. */
function inferFieldSource(node: Path, ctx: Context): Expression | null {
  const field = resolveField(node, ctx);
  if (field === null) return null;
  if (!field.read.isSecret) return field.read;
  ctx.env.report(secretRead(field.read));
  return null;
}

function elementOf(node: Quantifier, sources: readonly (Expression | null)[], ctx: Context): Slot | null {
  let element: Slot | null = null;
  for (const source of sources) {
    if (source?.type.kind !== 'list') return null;
    const next: Slot = source.type.element;
    const merged: Slot | null = element === null ? next : joinSlots(element, next);
    if (merged === null) {
      ctx.env.report(sourcesDiffer(source, element ?? next));
      return null;
    }
    element = merged;
  }
  // When a signature is missing, a signed list is unknown as a whole, so its elements need no mark of their
  // own.
  return element === null || node.sources.length === 0 ? null : element;
}

function joinSlots(a: Slot, b: Slot): Slot | null {
  const merged = mergeSlots(a, b);
  if (merged !== null) return merged;
  const type = commonType(a.type, b.type);
  return type === null ? null : { ...a, type, isNullable: a.isNullable || b.isNullable };
}

/** Whether the variable has the name of something that every expression can read. */
function isReserved({ variable: { text } }: Quantifier, ctx: Context): boolean {
  return text === '' || isResult(text, ctx) || whyReserved(text) !== null;
}

function checkVariable(node: Quantifier, ctx: Context): boolean {
  const { text } = node.variable;
  if (text === '') return false;
  const earlier = ctx.env.query('declaration', text)?.name;
  const isTaken = earlier !== undefined || ctx.variables.has(text) || isReserved(node, ctx);
  if (isTaken) ctx.env.report(variableTaken(node.variable, earlier));
  return !isTaken;
}
