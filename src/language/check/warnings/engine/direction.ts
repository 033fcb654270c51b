// Which way a part of a rule's condition moves the decision when it becomes true.

import type { Rule } from '../../../model/policy.ts';
import type { Polarity } from '../../logic/polarity.ts';

/**
 * `opens`: more requests pass when the part is true. `stops`: fewer pass. `either`: neither is sure.
 */
type Direction = 'opens' | 'stops' | 'either';

/** Returns the direction of a part of the rule's condition. A rule of risk alone moves either way. */
export function directionOf({ effect }: Pick<Rule, 'effect'>, polarity: Polarity): Direction {
  if (polarity === 0 || effect === 'risk') return 'either';
  return (effect === 'allow') === (polarity === 1) ? 'opens' : 'stops';
}
