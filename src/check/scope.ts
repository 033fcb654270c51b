// The context in which the conditions of a policy, a guarantee or a meter begin: their actions, nothing known yet.

import type { ActionSet } from './action-sets.ts';
import type { Context } from './context.ts';
import type { Environment } from './environment.ts';
import { infer } from './infer.ts';
import { nothingKnown } from './presence.ts';

/** Without the variables of any quantifier. */
export const noVariables: Context['variables'] = new Map();

/** The context of conditions over these actions. */
export function contextOver(actions: ActionSet, env: Environment): Context {
  return {
    env,
    actions,
    variables: noVariables,
    presence: nothingKnown,
    inLet: false,
    inMeter: false,
    infer,
  };
}
