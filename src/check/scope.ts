// The context in which the conditions of a policy, a guarantee or a meter begin: their actions, nothing known yet.

import type { Context } from './context.ts';
import type { Environment } from './environment.ts';
import { infer } from './infer.ts';
import { actionsOf } from './patterns.ts';
import { nothingKnown } from './presence.ts';

/** The context of conditions over the actions of these keys (sorted). */
export function contextOver(keys: readonly string[], env: Environment): Context {
  const text = JSON.stringify(keys);
  const actionSet = env.actionSets.get(text) ?? env.actionSets.size;
  env.actionSets.set(text, actionSet);
  return {
    env,
    actions: actionsOf(keys, env),
    actionSet,
    variables: new Map(),
    presence: nothingKnown,
    inLet: false,
    inMeter: false,
    infer,
  };
}
