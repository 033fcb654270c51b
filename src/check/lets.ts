// Lets: each is checked once for every set of actions and every presence in which it is read, and stands in the model
// once for every way in which it then reads. While checking goes on, a read names its variant by where it is read;
// at the end variants that read alike are joined and numbered by their structure, which no order of files changes.

import type { Span } from '../diagnostic/span.ts';
import type { Expression, LetRead } from '../model/expression.ts';
import type { Let } from '../model/policy.ts';
import type { LetDeclaration } from '../syntax/tree.ts';
import type { Context, Inferred } from './context.ts';
import { failed } from './context.ts';
import { type Dependencies, followDependencies } from './dependencies.ts';
import { structureOf } from './domains.ts';
import { type Environment, namesOf } from './environment.ts';
import { letCyclic, tooDeepDeclaration } from './errors.ts';
import { ofPayload, presenceKey } from './presence.ts';
import { namesIn } from './tree-names.ts';

export interface LetVariant {
  readonly name: string;
  readonly inferred: Inferred;
}

/** A read of a let, with what the let tells about presence: it stands for its expression. */
export function readLet(declaration: LetDeclaration, span: Span, ctx: Context): Inferred {
  const name = declaration.name.text;
  if (ctx.env.endlessLets.has(name)) return failed;
  const presence = ofPayload(ctx.presence);
  const id = JSON.stringify([name, ctx.inMeter, ctx.actionSet, presenceKey(presence)]);
  let variant = ctx.env.letVariants.get(id);
  if (variant === undefined) {
    const inferred = ctx.infer(declaration.value, { ...ctx, inLet: true, presence, variables: new Map() });
    variant = { name, inferred };
    ctx.env.letVariants.set(id, variant);
  }
  const { expression } = variant.inferred;
  if (expression === null) return failed;
  const read: LetRead = { kind: 'let', id, type: expression.type, span };
  return { ...variant.inferred, expression: read };
}

/** Reports lets that depend on themselves or lie too deep. */
export function findEndlessLets(env: Environment): void {
  const { circles, tooDeep } = letDependencies(env);
  for (const { kind, name } of env.declarations.values()) {
    if (kind !== 'let') continue;
    const circle = circles.get(name.text);
    if (circle !== undefined) env.report(letCyclic(name, circle));
    else if (tooDeep.has(name.text)) env.report(tooDeepDeclaration(name));
    else continue;
    env.endlessLets.add(name.text);
  }
}

function letDependencies(env: Environment): Dependencies {
  const letsIn = (name: string): readonly string[] => {
    const declaration = env.declarations.get(name);
    if (declaration?.kind !== 'let') return [];
    return namesIn(declaration.value).filter((used) => env.declarations.get(used)?.kind === 'let');
  };
  return followDependencies(namesOf(env, 'let'), letsIn);
}

export interface FinishedLets {
  readonly lets: ReadonlyMap<string, Let>;
  /** The expression, or any data that holds expressions, with the final ids of lets. */
  readonly rename: <T>(data: T) => T;
}

/** Joins variants that read alike and gives each of the others an id: `name`, `name#2`, ... */
export function finishLets(env: Environment): FinishedLets {
  const ids = new Map<string, string>();
  const lets: Let[] = [];
  for (const name of letDependencies(env).order) {
    const byStructure = new Map<string, { readonly expression: Expression; readonly reads: string[] }>();
    for (const [read, variant] of env.letVariants) {
      if (variant.name !== name || variant.inferred.expression === null) continue;
      const expression = renamed(variant.inferred.expression, ids);
      const structure = structureOf(expression);
      const same = byStructure.get(structure);
      if (same === undefined) byStructure.set(structure, { expression, reads: [read] });
      else same.reads.push(read);
    }
    const sorted = [...byStructure].sort(([a], [b]) => (a < b ? -1 : 1));
    for (const [index, [, { expression, reads }]] of sorted.entries()) {
      const id = index === 0 ? name : `${name}#${index + 1}`;
      lets.push({ id, name, expression });
      for (const read of reads) ids.set(read, id);
    }
  }
  const entries = lets.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((each) => [each.id, each] as const);
  return { lets: new Map(entries), rename: (data) => renamed(data, ids) };
}

/** The data with the final ids of lets; parts without lets are shared, not copied. */
function renamed<T>(data: T, ids: ReadonlyMap<string, string>): T {
  if (typeof data !== 'object' || data === null) return data;
  // A copy has the keys of the original and the same kinds of values under them.
  if (Array.isArray(data)) {
    const copy = data.map((part) => renamed(part, ids));
    return copy.every((part, index) => part === data[index]) ? data : (copy as T);
  }
  if ('kind' in data && data.kind === 'let' && 'id' in data) return { ...data, id: ids.get(String(data.id)) };
  const entries = Object.entries(data).map(([key, part]) => [key, part, renamed(part, ids)] as const);
  if (entries.every(([, before, after]) => before === after)) return data;
  return Object.fromEntries(entries.map(([key, , after]) => [key, after])) as T;
}
