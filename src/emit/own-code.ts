// The one text of a small action as what decides it, and whether an action is small enough to be given one between two
// requests.

import { childrenOf } from '../program/children.ts';
import type { Condition, Term } from '../program/program.ts';
import type { OpenAction } from '../program/unpack.ts';
import type { ReasonCode, RuleCode } from './decide.ts';
import type { KeyedCode } from './decide-keyed.ts';

/** What the text of an action returns; reasons by the place of their rule. */
export interface ActionCode {
  readonly early: RuleCode<number>;
  readonly late: RuleCode<number> | null;
  readonly reasons: readonly (readonly [number, ReasonCode])[];
}

export function ownCode({ early, late, reasons }: ActionCode, action: OpenAction): KeyedCode {
  const byRule = new Map(reasons.map(([at, reason]) => [action.head(at).id, reason] as const));
  return {
    layout: [early, 4, late, 6],
    early: { base: 2, count: 1 },
    late: { base: 4, count: late === null ? 0 : 1 },
    whole: late === null ? early : null,
    reason: ({ id }) => byRule.get(id)!,
  };
}

/** More nodes take too long to turn into text between two requests. */
const nodesMax = 300;

/** Whether its text is made in well below a millisecond. */
export function isSmall(action: OpenAction): boolean {
  let nodes = 0;
  const count = (node: Condition | Term): void => {
    nodes += 1;
    if (nodes <= nodesMax) for (const child of childrenOf(node)) count(child);
  };
  for (const { value } of action.lets) count(value);
  for (let place = 0; place < action.ruleCount && nodes <= nodesMax; place += 1) {
    count(action.condition(place));
  }
  return nodes <= nodesMax;
}
