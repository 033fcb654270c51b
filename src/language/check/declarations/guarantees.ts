// From guarantee declarations to claims about every request of the actions that they speak of.

import type { Claim, Guarantee } from '../../model/policy.ts';
import type { ClaimNode, GuaranteeDeclaration, PolicyFile } from '../../syntax/tree/tree.ts';
import { type Context, inferCondition } from '../expressions/context.ts';
import { matchedActions } from '../expressions/patterns.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { kept } from '../incremental/kept.ts';
import { unapprovedMisplaced } from '../messages/errors.ts';

/** Guarantees sorted by name; claims in error are left out. */
export function resolveGuarantees(files: readonly PolicyFile[], env: Environment): readonly Guarantee[] {
  const guarantees: Guarantee[] = [];
  for (const { declarations } of files) {
    for (const declaration of declarations) {
      if (declaration.kind !== 'guarantee') continue;
      guarantees.push(kept(env, declaration, () => resolveGuarantee(declaration, env)));
    }
  }
  return guarantees.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

function resolveGuarantee(declaration: GuaranteeDeclaration, env: Environment): Guarantee {
  const actions = matchedActions(declaration.patterns, [], env);
  const ctx = contextOver(actions, env);
  const claims = declaration.claims.flatMap((claim) => resolveClaim(claim, ctx));
  return { name: declaration.name.text, actions: actions.keys, claims, span: declaration.span };
}

function resolveClaim(node: ClaimNode, ctx: Context): readonly Claim[] {
  const { mode, effect, isUnapproved, span } = node;
  if (isUnapproved && (mode !== 'never' || effect !== 'allow')) ctx.env.report(unapprovedMisplaced(node));
  if (node.when === null) return [{ mode, effect, isUnapproved, when: null, span }];
  const when = inferCondition(node.when, ctx).expression;
  if (when === null) ctx.env.leaveOut(span);
  return when === null ? [] : [{ mode, effect, isUnapproved, when, span }];
}
