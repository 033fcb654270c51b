// Finds the rule, the policy and the action in whose text a span lies.

import type { Span } from '../../language/diagnostic/span.ts';
import type { PolicyFile } from '../../language/syntax/tree/tree.ts';

export interface RulePlace {
  /** The name of the policy; null in the declaration of an action. */
  readonly policy: string | null;
  readonly rule: string | null;
  /** The key of the declared action; null in a policy. */
  readonly action: string | null;
}

/** Null for a span in any other declaration. */
export function resolveRule(files: readonly PolicyFile[], span: Span): RulePlace | null {
  const isAround = (outer: Span): boolean =>
    outer.file === span.file && outer.start <= span.start && span.start < outer.end;
  const declaration = files
    .filter((file) => file.span.file === span.file)
    .flatMap(({ declarations }) => declarations)
    .find((one) => isAround(one.span));
  if (declaration?.kind === 'action')
    return { policy: null, rule: null, action: declaration.keys[0]?.text ?? null };
  if (declaration?.kind !== 'policy') return null;
  const rule = declaration.rules.find((one) => isAround(one.span))?.name.text ?? null;
  return { policy: declaration.name.text, rule, action: null };
}
