// The least that any engine must do: one look-up of the action's key.

import { type Decided, type Engine, unlimited } from './engine.ts';

export const engine: Engine = {
  name: 'a Map look-up',
  policiesMax: unlimited,
  prepare: ({ actions, requests }) => {
    const known = new Map(
      actions.map((action): [string, Decided] => [action, { outcome: 'ALLOW', by: null }]),
    );
    const denied: Decided = { outcome: 'DENY', by: null };
    return { decide: (at) => known.get(requests[at]!.action) ?? denied };
  },
};
