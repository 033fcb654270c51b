// From guarantee declarations to claims about every request of the actions that they speak of.

import type { Claim, Guarantee } from '../model/policy.ts';
import type { Claim as ClaimNode, GuaranteeDeclaration, PolicyFile } from '../syntax/tree.ts';
import { type Context, inferCondition } from './context.ts';
import type { Environment } from './environment.ts';
import { unapprovedMisplaced } from './errors.ts';
import { matchedActions } from './patterns.ts';
import { contextOver } from './scope.ts';

/** Guarantees sorted by name; claims in error are left out. */
export function resolveGuarantees(files: readonly PolicyFile[], env: Environment): readonly Guarantee[] {
  const declarations = files
    .flatMap((file) => file.declarations)
    .filter((declaration) => declaration.kind === 'guarantee');
  return declarations
    .map((declaration) => resolveGuarantee(declaration, env))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function resolveGuarantee(declaration: GuaranteeDeclaration, env: Environment): Guarantee {
  const actions = matchedActions(declaration.patterns, env);
  const ctx = contextOver(actions, env);
  const claims = declaration.claims.flatMap((claim) => resolveClaim(claim, ctx));
  return { name: declaration.name.text, actions, claims, span: declaration.span };
}

function resolveClaim(node: ClaimNode, ctx: Context): readonly Claim[] {
  const { mode, effect, isUnapproved, span } = node;
  if (isUnapproved && (mode !== 'never' || effect !== 'allow')) ctx.env.report(unapprovedMisplaced(node));
  if (node.when === null) return [{ mode, effect, isUnapproved, when: null, span }];
  const when = inferCondition(node.when, ctx).expression;
  if (when === null) ctx.env.leftOut.push(span);
  return when === null ? [] : [{ mode, effect, isUnapproved, when, span }];
}
