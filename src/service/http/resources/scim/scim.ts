// SCIM 2.0 (RFC 7643, RFC 7644): the identity provider tells the service who has access, and in which groups.
// INVARIANT: without the token nothing is shown or changed; a body that cannot be read changes nothing.

import { createHash, timingSafeEqual } from 'node:crypto';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readJson } from '../../../../language/json/read-json.ts';
import type { Directory } from '../../../people/directory.ts';
import type { ProvisionedGroup, ProvisionedPerson } from '../../../people/person.ts';
import type { RoleRule } from '../../../people/sso/mapping.ts';
import * as provisioning from '../../../people/sso/provision.ts';
import { toProblem } from '../../connection/error-replies.ts';
import { problems } from '../../contract/problem.ts';
import { countMax, resourceTypes, schemas, serviceProviderConfig } from './scim-discovery.ts';
import { ScimError, scimErrorBody } from './scim-error.ts';
import { groupFilter, patchGroup, readGroup, scimGroup } from './scim-groups.ts';
import { listUrn, scimBase } from './scim-openapi.ts';
import { assignmentsOf } from './scim-patch.ts';
import { patchUser, readUser, scimUser, userFilter } from './scim-users.ts';
import type { ScimObject } from './scim-values.ts';

export interface ScimDeps {
  readonly directory: Directory;
  /** The token that the provider sends; null lets nobody in. */
  readonly token: string | null;
  readonly rules: readonly RoleRule[];
  /** The address at which the provider reaches the service, without a path. */
  readonly origin: string;
}

const scimType = 'application/scim+json; charset=utf-8';
const sentType = /^application\/(?:scim\+)?json\s*(?:;.*)?$/i;
const bodyLimit = 1024 * 1024;

export async function scimRoutes(app: FastifyInstance, deps: ScimDeps): Promise<void> {
  app.addHook('onRequest', async (request, reply) => requireToken(deps, request, reply));
  app.setErrorHandler<FastifyError>(replyWithFailure);
  const about = {
    ServiceProviderConfig: serviceProviderConfig,
    ResourceTypes: resourceTypes,
    Schemas: schemas,
  };
  for (const [name, body] of Object.entries(about)) {
    app.get(`${scimBase}/${name}`, async (_request, reply) => send(reply, 200, body));
  }
  addResource(app, '/Users', usersOf(deps));
  addResource(app, '/Groups', groupsOf(deps));
}

function requireToken({ token }: ScimDeps, request: FastifyRequest, reply: FastifyReply): void {
  const given = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  if (token !== null && timingSafeEqual(sha256(given), sha256(token))) return;
  reply.header('www-authenticate', 'Bearer');
  throw new ScimError(401, 'send the token of `sso.scim_token` as `Authorization: Bearer <token>`');
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

function replyWithFailure(
  error: FastifyError | ScimError,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  if (error instanceof ScimError) return send(reply, error.status, scimErrorBody(error));
  const problem = toProblem(error);
  const { status } = problems[problem.code];
  if (status >= 500) request.log.error({ err: problem.cause ?? problem }, 'request failed');
  return send(reply, status, scimErrorBody(new ScimError(status, problem.message)));
}

function send(reply: FastifyReply, status: number, body: object): FastifyReply {
  return reply.code(status).header('cache-control', 'no-store').type(scimType).send(JSON.stringify(body));
}

/** What can be done with users and with groups. */
interface Resource {
  /** The objects that a filter finds, the earliest first; null finds all. */
  list(filter: string | null): Promise<readonly ScimObject[]>;
  find(id: string): Promise<ScimObject | null>;
  add(body: unknown): Promise<ScimObject>;
  replace(id: string, body: unknown): Promise<ScimObject>;
  patch(id: string, body: unknown): Promise<ScimObject>;
  remove(id: string): Promise<void>;
}

function addResource(app: FastifyInstance, path: string, resource: Resource): void {
  const [all, single] = [`${scimBase}${path}`, `${scimBase}${path}/:id`];
  app.get(all, async (request, reply) => {
    const query = request.query as Readonly<Record<string, unknown>>;
    const filter = typeof query.filter === 'string' ? query.filter : null;
    return send(reply, 200, pageOf(await resource.list(filter), query));
  });
  app.post(all, { bodyLimit }, async (request, reply) => {
    const added = await resource.add(bodyOf(request));
    const { location } = added.meta as { readonly location: string };
    return send(reply.header('location', location), 201, added);
  });
  app.get(single, async (request, reply) => {
    const body = await resource.find(idOf(request));
    if (body === null) throw new ScimError(404, 'nothing has this id');
    return send(reply, 200, chosen(body, request.query as Readonly<Record<string, unknown>>));
  });
  app.put(single, { bodyLimit }, async (request, reply) =>
    send(reply, 200, await resource.replace(idOf(request), bodyOf(request))),
  );
  app.patch(single, { bodyLimit }, async (request, reply) =>
    send(reply, 200, await resource.patch(idOf(request), bodyOf(request))),
  );
  app.delete(single, async (request, reply) => {
    await resource.remove(idOf(request));
    return reply.code(204).header('cache-control', 'no-store').send();
  });
}

function idOf({ params }: FastifyRequest): string {
  return (params as { readonly id: string }).id;
}

function bodyOf({ body, headers }: FastifyRequest): unknown {
  if (!sentType.test(headers['content-type'] ?? '')) {
    throw new ScimError(400, 'send `Content-Type: application/scim+json`', 'invalidSyntax');
  }
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  const json = readJson(bytes, { bytesMax: bodyLimit, depthMax: 16 });
  if (!json.ok) throw new ScimError(400, json.issue.detail, 'invalidSyntax');
  return json.value;
}

/** A page of `count` objects from `startIndex` on, which counts from 1. */
function pageOf(all: readonly ScimObject[], query: Readonly<Record<string, unknown>>): ScimObject {
  const startIndex = Math.max(1, wholeNumber(query.startIndex, 1));
  const count = Math.min(countMax, Math.max(0, wholeNumber(query.count, 100)));
  const page = all.slice(startIndex - 1, startIndex - 1 + count);
  return {
    schemas: [listUrn],
    totalResults: all.length,
    startIndex,
    itemsPerPage: page.length,
    Resources: page.map((one) => chosen(one, query)),
  };
}

function wholeNumber(value: unknown, absent: number): number {
  if (value === undefined) return absent;
  if (typeof value === 'string' && /^-?\d{1,9}$/.test(value)) return Number(value);
  throw new ScimError(400, '`startIndex` and `count` must be whole numbers', 'invalidValue');
}

/** The resource with only the attributes that are asked for; `id` and `schemas` always stay. */
function chosen(resource: ScimObject, query: Readonly<Record<string, unknown>>): ScimObject {
  const [included, excluded] = [namesIn(query.attributes), namesIn(query.excludedAttributes)];
  const isShown = (name: string): boolean =>
    name === 'id' ||
    name === 'schemas' ||
    ((included === null || included.has(name.toLowerCase())) && excluded?.has(name.toLowerCase()) !== true);
  return Object.fromEntries(Object.entries(resource).filter(([name]) => isShown(name)));
}

/**
 * Names of attributes from a text with commas; `name.givenName` stands for the whole `name`. Null when the
 * text is absent or empty.
 */
function namesIn(value: unknown): ReadonlySet<string> | null {
  if (typeof value !== 'string' || value === '') return null;
  const names = value.split(',').map((name) => name.trim().replace(/^urn:.*:/i, ''));
  return new Set(names.map((name) => name.toLowerCase().replace(/\..*$/, '')));
}

function taken<T>(result: provisioning.ProvisionResult<T>): T {
  switch (result.kind) {
    case 'done':
      return result.value;
    case 'invalid':
      throw new ScimError(400, result.detail, 'invalidValue');
    case 'unknown':
      throw new ScimError(404, result.detail);
    case 'taken':
      throw new ScimError(409, result.detail, 'uniqueness');
    case 'conflict':
      throw new ScimError(409, result.detail);
  }
}

/** The objects that are found, the earliest first, so that pages stay the same while objects are added. */
function resourceOrThrow<T extends { readonly createdAtMs: number; readonly id: string }>(
  all: ReadonlyMap<string, { readonly value: T }>,
  isFound: ((one: T) => boolean) | null,
): readonly T[] {
  return [...all.values()]
    .map(({ value }) => value)
    .filter((one) => isFound === null || isFound(one))
    .toSorted((a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1));
}

function filterBy<T>(text: string | null, read: (text: string) => ((one: T) => boolean) | null) {
  if (text === null) return null;
  const isFound = read(text);
  if (isFound !== null) return isFound;
  throw new ScimError(400, 'a filter must have the form `ATTRIBUTE eq "VALUE"`', 'invalidFilter');
}

function usersOf(deps: ScimDeps): Resource {
  const base = `${deps.origin}${scimBase}`;
  const personView = async (person: ProvisionedPerson): Promise<ScimObject> => {
    const { groups } = await provisioning.readDirectoryState(deps.directory);
    return scimUser(person, { groups: resourceOrThrow(groups, null), base });
  };
  return {
    async list(filter) {
      const isFound = filterBy(filter, userFilter);
      const { people, groups } = await provisioning.readDirectoryState(deps.directory);
      const all = resourceOrThrow(groups, null);
      return resourceOrThrow(people, isFound).map((person) => scimUser(person, { groups: all, base }));
    },
    async find(id) {
      const one = await deps.directory.provisioned.find(id);
      return one === null || one.value.isDeleted ? null : await personView(one.value);
    },
    add: async (body) =>
      await personView(taken(await provisioning.addProvisioned(deps, readUser(body, null)))),
    replace: async (id, body) =>
      await personView(
        taken(await provisioning.changeProvisioned(deps, id, (before) => readUser(body, before))),
      ),
    async patch(id, body) {
      const assignments = assignmentsOf(body);
      const change = (before: provisioning.PersonDraft) => patchUser(before, assignments);
      return await personView(taken(await provisioning.changeProvisioned(deps, id, change)));
    },
    remove: async (id) => void taken(await provisioning.removeProvisioned(deps, id)),
  };
}

function groupsOf(deps: ScimDeps): Resource {
  const base = `${deps.origin}${scimBase}`;
  const groupView = (group: ProvisionedGroup): ScimObject => scimGroup(group, base);
  return {
    async list(filter) {
      const isFound = filterBy(filter, groupFilter);
      return resourceOrThrow((await provisioning.readDirectoryState(deps.directory)).groups, isFound).map(
        groupView,
      );
    },
    async find(id) {
      const one = await deps.directory.provisionedGroups.find(id);
      return one === null ? null : groupView(one.value);
    },
    add: async (body) => groupView(taken(await provisioning.addGroup(deps, readGroup(body)))),
    replace: async (id, body) =>
      groupView(taken(await provisioning.changeGroup(deps, id, () => readGroup(body)))),
    async patch(id, body) {
      const assignments = assignmentsOf(body);
      const change = (before: provisioning.GroupDraft) => patchGroup(before, assignments);
      return groupView(taken(await provisioning.changeGroup(deps, id, change)));
    },
    remove: async (id) => void taken(await provisioning.removeGroup(deps, id)),
  };
}
