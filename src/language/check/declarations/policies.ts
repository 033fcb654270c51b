// Turns policy declarations into policies: the actions that their patterns match, their metadata and their
// rules.

import type { Policy, Rule } from '../../model/policy.ts';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type { Metadata, NameNode, PolicyDeclaration, PolicyFile } from '../../syntax/tree/tree.ts';
import { patternsKey } from '../expressions/action-sets.ts';
import { type Context, inferCondition } from '../expressions/context.ts';
import { isGate } from '../expressions/names.ts';
import { matchedActions } from '../expressions/patterns.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { hasParts, memoized, memoizedMerged } from '../incremental/memoized.ts';
import type { ResolvedPolicy } from '../incremental/resolved.ts';
import { metadataTwice, nameReserved, policyMatchesNothing, ruleDeclaredTwice } from '../messages/errors.ts';
import { resolveRule } from './rule.ts';

/** The policies of one file. The array stays the same object while none of its policies changes. */
export interface FilePolicies {
  readonly policies: readonly ResolvedPolicy[];
  readonly hasLets: boolean;
}

/** Returns the policies of each file that has any; rules in error are left out. */
export function resolvePolicies(files: readonly PolicyFile[], env: Environment): readonly FilePolicies[] {
  return files.flatMap((file) => {
    const declarations = declarationsOfKind(file, 'policy');
    if (declarations.length === 0) return [];
    const policies = memoizedMerged(env, file, () =>
      declarations.map((declaration) => ({
        declaration,
        policy: memoized(env, declaration, () => resolvePolicy(declaration, env)),
      })),
    );
    return { policies, hasLets: hasParts(env, file) };
  });
}

function resolvePolicy(declaration: PolicyDeclaration, env: Environment): Policy {
  const { name, patterns, except } = declaration;
  const actions = matchedActions(patterns, except, env);
  const isEmptied =
    actions.keys.length === 0 && env.query('actions', patternsKey(patterns, [])).keys.length > 0;
  if (isEmptied) env.report(policyMatchesNothing(name));
  const metadata = readMetadata(declaration, env);
  return {
    name: name.text,
    actions: actions.keys,
    ...metadata,
    doc: declaration.doc,
    rules: resolveRules(declaration, contextOver(actions, env)),
    span: declaration.span,
  };
}

function resolveRules(declaration: PolicyDeclaration, ctx: Context): readonly Rule[] {
  const when = declaration.when === null ? null : inferCondition(declaration.when, ctx);
  const places = new Map<string, NameNode>();
  const rules: Rule[] = [];
  for (const rule of declaration.rules) {
    const earlier = places.get(rule.name.text);
    if (earlier !== undefined) ctx.env.report(ruleDeclaredTwice(rule.name, earlier));
    else places.set(rule.name.text, rule.name);
    if (isGate(rule.name.text)) ctx.env.report(nameReserved(rule.name, 'is the name of a built-in decision'));
    const resolved = resolveRule(rule, { declaration, when }, ctx);
    if (resolved === null) ctx.env.leaveOut(rule.span);
    else rules.push(resolved);
  }
  return rules.toSorted(byName);
}

type PolicyMetadata = Pick<Policy, 'owner' | 'tags' | 'links'>;

/** The metadata of a policy that states none, as most policies do. */
const noMetadata: PolicyMetadata = { owner: null, tags: [], links: [] };

function readMetadata(declaration: PolicyDeclaration, env: Environment): PolicyMetadata {
  if (declaration.metadata.length === 0) return noMetadata;
  const [owner, secondOwner] = declaration.metadata.filter(({ kind }) => kind === 'owner');
  if (owner !== undefined && secondOwner !== undefined) env.report(metadataTwice(secondOwner, owner));
  return {
    owner: owner?.values[0]?.value ?? null,
    tags: textsOf(declaration.metadata, 'tags'),
    links: textsOf(declaration.metadata, 'link'),
  };
}

function textsOf(metadata: readonly Metadata[], kind: Metadata['kind']): readonly string[] {
  const texts = metadata.flatMap((line) => (line.kind === kind ? line.values.map(({ value }) => value) : []));
  return [...new Set(texts)].sort();
}

/** Orders by code point: `<` compares UTF-16 units, which gives the same order for names. */
function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}
