// The context in which the conditions of a policy, a guarantee or a meter start: the actions are given and
// nothing is known about presence yet.

import type { Environment } from '../incremental/environment.ts';
import type { ActionSet } from '../incremental/resolved.ts';
import { nothingKnown } from '../logic/presence.ts';
import { type Context, noVariables } from './context.ts';
import { infer } from './infer.ts';

/** Returns the context of conditions over these actions. */
export function contextOver(actions: ActionSet, env: Environment): Context {
  return {
    env,
    actions,
    variables: noVariables,
    depth: 0,
    expansion: null,
    presence: nothingKnown,
    inLet: false,
    inMeter: false,
    infer,
  };
}
