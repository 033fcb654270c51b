// /v1/enforcement-points: enforcement points, the agents that each asks for, and their keys. INVARIANT: a key is shown in
// the reply that made it and never again.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import * as changes from '../../../agents/points/change-point.ts';
import { keysOf } from '../../../agents/points/change-point.ts';
import { type EnforcementPoint, pointsIn } from '../../../agents/points/point.ts';
import { defaultGraceMs } from '../../../agents/registry.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { type AgentStatus, agentStatuses } from '../../../store/contract/records.ts';
import type { Store } from '../../../store/contract/store.ts';
import { conflict, invalidBody, notFound } from '../../auth/auth-refusals.ts';
import type { JsonSchema, OperationReply } from '../../contract/operation.ts';
import { pageOf, pageParameters, pageReply, readPage } from '../../contract/page.ts';
import type { ProblemError } from '../../contract/problem.ts';
import { idParameter, listReply, objectSchema, text, time, timeOrNull } from '../../contract/schemas.ts';
import { type ManagedCall, type Route, route } from '../../routing/route.ts';
import { graceSecondsMax } from './agent-keys.ts';
import { keySchema, shownKey } from './agent-view.ts';
import { by } from './agents.ts';

// Shows an enforcement point as the management API does, with the names of its agents. INVARIANT: no key is
// shown.

/** The point as a reply. An agent that can no longer be found is shown by its id. */
async function pointView(
  { agents, documents }: Pick<Store, 'agents' | 'documents'>,
  point: EnforcementPoint,
) {
  const { id, name, status, mayRelease, createdAtMs, changedAtMs } = point;
  const assigned = await Promise.all(
    point.agents.map(async (agentId) => ({
      id: agentId,
      name: (await agents.find(agentId))?.name ?? agentId,
    })),
  );
  const uses = (await keysOf(documents, id)).map(({ lastUsedAtMs }) => lastUsedAtMs ?? 0);
  const seenAtMs = Math.max(0, ...uses);
  return {
    id,
    name,
    status,
    agents: assigned,
    may_release: mayRelease === true,
    created_at: isoTime(createdAtMs),
    changed_at: isoTime(changedAtMs),
    last_seen_at: isoTimeOrNull(seenAtMs === 0 ? null : seenAtMs),
  };
}

const assignedSchema: JsonSchema = {
  type: 'array',
  description: 'The assigned agents.',
  items: objectSchema({ id: text(100), name: text(200) }),
};

const pointSchema = objectSchema({
  id: text(100),
  name: text(200),
  status: { type: 'string', enum: agentStatuses },
  agents: assignedSchema,
  may_release: {
    type: 'boolean',
    description: 'Whether its report of an unused grant removes the grant from the meters.',
  },
  created_at: time,
  changed_at: time,
  last_seen_at: {
    ...timeOrNull,
    description:
      'When it last sent a request with a valid key, to the minute; null before the first request.',
  },
});

const pointExample = {
  id: 'b0e27000-0000-4000-8000-000000000000',
  name: 'files proxy',
  status: 'active',
  agents: [{ id: 'a9e27000-0000-4000-8000-000000000000', name: 'buyer' }],
  may_release: false,
  created_at: '2026-03-02T10:00:00.000Z',
  changed_at: '2026-03-02T10:00:00.000Z',
  last_seen_at: '2026-03-02T10:05:00.000Z',
};

const pointReply: OperationReply = {
  description: 'The enforcement point',
  schema: pointSchema,
  example: pointExample,
};

function pointWithKey(description: string, more: Readonly<Record<string, JsonSchema>> = {}): OperationReply {
  const example = { point: pointExample, api_key: `writpep_${'0'.repeat(46)}` };
  const ends = Object.hasOwn(more, 'old_keys_end_at') ? { old_keys_end_at: pointExample.created_at } : {};
  return {
    description,
    schema: objectSchema({ point: pointSchema, api_key: text(100), ...more }),
    example: { ...example, ...ends },
  };
}

interface PointDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
}

interface PointBody {
  readonly name: string;
  /** The agents that the point asks for, each by name or id. */
  readonly agents: readonly string[];
  readonly may_release?: boolean;
}

const pointId = idParameter('The id in the list.', pointExample.id);
const name = text(200);
const mayRelease = { type: 'boolean' } as const;
const agents = { type: 'array', items: text(200), maxItems: changes.pointAgentsMax } as const;

const listEnforcementPoints = route<PointDeps>({
  method: 'GET',
  url: '/v1/enforcement-points',
  access: 'points.view',
  operation: {
    id: 'listEnforcementPoints',
    summary: 'Enforcement points, newest first',
    parameters: pageParameters,
    replies: { 200: pageReply('A page of enforcement points', pointSchema, pointExample) },
  },
  handle: async ({ store }, call) => {
    const { countMax, after } = readPage(call.query);
    const storedEnforcementPoints = await pointsIn(store.documents).points.list({
      after,
      countMax: countMax + 1,
    });
    const { items, next_cursor } = pageOf(storedEnforcementPoints, countMax, (point) => point);
    return { items: await Promise.all(items.map((point) => pointView(store, point))), next_cursor };
  },
});

const registerEnforcementPoint = route<PointDeps, PointBody>({
  method: 'POST',
  url: '/v1/enforcement-points',
  access: 'points.change',
  operation: {
    id: 'registerEnforcementPoint',
    summary: 'Registers an enforcement point and creates its first key',
    description:
      'An enforcement point is a proxy, a hook or another program between agents and their tools. With its key it sends requests for its assigned agents, named in `X-Writ-Agent`.',
    body: {
      description:
        'Agents by name or id. With `may_release`, a report of the point that a grant is unused removes the grant from the meters. Otherwise only a person can do that.',
      schema: objectSchema({ name, agents }, { may_release: mayRelease }),
      examples: { proxy: { name: 'files proxy', agents: ['buyer'] } },
    },
    replies: { 201: pointWithKey('Registered; `api_key` is shown only once') },
    problems: ['conflict'],
  },
  handle: async (deps, call) => {
    const agents = await agentsNamed(deps.store, call.body.agents);
    const { name, may_release = false } = call.body;
    const draft = { name, agents, mayRelease: may_release };
    const created = createdOf(await changes.addPoint(changer(deps, call), draft));
    call.reply.code(201);
    return { point: await pointView(deps.store, created.point), api_key: created.apiKey };
  },
});

const getEnforcementPoint = route<PointDeps>({
  method: 'GET',
  url: '/v1/enforcement-points/:id',
  access: 'points.view',
  operation: {
    id: 'getEnforcementPoint',
    summary: 'One enforcement point',
    parameters: [pointId],
    replies: { 200: pointReply },
    problems: ['not_found'],
  },
  handle: async ({ store }, call) => pointView(store, await pointOf(store, call)),
});

const updateEnforcementPoint = route<PointDeps, Partial<PointBody>>({
  method: 'PATCH',
  url: '/v1/enforcement-points/:id',
  access: 'points.change',
  operation: {
    id: 'updateEnforcementPoint',
    summary:
      'Changes the name, the agents or `may_release` of an enforcement point, from the next request on',
    parameters: [pointId],
    body: {
      description: 'Missing fields stay unchanged. `agents` replaces all assigned agents.',
      schema: objectSchema({}, { name, agents, may_release: mayRelease }),
      examples: { agents: { agents: ['buyer', 'buyer-2'] } },
    },
    replies: { 200: pointReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { name, agents, may_release } = call.body;
    const change = {
      ...(name === undefined ? {} : { name }),
      ...(may_release === undefined ? {} : { mayRelease: may_release }),
      ...(agents === undefined ? {} : { agents: await agentsNamed(deps.store, agents) }),
    };
    return shownChange(deps, await changes.describePoint(changer(deps, call), call.params.id ?? '', change));
  },
});

const disableEnforcementPoint = statusRoute({
  id: 'disableEnforcementPoint',
  word: 'disable',
  status: 'disabled',
  summary: 'Disables an enforcement point; all its requests are refused',
});

const enableEnforcementPoint = statusRoute({
  id: 'enableEnforcementPoint',
  word: 'enable',
  status: 'active',
  summary: 'Enables a disabled enforcement point',
});

const revokeEnforcementPoint = route<PointDeps, { name: string }>({
  method: 'POST',
  url: '/v1/enforcement-points/:id/revoke',
  access: 'points.change',
  operation: {
    id: 'revokeEnforcementPoint',
    summary: 'Revokes an enforcement point permanently; all its requests are refused',
    parameters: [pointId],
    body: {
      description: "The point's name, as a confirmation: revoking is permanent.",
      schema: objectSchema({ name }),
      examples: { proxy: { name: 'files proxy' } },
    },
    replies: { 200: pointReply },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const point = await pointOf(deps.store, call);
    if (call.body.name !== point.name) {
      const detail = 'this is not the name of the enforcement point';
      throw invalidBody({ kind: 'invalid', problems: [{ field: 'name', detail }] });
    }
    return shownChange(deps, await changes.setPointStatus(changer(deps, call), point.id, 'revoked'));
  },
});

const listEnforcementPointKeys = route<PointDeps>({
  method: 'GET',
  url: '/v1/enforcement-points/:id/keys',
  access: 'points.view',
  operation: {
    id: 'listEnforcementPointKeys',
    summary: 'The keys of an enforcement point with their times of creation, last use and end, oldest first',
    parameters: [pointId],
    replies: {
      200: listReply('The keys', keySchema, {
        id: 'Ab3dEf6h',
        created_at: pointExample.created_at,
        not_after: null,
        last_used_at: pointExample.last_seen_at,
      }),
    },
    problems: ['not_found'],
  },
  handle: async ({ store }, call) => {
    const { id } = await pointOf(store, call);
    return { items: (await changes.keysOf(store.documents, id)).map(shownKey) };
  },
});

const rotateEnforcementPointKey = route<PointDeps, { grace_seconds?: number }>({
  method: 'POST',
  url: '/v1/enforcement-points/:id/keys',
  access: 'points.change',
  operation: {
    id: 'rotateEnforcementPointKey',
    summary: 'Creates a new key for an enforcement point and sets an end for the current key',
    parameters: [pointId],
    body: {
      description: 'How long the current key stays valid; default: one day; 0 ends it now.',
      schema: objectSchema({}, { grace_seconds: { type: 'integer', minimum: 0, maximum: graceSecondsMax } }),
      examples: { now: { grace_seconds: 0 } },
    },
    replies: { 201: pointWithKey('Rotated; `api_key` is shown only once', { old_keys_end_at: text(40) }) },
    problems: ['not_found', 'conflict'],
  },
  handle: async (deps, call) => {
    const { grace_seconds: seconds = defaultGraceMs / 1_000 } = call.body;
    const [who, graceMs] = [changer(deps, call), seconds * 1_000];
    const made = createdOf(await changes.rotatePointKey(who, call.params.id ?? '', graceMs));
    call.reply.code(201);
    const ends = isoTime(who.nowMs + graceMs);
    return { point: await pointView(deps.store, made.point), api_key: made.apiKey, old_keys_end_at: ends };
  },
});

export const pointRoutes: readonly Route<PointDeps>[] = [
  listEnforcementPoints,
  registerEnforcementPoint,
  getEnforcementPoint,
  updateEnforcementPoint,
  disableEnforcementPoint,
  enableEnforcementPoint,
  revokeEnforcementPoint,
  listEnforcementPointKeys,
  rotateEnforcementPointKey,
];

interface StatusChange {
  readonly id: string;
  readonly word: string;
  readonly status: AgentStatus;
  readonly summary: string;
}

function statusRoute({ id, word, status, summary }: StatusChange): Route<PointDeps> {
  return route({
    method: 'POST',
    url: `/v1/enforcement-points/:id/${word}`,
    access: 'points.change',
    operation: {
      id,
      summary,
      parameters: [pointId],
      replies: { 200: pointReply },
      problems: ['not_found', 'conflict'],
    },
    handle: async (deps: PointDeps, call) =>
      shownChange(deps, await changes.setPointStatus(changer(deps, call), call.params.id ?? '', status)),
  });
}

function changer({ store, signInDeps }: PointDeps, call: ManagedCall<unknown>): changes.PointChanger {
  const nowMs = Math.trunc(signInDeps.directory.clock());
  return { documents: store.documents, nowMs, ...by(call) };
}

async function pointOf({ documents }: Store, call: ManagedCall<unknown>): Promise<EnforcementPoint> {
  const storedEnforcementPoint = await pointsIn(documents).points.find(call.params.id ?? '');
  if (storedEnforcementPoint === null) throw notFound('enforcement point');
  return storedEnforcementPoint.value;
}

/** The ids of agents that are given by name or id; throws a ProblemError when one does not exist. */
async function agentsNamed({ agents }: Store, names: readonly string[]): Promise<readonly string[]> {
  const matches = await Promise.all(names.map((one) => agents.find(one)));
  const unknown = names.filter((_, i) => (matches[i] ?? null) === null);
  if (unknown.length > 0) {
    const problems = unknown.map(() => ({
      field: 'agents',
      detail: 'one of these agents does not exist',
    }));
    throw invalidBody({ kind: 'invalid', problems });
  }
  return matches.flatMap((agent) => (agent === null ? [] : [agent.id]));
}

async function shownChange({ store }: PointDeps, changed: changes.PointChangeResult) {
  if (changed.kind !== 'changed') throw refusedPoint(changed);
  return await pointView(store, changed.point);
}

function createdOf(result: changes.NewPointKey): Extract<changes.NewPointKey, { readonly kind: 'made' }> {
  if (result.kind !== 'made') throw refusedPoint(result);
  return result;
}

function refusedPoint(
  result:
    | Exclude<changes.NewPointKey, { readonly kind: 'made' }>
    | Exclude<changes.PointChangeResult, { readonly kind: 'changed' }>,
): ProblemError {
  switch (result.kind) {
    case 'unknown':
      return notFound('enforcement point');
    case 'revoked':
      return conflict('the enforcement point is revoked permanently');
    case 'conflict':
      return conflict();
    case 'too-many-keys':
      return conflict('two keys are valid: wait until the older one ends, or send `grace_seconds` 0');
    case 'invalid':
      return invalidBody({ kind: 'invalid', problems: [...result.problems] });
  }
}
