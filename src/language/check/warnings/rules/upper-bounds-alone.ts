// Warns of an `allow` that bounds an amount only from above: it also grants negative amounts. `amount <= 100`
// is true of -1,000,000.

import type { Expression, FieldRead } from '../../../model/expression.ts';
import { fieldKey } from '../../logic/domains.ts';
import { spelledPath } from '../../messages/path-errors.ts';
import { warning } from '../../messages/problem.ts';
import type { Examined } from '../engine/examined.ts';
import type { RuleInPolicy } from '../engine/rule-in-policy.ts';

export function upperBoundsAlone({ enforced, env }: Examined): void {
  for (const one of enforced) {
    if (one.rule.effect !== 'allow') continue;
    const bounded = new Set(boundsIn(one, 'low').map(fieldKey));
    for (const field of boundsIn(one, 'high')) {
      if (!isOpenBelow(field) || bounded.has(fieldKey(field))) continue;
      const text = spelledPath(field);
      env.report(
        warning('upper-bound-alone', field.span, `\`${text}\` is bounded from above alone`, {
          help: `declare its range, such as \`0..\`, or write \`${text} in ${field.type.kind === 'money' ? '0 USD..100 USD' : '0..100'}\``,
        }),
      );
    }
  }
}

/** Returns the fields that a comparison of the condition bounds on this side. */
export function boundsIn({ parts }: Pick<RuleInPolicy, 'parts'>, side: 'low' | 'high'): readonly FieldRead[] {
  return parts.flatMap(({ node, polarity }) => {
    if (node.kind === 'in-range') return node.subject.kind === 'field' ? [node.subject] : [];
    if (node.kind !== 'compare') return [];
    if (node.operator === '==') return [...fieldIn(node.left), ...fieldIn(node.right)];
    if (node.operator === '!=') return [];
    const isLess = (node.operator === '<' || node.operator === '<=') === polarity >= 0;
    return isLess === (side === 'high') ? fieldIn(node.left) : fieldIn(node.right);
  });
}

function fieldIn(node: Expression): readonly FieldRead[] {
  return node.kind === 'field' ? [node] : [];
}

function isOpenBelow({ type }: FieldRead): boolean {
  const isAmount = type.kind === 'number' || type.kind === 'integer' || type.kind === 'money';
  return isAmount && type.range.low === null;
}
