// Types calls of functions: a table gives the argument types and the result type of each function.

import { type Builtin, namedBuiltins } from '../../model/builtins.ts';
import type { Expression } from '../../model/expression.ts';
import { shellCommandType } from '../../model/shell-command-type.ts';
import { anyText, enumeration, listOf, quantity, type Slot, type Type } from '../../model/type.ts';
import type { CallNode } from '../../syntax/tree/tree.ts';
import { isZone } from '../../value/time.ts';
import { constantText } from '../logic/constants.ts';
import { commonType, isOrdered } from '../logic/type-relations.ts';
import {
  argumentCount,
  argumentMistyped,
  todayCalled,
  unknownFunction,
  zoneNotConstant,
} from '../messages/type-errors.ts';
import { zoneUnknown } from '../messages/value-errors.ts';
import { type Context, failed, type Inference, inferValue, plainType } from './context.ts';
import { inferDefinition, letNamed } from './definitions.ts';
import { letsOf } from './lets.ts';

/** What a function takes and yields; `yields` returns null for arguments that do not fit together. */
interface Signature {
  readonly count: { readonly min: number; readonly max: number };
  readonly takes: (type: Type, index: number) => boolean;
  readonly yields: (types: readonly Type[]) => Type | null;
}

const one = { min: 1, max: 1 };
const isText = (type: Type): boolean => type.kind === 'text';
const isUrl = (type: Type): boolean =>
  type.kind === 'text' && (type.of === 'url' || type.of === 'web_address');
const isTextList = (type: Type): boolean => type.kind === 'list' && isOpenText(type.element);
const isOpenText = ({ type, isNullable, isSecret, isSigned }: Slot): boolean =>
  isText(type) && !isNullable && !isSecret && !isSigned;
const textToText: Signature = { count: one, takes: isText, yields: () => anyText };
const hostText: Type = { ...anyText, of: 'host' };
const shellCommandList = listOf(shellCommandType);
const extreme: Signature = { count: { min: 2, max: 100 }, takes: isOrdered, yields: joined };

const signatures = {
  length: {
    count: one,
    takes: (type) => type.kind === 'text' || type.kind === 'list',
    yields: () => quantity('integer'),
  },
  lower: textToText,
  trim: textToText,
  fold: textToText,
  links: { count: one, takes: isText, yields: () => listOf({ ...anyText, of: 'web_address' }) },
  commands: { count: one, takes: isText, yields: () => shellCommandList },
  domain: {
    count: one,
    takes: (type) => type.kind === 'text' && type.of === 'email',
    yields: () => hostText,
  },
  host: { count: one, takes: isUrl, yields: () => hostText },
  scheme: { count: one, takes: isUrl, yields: () => anyText },
  port: { count: one, takes: isUrl, yields: () => quantity('integer') },
  ip: {
    count: one,
    takes: (type) => type.kind === 'text' && type.of === 'host',
    yields: () => ({ kind: 'ip' }),
  },
  first: {
    count: one,
    takes: isTextList,
    yields: ([list]) => (list?.kind === 'list' ? list.element.type : null),
  },
  join: { count: { min: 2, max: 100 }, takes: isText, yields: () => anyText },
  quantity: { count: one, takes: isText, yields: () => quantity('number') },
  date: {
    count: { min: 2, max: 2 },
    takes: (type, index) => type.kind === (index === 0 ? 'timestamp' : 'text'),
    yields: () => quantity('date'),
  },
  // Written as `today in "Zone"`, never as a call.
  today: { count: one, takes: isText, yields: () => quantity('date') },
  // Written as `date + 18 years`, never as a call.
  months_later: {
    count: { min: 2, max: 2 },
    takes: (type) => type.kind === 'date',
    yields: () => quantity('date'),
  },
  min: extreme,
  max: extreme,
  abs: {
    count: one,
    takes: (type) => ['number', 'integer', 'money', 'duration'].includes(type.kind),
    yields: joined,
  },
} satisfies Record<Builtin, Signature>;

export function inferCall(node: CallNode, ctx: Context): Inference {
  const { text } = node.callee;
  const named = letNamed(text, ctx);
  // The circle that a let is in has been reported.
  if (named === undefined && ctx.env.query('isEndless', text)) return failed;
  return named === undefined ? plainType(inferBuiltin(node, ctx)) : inferDefinition(node, named, ctx);
}

function inferBuiltin(node: CallNode, ctx: Context): Expression | null {
  const name = node.callee.text;
  if (!namedBuiltins.some((one) => one === name)) {
    if (name !== '') ctx.env.report(unknownFunction(node.callee, namedBuiltins));
    return null;
  }
  const args = node.args.map((arg) => inferValue(arg, ctx));
  const builtin = name as Builtin;
  if (builtin === 'today') {
    ctx.env.report(todayCalled(node));
    return null;
  }
  const knownArgs = args.filter((arg) => arg !== null);
  if (knownArgs.length < args.length || !takesArguments(node, builtin, knownArgs, ctx)) return null;
  const type = signatures[builtin].yields(knownArgs.map((arg) => arg.type));
  if (type === null) {
    ctx.env.report(argumentMistyped(knownArgs.at(-1)!, builtin));
    return null;
  }
  const finished = builtin === 'date' ? withZone(knownArgs, ctx) : knownArgs;
  return finished === null ? null : { kind: 'call', builtin, args: finished, type, span: node.span };
}

function takesArguments(
  node: CallNode,
  builtin: Builtin,
  args: readonly Expression[],
  ctx: Context,
): boolean {
  const { count, takes }: Signature = signatures[builtin];
  if (args.length < count.min || args.length > count.max) {
    ctx.env.report(argumentCount(node, builtin));
    return false;
  }
  const strays = args.filter((arg, index) => !takes(arg.type, index));
  for (const stray of strays) ctx.env.report(argumentMistyped(stray, builtin));
  return strays.length === 0;
}

/** Returns the common type of the arguments, without the range of any of them; null when there is none. */
function joined(types: readonly Type[]): Type | null {
  const [first, ...rest] = types;
  if (first === undefined) return null;
  const type = rest.reduce<Type | null>((all, next) => (all === null ? null : commonType(all, next)), first);
  if (type === null) return null;
  if (type.kind === 'money') return { ...type, currencyField: null, range: { low: null, high: null } };
  return 'range' in type ? quantity(type.kind) : type;
}

/**
 * Returns the arguments of `date` with a constant time zone as a text literal; null, with a diagnostic, when a zone
 * is unknown, or is neither constant nor one of an enumeration.
 */
function withZone(args: readonly Expression[], ctx: Context): readonly Expression[] | null {
  const zone = args.at(-1)!;
  const text = constantText(zone, letsOf(ctx.env));
  const listed = zone.type.kind === 'text' ? zone.type.values : null;
  const stray = listed?.find((value) => !isZone(value));
  if (text === null && listed !== null && stray === undefined) return args;
  if (text === null && stray !== undefined) ctx.env.report(zoneUnknown({ span: zone.span, value: stray }));
  else if (text === null) ctx.env.report(zoneNotConstant(zone.span));
  else if (!isZone(text)) ctx.env.report(zoneUnknown({ span: zone.span, value: text }));
  else {
    return [
      ...args.slice(0, -1),
      { kind: 'literal', value: text, type: enumeration([text]), span: zone.span },
    ];
  }
  return null;
}
