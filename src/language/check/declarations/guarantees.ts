// Turns guarantee declarations into claims about every request for the actions that their patterns match.

import type { AskClaim, Claim, Guarantee, OutcomeClaim } from '../../model/policy.ts';
import { declarationsOfKind } from '../../syntax/tree/by-kind.ts';
import type { ClaimNode, GuaranteeDeclaration, PolicyFile } from '../../syntax/tree/tree.ts';
import { type Context, inferCondition } from '../expressions/context.ts';
import { negated } from '../expressions/logic.ts';
import { matchedActions } from '../expressions/patterns.ts';
import { contextOver } from '../expressions/scope.ts';
import type { Environment } from '../incremental/environment.ts';
import { kept } from '../incremental/kept.ts';
import { unapprovedMisplaced } from '../messages/errors.ts';
import { isApprovingGroup, readPeople } from './asked-people.ts';

/** Returns the guarantees sorted by name, without claims in error. */
export function resolveGuarantees(files: readonly PolicyFile[], env: Environment): readonly Guarantee[] {
  const guarantees: Guarantee[] = [];
  for (const file of files) {
    for (const declaration of declarationsOfKind(file, 'guarantee')) {
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
  const claim = readClaim(node, ctx);
  const written = node.when === null ? null : inferCondition(node.when, ctx).expression;
  // An `only` claim becomes a `never` claim: what is allowed only when a condition is true is never allowed
  // when the condition is false.
  const when = node.mode === 'only' && written !== null ? negated(written, written.span) : written;
  const isMissing = when === null && (node.when !== null || node.mode === 'only');
  if (claim !== null && !isMissing) return [{ ...claim, when, span: node.span }];
  ctx.env.leaveOut(node.span);
  return [];
}

/** Returns what the claim states; null once a problem of the claim has been reported. */
function readClaim(node: ClaimNode, ctx: Context): OutcomeClaim | AskClaim | null {
  const { mode, effect, isUnapproved } = node;
  if (effect === 'ask') return readAskClaim(node, ctx);
  if (isUnapproved && (mode === 'always' || effect !== 'allow')) ctx.env.report(unapprovedMisplaced(node));
  return { mode: mode === 'only' ? 'never' : mode, effect, isUnapproved };
}

function readAskClaim({ mode, group, people }: ClaimNode, ctx: Context): AskClaim | null {
  const isKnown = group !== null && isApprovingGroup(group, ctx.env);
  const needs = readPeople(people, ctx.env);
  if (!isKnown || needs === null) return null;
  return {
    mode: mode === 'never' ? 'never' : 'always',
    effect: 'ask',
    isUnapproved: true,
    group: group.text,
    needs,
  };
}
