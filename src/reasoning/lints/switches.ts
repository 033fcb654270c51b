// Recognises switches: a let whose value is a literal is a switch that somebody turns, so what it makes of
// rules today is intended.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';

export function readsSwitch(set: PolicySet, condition: Expression): boolean {
  return descendants(condition).some((part) => {
    const value = part.kind === 'let' ? set.lets.get(part.id)?.expression : undefined;
    return value !== undefined && (value.kind === 'literal' || readsSwitch(set, value));
  });
}
