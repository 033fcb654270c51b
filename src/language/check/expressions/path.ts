// Types paths: fields of the payload and of quantifier variables, facts about agent, request and action, and
// declared names.

import type { Expression } from '../../model/expression.ts';
import { quantity } from '../../model/type.ts';
import type { NameNode, Path } from '../../syntax/tree/tree.ts';
import type { DeclarationKind } from '../incremental/environment.ts';
import { unreadableInMeter } from '../messages/meter-errors.ts';
import {
  anyRead,
  factMissing,
  notAValue,
  payloadWhole,
  secretRead,
  stepsMisplaced,
  unknownFact,
  unknownPath,
} from '../messages/path-errors.ts';
import { rowWhole } from '../messages/table-errors.ts';
import { definitionUncalled, riskMisplaced } from '../messages/type-errors.ts';
import { type Context, failed, type Inference, isResult, plainType } from './context.ts';
import { namesOf, payloadFieldNames } from './declared-names.ts';
import { expandPath, isRow, letNamed } from './definitions.ts';
import { factNames, isFact, typeOfFact } from './facts.ts';
import { requirePresence, resolveField } from './fields.ts';
import { readLet } from './lets.ts';
import { inferLookUp } from './look-up.ts';
import { namesInScope } from './names.ts';

export function inferPath(path: Path, around: Context): Inference {
  const { node, ctx } = expandPath(path, around);
  if (node.kind === 'look-up') return plainType(inferLookUp(node, ctx));
  const root = node.root.text;
  if (ctx.variables.has(root) || root === 'payload' || isResult(root, ctx))
    return plainType(inferField(node, ctx));
  switch (root) {
    case '':
      return failed;
    case 'agent':
    case 'request':
    case 'action':
      return plainType(inferFact(node, root, ctx));
    case 'now':
      if (isBare(node, ctx) && isReadable(node, ctx))
        return plainType({ kind: 'now', type: quantity('timestamp'), span: node.span });
      return failed;
    case 'risk':
      if (isReadable(node, ctx)) ctx.env.report(riskMisplaced(node.span));
      return failed;
    default:
      return inferDeclared(node, ctx);
  }
}

function inferField(node: Path, ctx: Context): Expression | null {
  const isWhole = !ctx.variables.has(node.root.text) && node.steps.length === 0;
  if (isWhole) {
    ctx.env.report(payloadWhole(node));
    return null;
  }
  const field = resolveField(node, ctx);
  if (field === null || !requirePresence(field, ctx)) return null;
  if (field.read.isSecret) {
    ctx.env.report(secretRead(field.read));
    return null;
  }
  if (field.read.type.kind === 'any') {
    ctx.env.report(anyRead(field.read));
    return null;
  }
  return field.read;
}

function inferFact(node: Path, root: 'agent' | 'request' | 'action', ctx: Context): Expression | null {
  // `request.user` groups facts within the group `request`.
  const group = root === 'request' && node.steps[0]?.text === 'user' ? 'request.user' : root;
  const at = group === root ? 0 : 1;
  const step = node.steps[at];
  if (step === undefined) {
    ctx.env.report(factMissing(node.span, factsOf(group)));
    return null;
  }
  const fact = `${group}.${step.text}`;
  if (!isFact(fact)) {
    if (step.text !== '') ctx.env.report(unknownFact(group, step, factsOf(group)));
    return null;
  }
  if (node.steps.length > at + 1) {
    ctx.env.report(stepsMisplaced(node, at + 1));
    return null;
  }
  return { kind: 'fact', fact, type: typeOfFact(fact, ctx.env), span: node.span };
}

function factsOf(root: string): readonly string[] {
  return factNames.filter((name) => name.startsWith(`${root}.`));
}

function inferDeclared(node: Path, ctx: Context): Inference {
  const name = node.root.text;
  const kind = ctx.env.query('kind', name);
  if (kind === undefined) {
    ctx.env.report(unknownPath(node, candidatesIn(ctx), payloadFieldNames(ctx)));
    return failed;
  }
  ctx.env.use(name);
  switch (kind) {
    case 'let':
      return isBare(node, ctx) ? readWhole(node.root, ctx) : failed;
    case 'meter':
      return isBare(node, ctx) && isReadable(node, ctx) ? plainType(readMeter(node.root, ctx)) : failed;
    default:
      ctx.env.report(notAValue(node.root, kind));
      return failed;
  }
}

/** Reads a let as a value, which a definition with parameters and a row are not. */
function readWhole(name: NameNode, ctx: Context): Inference {
  const named = letNamed(name.text, ctx);
  if (named === undefined || named.isBroken) return failed;
  if (named.parameters.length > 0) ctx.env.report(definitionUncalled(name, named));
  else if (isRow(named, ctx.env)) ctx.env.report(rowWhole(name));
  else return readLet(name, ctx);
  return failed;
}

function readMeter(name: NameNode, ctx: Context): Expression | null {
  const type = ctx.env.query('meterType', name.text);
  return type === undefined ? null : { kind: 'meter', meter: name.text, type, span: name.span };
}

function isBare(node: Path, ctx: Context): boolean {
  if (node.steps.length > 0) ctx.env.report(stepsMisplaced(node, 0));
  return node.steps.length === 0;
}

function isReadable(node: Path, ctx: Context): boolean {
  if (ctx.inMeter) ctx.env.report(unreadableInMeter(node.span, node.root.text));
  return !ctx.inMeter;
}

const readableKinds: readonly DeclarationKind[] = ['let', 'meter', 'list', 'hours'];

/** Returns the names that the root of a path may be in this context. */
function candidatesIn(ctx: Context): readonly string[] {
  return [
    ...namesInScope,
    ...ctx.variables.keys(),
    ...readableKinds.flatMap((kind) => namesOf(ctx.env, kind)),
  ];
}
