// Paths: fields of the payload and of quantifier variables, facts about agent, request and action, and declared names.

import type { Expression, FactName } from '../model/expression.ts';
import { riskTiers } from '../model/request.ts';
import { anyText, booleanType, enumeration, listOf, quantity, type Type } from '../model/type.ts';
import type { Name, Path } from '../syntax/tree.ts';
import { type Context, failed, type Inferred, plain } from './context.ts';
import { type Environment, type NamedDeclaration, namesOf } from './environment.ts';
import { requirePresence, resolveField } from './fields.ts';
import { readLet } from './lets.ts';
import { namesInScope } from './names.ts';
import {
  anyRead,
  factMissing,
  notAValue,
  payloadWhole,
  secretRead,
  stepsMisplaced,
  unknownFact,
  unknownPath,
} from './path-errors.ts';
import { riskMisplaced, unreadableInMeter } from './type-errors.ts';

export function inferPath(node: Path, ctx: Context): Inferred {
  const root = node.root.text;
  if (ctx.variables.has(root) || root === 'payload') return plain(inferField(node, ctx));
  switch (root) {
    case '':
      return failed;
    case 'agent':
    case 'request':
    case 'action':
      return plain(inferFact(node, root, ctx));
    case 'now':
      if (isBare(node, ctx) && isReadable(node, ctx))
        return plain({ kind: 'now', type: quantity('timestamp'), span: node.span });
      return failed;
    case 'risk':
      if (isReadable(node, ctx)) ctx.env.report(riskMisplaced(node.span));
      return failed;
    default:
      return inferDeclared(node, ctx);
  }
}

function inferField(node: Path, ctx: Context): Expression | null {
  if (node.root.text === 'payload' && node.steps.length === 0) {
    ctx.env.report(payloadWhole(node.span));
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
  const [step, ...rest] = node.steps;
  const facts = factTypes(ctx.env);
  const names = Object.keys(facts).filter((name) => name.startsWith(`${root}.`));
  if (step === undefined) {
    ctx.env.report(factMissing(node.span, names));
    return null;
  }
  const fact = `${root}.${step.text}`;
  if (!isFact(fact, facts)) {
    if (step.text !== '') ctx.env.report(unknownFact(root, step, names));
    return null;
  }
  if (rest.length > 0) {
    ctx.env.report(stepsMisplaced(node, 1));
    return null;
  }
  return { kind: 'fact', fact, type: facts[fact], span: node.span };
}

type FactTypes = Readonly<Record<FactName, Type>>;
/** Computed once for a set of actions. */
const knownFactTypes = new WeakMap<Environment['actions'], FactTypes>();

function isFact(name: string, facts: FactTypes): name is FactName {
  return Object.hasOwn(facts, name);
}

/** The type of each fact; keys of actions are an enumeration, so that a misspelt one is found. */
function factTypes(env: Environment): FactTypes {
  const known = knownFactTypes.get(env.actions);
  if (known !== undefined) return known;
  const keys = [...env.actions.keys()].sort();
  const parts = (part: (key: string) => string): Type => enumeration([...new Set(keys.map(part))].sort());
  const types: FactTypes = {
    'agent.id': anyText,
    'agent.name': anyText,
    'agent.risk_tier': enumeration(riskTiers),
    'agent.control_owner': anyText,
    'agent.tags': listOf(anyText),
    'request.ip': { kind: 'ip' },
    'request.signed': booleanType,
    'request.session': anyText,
    'action.key': enumeration(keys),
    'action.area': parts((key) => key.slice(0, key.lastIndexOf('.'))),
    'action.verb': parts((key) => key.slice(key.lastIndexOf('.') + 1)),
  };
  knownFactTypes.set(env.actions, types);
  return types;
}

function inferDeclared(node: Path, ctx: Context): Inferred {
  const name = node.root.text;
  const declaration = ctx.env.declarations.get(name);
  if (declaration === undefined) {
    ctx.env.report(unknownPath(node, candidatesIn(ctx), payloadFieldNames(ctx)));
    return failed;
  }
  ctx.env.used.add(name);
  switch (declaration.kind) {
    case 'let':
      return isBare(node, ctx) ? readLet(declaration, node.span, ctx) : failed;
    case 'meter':
      return isBare(node, ctx) && isReadable(node, ctx) ? plain(readMeter(node.root, ctx)) : failed;
    default:
      ctx.env.report(notAValue(node.root, declaration.kind));
      return failed;
  }
}

function readMeter(name: Name, ctx: Context): Expression | null {
  const meter = ctx.env.meters.get(name.text);
  return meter === undefined ? null : { kind: 'meter', meter: meter.name, type: meter.type, span: name.span };
}

function isBare(node: Path, ctx: Context): boolean {
  if (node.steps.length > 0) ctx.env.report(stepsMisplaced(node, 0));
  return node.steps.length === 0;
}

function isReadable(node: Path, ctx: Context): boolean {
  if (ctx.inMeter) ctx.env.report(unreadableInMeter(node.span, node.root.text));
  return !ctx.inMeter;
}

const readableKinds: readonly NamedDeclaration['kind'][] = ['let', 'meter', 'list', 'hours'];

function candidatesIn(ctx: Context): readonly string[] {
  return [
    ...namesInScope,
    ...ctx.variables.keys(),
    ...readableKinds.flatMap((kind) => namesOf(ctx.env, kind)),
  ];
}

function payloadFieldNames(ctx: Context): ReadonlySet<string> {
  return new Set(ctx.actions.flatMap(({ shape }) => shape.fields.map((field) => field.name)));
}
