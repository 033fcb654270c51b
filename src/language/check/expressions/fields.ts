// Turns a path into the payload, or into a quantifier's variable, into a typed read over all matched actions.

import { spanning } from '../../diagnostic/span.ts';
import type { FieldRead } from '../../model/expression.ts';
import { allSigners } from '../../model/signers.ts';
import type { Shape } from '../../model/type.ts';
import type { NameNode } from '../../syntax/tree/tree.ts';
import type { PathNode } from '../incremental/resolved.ts';
import { payloadField, stepInto, typeOfNode, variableNode } from '../logic/payload-paths.ts';
import { isKnown, presenceFact } from '../logic/presence.ts';
import {
  fieldMayBeAbsent,
  fieldMayBeNull,
  fieldMistyped,
  fieldTypesDiffer,
  unknownField,
} from '../messages/path-errors.ts';
import { type Context, isResult } from './context.ts';

export interface FieldPath {
  readonly root: NameNode;
  readonly steps: readonly NameNode[];
}

/** A field with the places along its path, from the root on: one place more than the path has steps. */
export interface ResolvedField {
  readonly read: FieldRead;
  readonly steps: readonly NameNode[];
  readonly nodes: readonly PathNode[];
}

/**
 * Returns the field that a path names; null, with a diagnostic, when there is none. Does not check presence.
 */
export function resolveField(path: FieldPath, ctx: Context): ResolvedField | null {
  const { root, steps } = path;
  const variable = ctx.variables.get(root.text);
  const whole = isResult(root.text, ctx) ? ctx.actions.result! : ctx.actions.payload;
  let node = variable === undefined ? whole : variableNode(variable);
  const nodes = [node];
  for (const [index, step] of steps.entries()) {
    const next = stepInto(node, step.text);
    if (next === null) {
      reportStep(node, path, index, ctx);
      return null;
    }
    if (next.isFailed || step.text === '') return null;
    nodes.push(next);
    node = next;
  }
  if (node.slots.length === 0) return null;
  const type = typeOfNode(node);
  if ('differ' in type) {
    ctx.env.report(fieldTypesDiffer(path, ...type.differ));
    return null;
  }
  const { isSecret, steps: texts } = node;
  const span = spanning(root.span, (steps.at(-1) ?? root).span);
  return {
    read: {
      kind: 'field',
      root: root.text,
      steps: texts,
      ...allSigners(node),
      isSecret,
      type: type.common,
      span,
    },
    steps,
    nodes,
  };
}

/** Reports why a step leads nowhere, unless that has been reported already. */
function reportStep(node: PathNode, path: FieldPath, index: number, ctx: Context): void {
  if (path.steps[index]?.text === '') return;
  const types = node.slots.map(({ slot }) => slot.type);
  const stray = types.find(({ kind }) => kind !== 'record');
  if (stray !== undefined) ctx.env.report(fieldMistyped(path, index, stray));
  else if (ctx.actions.keys.length > 0) {
    const shapes = types.flatMap((type) => (type.kind === 'record' ? [type.shape] : []));
    const candidates = new Set(shapes.flatMap((shape) => shape.fields.map((field) => field.name)));
    ctx.env.report(unknownField(path, index, candidates));
  }
}

/** Whether every step is known to be present and not null; reports the first step that is not. */
export function requirePresence(field: ResolvedField, ctx: Context): boolean {
  if (field.nodes.at(-1)?.isCertain === true) return true;
  return field.nodes.every((_, at) => isPresent(field, at, ctx) && isNotNull(field, at, ctx));
}

/** As `requirePresence`, but the last step may be absent or null. */
export function requirePresenceBefore(field: ResolvedField, ctx: Context): boolean {
  return requirePresence({ ...field, nodes: field.nodes.slice(0, -1) }, ctx);
}

function isPresent(field: ResolvedField, at: number, ctx: Context): boolean {
  const steps = field.steps.slice(0, at);
  if (field.nodes[at]?.isOptional !== true) return true;
  if (isKnown(ctx.presence, presenceFact('present', field.read.root, textsOf(steps)))) return true;
  ctx.env.report(fieldMayBeAbsent(field.read, steps, actionsWith(field, steps, ctx)));
  return false;
}

/** The most actions that a message names. */
const namedActionsMax = 3;

/** Returns the actions whose payload declares the field; null when all do, or when they are many. */
function actionsWith(
  { read: { root } }: ResolvedField,
  steps: readonly NameNode[],
  { actions: { keys, shapes }, variables }: Context,
): readonly string[] | null {
  if (root !== 'payload' || variables.has(root)) return null;
  const having = keys.filter((_, at) => isDeclaredIn(shapes[at], textsOf(steps)));
  return having.length === keys.length || having.length > namedActionsMax ? null : having;
}

function isDeclaredIn(shape: Shape | undefined, [step, ...others]: readonly string[]): boolean {
  const type = shape === undefined || step === undefined ? undefined : payloadField(shape, step)?.type;
  if (type === undefined || others.length === 0) return type !== undefined;
  return type.kind === 'record' && isDeclaredIn(type.shape, others);
}

function isNotNull(field: ResolvedField, at: number, ctx: Context): boolean {
  const steps = field.steps.slice(0, at);
  if (field.nodes[at]?.isNullable !== true) return true;
  if (isKnown(ctx.presence, presenceFact('not-null', field.read.root, textsOf(steps)))) return true;
  ctx.env.report(fieldMayBeNull(field.read, steps));
  return false;
}

function textsOf(steps: readonly NameNode[]): readonly string[] {
  return steps.map((step) => step.text);
}
