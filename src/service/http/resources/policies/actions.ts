// GET /v1/actions: what an agent may get for each action, before it asks. INVARIANT: the answer follows from
// the agent and the active policies alone, so it is the same at any time; a request that could pass never
// belongs to an action that is listed as `never`.

import { setImmediate as pause } from 'node:timers/promises';
import type { ActivePolicies } from '../../../../language/model/active-policies.ts';
import { possibilities } from '../../../../language/model/possibility.ts';
import type { AgentFacts } from '../../../../language/model/request.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { agentFacts } from '../../../agents/agent-facts.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Parameter } from '../../contract/operation.ts';
import { objectSchema, time } from '../../contract/schemas.ts';
import { type Route, route } from '../../routing/route.ts';

interface ActionDeps {
  readonly signInDeps: SignInDeps;
  readonly policies: Pick<PolicyHost, 'current'>;
}

/** How long a client may keep the answer. */
const keptMs = 60_000;
/** After this time other work has its turn. */
const sliceMs = 2;

const parameters: readonly Parameter[] = [
  {
    name: 'prefix',
    in: 'query',
    isRequired: false,
    description: 'Only actions whose keys have this prefix.',
    schema: { type: 'string', maxLength: 200 },
    example: 'payment.',
  },
];

const listActions = route<ActionDeps>({
  method: 'GET',
  url: '/v1/actions',
  access: 'policies.view',
  isForAgents: true,
  operation: {
    id: 'listActions',
    summary: 'For each action: never granted, granted after approval, or possibly granted',
    description:
      'Depends only on the agent and the active policies; payload, time, meters and session are unknown. `never`: every request is denied. `after_approval`: every request that is not denied needs an approval. `possible`: neither is certain. Kill switches are not considered. For people, the agent is unknown too.',
    parameters,
    replies: {
      200: {
        description: 'All declared actions, sorted by key',
        schema: objectSchema({
          items: {
            type: 'array',
            items: objectSchema({
              action_key: { type: 'string' },
              grant: { type: 'string', enum: possibilities },
              result_fields: {
                type: ['array', 'null'],
                items: { type: 'string' },
                description:
                  'The fields of the result that the action declares, or null if it declares none.',
              },
            }),
          },
          policy_set: { type: 'string', description: 'The digest of the active policies.' },
          expires_at: { ...time, description: 'The reply can be cached until this time.' },
        }),
        example: {
          items: [
            { action_key: 'payment.create', grant: 'possible', result_fields: null },
            { action_key: 'payment.list', grant: 'possible', result_fields: ['rows'] },
            { action_key: 'payment.refund', grant: 'after_approval', result_fields: null },
          ],
          policy_set: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          expires_at: '2026-03-02T10:06:00.000Z',
        },
        headers: ['RateLimit-Policy', 'RateLimit', 'X-Agent-API-Key-Expires'],
      },
    },
  },
  handle: async ({ policies, signInDeps }, call) => {
    const facts = call.agent === null ? {} : agentFacts(call.agent);
    const active = policies.current();
    return {
      items: await itemsOf(active, facts, call.query.prefix ?? ''),
      policy_set: active.digest,
      expires_at: isoTime(signInDeps.directory.clock() + keptMs),
    };
  },
});

export const actionRoutes: readonly Route<ActionDeps>[] = [listActions];

/**
 * The possibility of each action. An action is made ready when it is first needed, so a long list gives way
 * to other work.
 */
async function itemsOf(policies: ActivePolicies, agent: AgentFacts, prefix: string) {
  const items: object[] = [];
  let pauseAtMs = performance.now() + sliceMs;
  for (const action_key of policies.actions()) {
    if (!action_key.startsWith(prefix)) continue;
    items.push({
      action_key,
      grant: policies.possibility(action_key, agent),
      result_fields: policies.resultShapeOf(action_key)?.fields.map(({ name }) => name) ?? null,
    });
    if (performance.now() < pauseAtMs) continue;
    await pause();
    pauseAtMs = performance.now() + sliceMs;
  }
  return items;
}
