// Which rules of an action have to be tried for a request.

import type { PlannedRule, Program } from './program.ts';

/** Every rule of the action, sorted by id: the slow twin of any index. None for an action that is not declared. */
export function selectAll(program: Program, action: string): readonly PlannedRule[] {
  return program.actions.get(action)?.rules ?? [];
}
