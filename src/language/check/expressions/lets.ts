// Lets: each is checked once for every set of actions and every presence in which it is read. The model holds
// a let once for every distinct typed expression that results. During a check, a read names the variant by
// where the read occurs. At the end, variants with equal expressions are joined and numbered by their
// structure, which does not depend on the order of files.

import { spanKeys } from '../../diagnostic/span.ts';
import type { Expression, LetRead } from '../../model/expression.ts';
import type { Let } from '../../model/policy.ts';
import type { ExpressionNode, NameNode } from '../../syntax/tree/tree.ts';
import { walkExpression } from '../../syntax/tree/visit.ts';
import type { Environment } from '../incremental/environment.ts';
import type { CheckOutcome } from '../incremental/recorder.ts';
import { rename } from '../incremental/rename.ts';
import type { ValueOfLet } from '../logic/constants.ts';
import { ofPayload, type Presence, presenceKey } from '../logic/presence.ts';
import { type Dependencies, followDependencies } from '../messages/dependencies.ts';
import { letCyclic, tooDeepDeclaration } from '../messages/errors.ts';
import { type Context, failed, type Inference, noVariables } from './context.ts';
import { declaredNames } from './declared-names.ts';

export interface LetVariant {
  /** The id that reads use until all variants are known and get their final ids. */
  readonly id: string;
  readonly name: string;
  readonly inferred: Inference;
}

/** Returns a read of a let, with what the let's expression tells about presence. */
export function readLet({ text: name, span }: NameNode, ctx: Context): Inference {
  const { env } = ctx;
  if (env.query('isEndless', name)) return failed;
  const presence = ofPayload(ctx.presence);
  const id = JSON.stringify([name, ctx.inMeter, ctx.actions.number, presenceKey(presence)]);
  const outcome = env.recorder.memoizeShared(variantOf(id, env), () => inferVariant(id, name, presence, ctx));
  env.variants.set(id, outcome);
  const { inferred } = outcome.value;
  if (inferred.expression === null) return failed;
  const read: LetRead = { kind: 'let', id, type: inferred.expression.type, span };
  return { ...inferred, expression: read };
}

/** Only `readLet` makes the outcomes that are kept for variants. */
function variantOf(id: string, env: Environment): CheckOutcome<LetVariant> | undefined {
  return env.variants.get(id) as CheckOutcome<LetVariant> | undefined;
}

/** Returns the expressions of lets by the ids that are used during a check. */
export function letsOf(env: Environment): ValueOfLet {
  return (id) => variantOf(id, env)?.value.inferred.expression;
}

function inferVariant(id: string, name: string, presence: Presence, ctx: Context): LetVariant {
  const declaration = ctx.env.query('declaration', name);
  if (declaration?.kind !== 'let') return { id, name, inferred: failed };
  const inner = { ...ctx, inLet: true, presence, variables: noVariables, depth: 0, expansion: null };
  return { id, name, inferred: ctx.infer(declaration.value, inner) };
}

/** Reports lets that depend on themselves or whose dependencies nest too deep. */
export function findEndlessLets(env: Environment): void {
  const { circles, tooDeep } = letDependencies(env);
  for (const { name } of env.declarations.ofKind('let')) {
    const circle = circles.get(name.text);
    // A circle is one mistake, reported at the first let of the circle.
    const isFirst = circle !== undefined && !circle.some((other) => env.endless.has(other));
    if (isFirst) env.report(letCyclic(name, circle));
    else if (circle === undefined && tooDeep.has(name.text)) env.report(tooDeepDeclaration(name));
    else if (circle === undefined) continue;
    env.endless.add(name.text);
  }
}

function letDependencies(env: Environment): Dependencies {
  const letsIn = (name: string): readonly string[] => {
    const declaration = env.declarations.get(name);
    if (declaration?.kind !== 'let') return [];
    return namesIn(declaration.value).filter((used) => env.declarations.get(used)?.kind === 'let');
  };
  return followDependencies(declaredNames(env, 'let'), letsIn);
}

export interface FinishedLets {
  readonly lets: ReadonlyMap<string, Let>;
  /** The final id, by the id that reads use during a check. */
  readonly ids: ReadonlyMap<string, string>;
}

/** Joins variants with equal expressions and gives each of the remaining ones an id: `name`, `name#2`, ... */
export function finishLets(variants: readonly LetVariant[], env: Environment): FinishedLets {
  const ids = new Map<string, string>();
  const lets: Let[] = [];
  const byName = Map.groupBy(variants, ({ name }) => name);
  for (const name of byName.size === 0 ? [] : letDependencies(env).order) {
    for (const [index, { expression, reads }] of waysToRead(byName.get(name) ?? [], ids, env).entries()) {
      const id = index === 0 ? name : `${name}#${index + 1}`;
      const before = env.checkState.before.lets.get(id);
      lets.push(before?.expression === expression ? before : { id, name, expression });
      for (const read of reads) ids.set(read, id);
    }
  }
  const entries = lets.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((each) => [each.id, each] as const);
  return { lets: new Map(entries), ids };
}

interface WayToRead {
  readonly expression: Expression;
  /** Ids of the variants that have this expression. */
  readonly reads: string[];
}

/** Groups the variants of one let by equal expressions, sorted by structure. */
function waysToRead(
  variants: readonly LetVariant[],
  ids: ReadonlyMap<string, string>,
  env: Environment,
): readonly WayToRead[] {
  const ways = new Map<string, WayToRead>();
  for (const { id, inferred } of variants) {
    if (inferred.expression === null) continue;
    const expression = rename(inferred.expression, ids, env.checkState.renamings);
    const text = variants.length === 1 ? '' : textOf(expression);
    const same = ways.get(text);
    if (same === undefined) ways.set(text, { expression, reads: [id] });
    else same.reads.push(id);
  }
  return [...ways].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, way]) => way);
}

const texts = new WeakMap<Expression, string>();

/** Returns a text that is equal for expressions of equal structure; expressions are also sorted by it. */
function textOf(expression: Expression): string {
  const cached = texts.get(expression);
  if (cached !== undefined) return cached;
  const text = JSON.stringify(expression, (key, value) => {
    if (spanKeys.has(key)) return undefined;
    return typeof value === 'bigint' ? `${value}` : value;
  });
  texts.set(expression, text);
  return text;
}

/**
 * Returns the roots of all paths in the expression, including variables of its quantifiers, and the names of
 * all calls; each once, in order.
 */
function namesIn(expression: ExpressionNode): readonly string[] {
  const names = new Set<string>();
  walkExpression(expression, (node) => {
    if (node.kind === 'path') names.add(node.root.text);
    else if (node.kind === 'call') names.add(node.callee.text);
  });
  return [...names];
}
