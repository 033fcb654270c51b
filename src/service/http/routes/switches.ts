// /v1/switches: the kill switch, and which are on.

import { riskTiers } from '../../../language/model/request.ts';
import type { SignInDeps } from '../../people/sign-in.ts';
import type { Switch, SwitchBoard, SwitchScope } from '../../people/switches.ts';
import { conflict, invalidBody, notFound } from '../calls/refusals.ts';
import { actorOf, type Route, route } from '../calls/route.ts';
import type { OperationReply } from '../contract/operation.ts';
import {
  idParameter,
  listReply,
  noContent,
  objectSchema,
  text,
  time,
  timeText,
} from '../contract/schemas.ts';

interface SwitchDeps {
  readonly signInDeps: SignInDeps;
  readonly switches: SwitchBoard;
}

const tierPattern = riskTiers.join('|');
const scopePattern = `^(all|tier:(${tierPattern})|area:[^\\s:]{1,200}|agent:[0-9A-Za-z-]{1,100})$`;

const switchSchema = objectSchema({
  id: text(100),
  scope: text(300),
  reason: text(500),
  created_at: time,
  created_by: text(100),
  created_by_name: text(200),
});

const switchExample = {
  id: '5a0c0de0-0000-4000-8000-000000000000',
  scope: 'area:payment',
  reason: 'the ledger is being checked',
  created_at: '2026-03-02T10:00:00.000Z',
  created_by: 'b3f1c2d4-0000-4000-8000-000000000000',
  created_by_name: 'Ann',
};

const listSwitches = route<SwitchDeps>({
  method: 'GET',
  url: '/v1/switches',
  access: 'switches.view',
  operation: {
    id: 'listSwitches',
    summary: 'The kill switches that are on, the latest first',
    replies: { 200: listReply('The switches', switchSchema, switchExample) },
  },
  handle: async ({ switches }) => ({ items: (await switches.list()).map(shownSwitch) }),
});

const turnSwitchOn = route<SwitchDeps, { scope: string; reason: string }>({
  method: 'POST',
  url: '/v1/switches',
  access: 'switches.use',
  operation: {
    id: 'turnSwitchOn',
    summary: 'Refuses everything that the scope covers, within a second',
    description:
      '`all`, `tier:high`, `area:payment` (with the areas within it) or `agent:` and the id of an agent.',
    body: {
      description: 'What to stop, and why.',
      schema: objectSchema({ scope: { ...text(300), pattern: scopePattern }, reason: text(500) }),
      examples: { area: { scope: 'area:payment', reason: 'the ledger is being checked' } },
    },
    replies: { 201: switchView('On') },
  },
  handle: async ({ switches }, call) => {
    const { scope, reason } = call.body;
    const result = await switches.turnOn(actorOf(call), { scope: readScope(scope), reason });
    if (result.kind === 'invalid') throw invalidBody(result);
    call.reply.code(201);
    return shownSwitch(result.switch);
  },
});

const turnSwitchOff = route<SwitchDeps, { reason: string }>({
  method: 'POST',
  url: '/v1/switches/:id/off',
  access: 'switches.use',
  operation: {
    id: 'turnSwitchOff',
    summary: 'Turns a switch off; the reason goes on record',
    parameters: [idParameter('The id in the list.', switchExample.id)],
    body: {
      description: 'Why agents may act again.',
      schema: objectSchema({ reason: text(500) }),
      examples: { checked: { reason: 'the ledger is right again' } },
    },
    replies: { 204: noContent('Off') },
    problems: ['not_found', 'conflict'],
  },
  handle: async ({ switches }, call) => {
    const result = await switches.turnOff(actorOf(call), call.params.id ?? '', call.body.reason);
    if (typeof result === 'object') throw invalidBody(result);
    if (result === 'unknown') throw notFound('switch');
    if (result === 'conflict') throw conflict();
  },
});

export const switchRoutes: readonly Route<SwitchDeps>[] = [listSwitches, turnSwitchOn, turnSwitchOff];

/** The schema has seen to its form. */
function readScope(scope: string): SwitchScope {
  const [kind = '', value = ''] = scope.split(/:(.*)/s);
  const tier = riskTiers.find((one) => one === value);
  if (kind === 'tier' && tier !== undefined) return { kind, tier };
  if (kind === 'area') return { kind, area: value };
  return kind === 'agent' ? { kind, agentId: value } : { kind: 'all' };
}

function scopeText(scope: SwitchScope): string {
  switch (scope.kind) {
    case 'all':
      return 'all';
    case 'tier':
      return `tier:${scope.tier}`;
    case 'area':
      return `area:${scope.area}`;
    case 'agent':
      return `agent:${scope.agentId}`;
  }
}

function switchView(description: string): OperationReply {
  return { description, schema: switchSchema, example: switchExample };
}

function shownSwitch({ id, scope, reason, createdAtMs, createdBy, createdByName }: Switch) {
  return {
    id,
    scope: scopeText(scope),
    reason,
    created_at: timeText(createdAtMs),
    created_by: createdBy,
    created_by_name: createdByName,
  };
}
