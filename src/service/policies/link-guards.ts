// The guards of a chain of delegations as functions, from their resolved links. It loads no parser and no checker.

import { hash } from 'node:crypto';
import { createFunctionCache } from '../../language/emit/cache.ts';
import { type LinkedFunctions, link } from '../../language/emit/link.ts';
import type { ResolvedLink } from '../../language/model/delegation.ts';
import { bareAction, guardPolicy } from '../../language/model/link-guards.ts';
import type { Shape } from '../../language/model/type.ts';
import { unpack } from '../../language/program/packed/unpack.ts';
import { createPlanCache, planPacked } from '../../language/program/plan/incremental.ts';

/** Links the guards of a chain for requests of one action; the functions decide by the guards alone. */
export function linkGuards(chain: readonly ResolvedLink[], action: string, shape: Shape): LinkedFunctions {
  const own = chain.map((link) => ({ ...link, actions: link.actions.includes(action) ? [action] : [] }));
  const set = {
    actions: new Map([[action, bareAction(action, shape)]]),
    lists: new Map(),
    tables: new Map(),
    hours: new Map(),
    lets: new Map(),
    meters: new Map(),
    approvers: new Map(),
    policies: [guardPolicy(own, [action])],
    guarantees: [],
  };
  const planned = planPacked(
    set,
    createPlanCache((bytes) => hash('sha256', bytes, 'buffer')),
  );
  return link(unpack(planned), createFunctionCache());
}
