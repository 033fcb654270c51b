// /v1/kill-switches: lists the kill switches that are on, and turns switches on and off.

import { riskTiers } from '../../../../language/model/request.ts';
import { isoTime } from '../../../../language/value/iso-time.ts';
import {
  type KillSwitch,
  type KillSwitchBoard,
  type KillSwitchScope,
  readScope,
  scopeText,
  scopeWarnings,
} from '../../../people/kill-switches.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { PolicyHost } from '../../../policies/policy-host.ts';
import type { Store } from '../../../store/contract/store.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import { idParameter, listReply, noContent, objectSchema, text, time } from '../../contract/schemas.ts';
import { actorOf, type Route, route } from '../../routing/route.ts';
import { warningsSchema } from '../people/group-warnings.ts';

interface KillSwitchDeps {
  readonly signInDeps: SignInDeps;
  readonly switches: KillSwitchBoard;
  readonly policies: Pick<PolicyHost, 'current'>;
  readonly store: Pick<Store, 'agents'>;
}

const tierPattern = riskTiers.join('|');
const scopePattern = `^(all|tier:(${tierPattern})|area:[0-9A-Za-z_.-]{1,200}|agent:[^\\s:]{1,100})$`;

const switchFields = {
  id: text(100),
  scope: text(300),
  agent_name: {
    type: ['string', 'null'],
    description: 'The name of the agent in the scope; null for other scopes.',
  },
  reason: text(500),
  created_at: time,
  created_by: text(100),
  created_by_name: text(200),
};

const switchSchema = objectSchema(switchFields);

const switchExample = {
  id: '5a0c0de0-0000-4000-8000-000000000000',
  scope: 'area:payment',
  agent_name: null,
  reason: 'the ledger is being checked',
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
  created_by_name: 'Ann',
};

const listKillSwitches = route<KillSwitchDeps>({
  method: 'GET',
  url: '/v1/kill-switches',
  access: 'kill-switches.view',
  operation: {
    id: 'listKillSwitches',
    summary: 'Active kill switches, newest first',
    replies: { 200: listReply('The kill switches', switchSchema, switchExample) },
  },
  handle: async ({ switches, store }) => ({
    items: await Promise.all((await switches.list()).map((one) => killSwitchView(one, store))),
  }),
});

const createKillSwitch = route<KillSwitchDeps, { scope: string; reason: string }>({
  method: 'POST',
  url: '/v1/kill-switches',
  access: 'kill-switches.use',
  operation: {
    id: 'createKillSwitch',
    summary: 'Creates a kill switch, which refuses all requests in its scope within a second',
    description:
      'The scope is `all`, `tier:high`, `area:payment` (including nested areas), or `agent:` with the id or name of an agent. `warnings` lists an area without an action in the active policies.',
    body: {
      description: 'The scope, and the reason.',
      schema: objectSchema({ scope: { ...text(300), pattern: scopePattern }, reason: text(500) }),
      examples: { area: { scope: 'area:payment', reason: 'the ledger is being checked' } },
    },
    replies: {
      201: {
        description: 'The kill switch',
        schema: objectSchema({ ...switchFields, warnings: warningsSchema }),
        example: { ...switchExample, warnings: [] },
      },
    },
  },
  handle: async ({ switches, store, policies }, call) => {
    const { reason } = call.body;
    const scope = await knownScope(readScope(call.body.scope), store);
    const result = await switches.turnOn(actorOf(call), { scope, reason });
    if (result.kind === 'invalid') throw invalidBody(result);
    call.reply.code(201);
    const warnings = scopeWarnings(scope, policies.current().about().actions);
    return { ...(await killSwitchView(result.switch, store)), warnings };
  },
});

const deactivateKillSwitch = route<KillSwitchDeps, { reason: string }>({
  method: 'POST',
  url: '/v1/kill-switches/:id/deactivate',
  access: 'kill-switches.use',
  operation: {
    id: 'deactivateKillSwitch',
    summary: 'Deactivates a kill switch; the reason is recorded',
    parameters: [idParameter('The id in the list.', switchExample.id)],
    body: {
      description: 'Why agents may act again.',
      schema: objectSchema({ reason: text(500) }),
      examples: { checked: { reason: 'the ledger is correct again' } },
    },
    replies: { 204: noContent('Deactivated') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ switches }, call) => {
    const result = await switches.turnOff(actorOf(call), call.params.id ?? '', call.body.reason);
    if (typeof result === 'object') throw invalidBody(result);
    if (result === 'unknown') throw notFound('kill switch');
    if (result === 'conflict') throw conflict();
  },
});

export const switchRoutes: readonly Route<KillSwitchDeps>[] = [
  listKillSwitches,
  createKillSwitch,
  deactivateKillSwitch,
];

/**
 * The scope with the agent's id, since people know agents by name. Throws a ProblemError when no agent is
 * found: such a switch would stop nothing.
 */
async function knownScope(scope: KillSwitchScope, store: Pick<Store, 'agents'>): Promise<KillSwitchScope> {
  if (scope.kind !== 'agent') return scope;
  const agent = await store.agents.find(scope.agentId);
  if (agent !== null) return { kind: 'agent', agentId: agent.id };
  throw invalidBody({
    kind: 'invalid',
    problems: [{ field: 'scope', detail: 'no agent has this id or name' }],
  });
}

async function killSwitchView(one: KillSwitch, store: Pick<Store, 'agents'>) {
  const { id, scope, reason, createdAtMs, createdBy, createdByName } = one;
  const agent = scope.kind === 'agent' ? await store.agents.find(scope.agentId) : null;
  return {
    id,
    scope: scopeText(scope),
    agent_name: agent?.name ?? null,
    reason,
    created_at: isoTime(createdAtMs),
    created_by: createdBy,
    created_by_name: createdByName,
  };
}
