// The SCIM routes as the OpenAPI document shows them. `/scim/v2/Schemas` defines what a user and a group are.

import type { DescribedRoute, JsonSchema, OperationReply, Parameter } from '../../contract/operation.ts';
import { idParameter } from '../../contract/schemas.ts';
import { errorUrn } from './scim-error.ts';
import { groupUrn } from './scim-groups.ts';
import { userUrn } from './scim-users.ts';

export const scimBase = '/scim/v2';
export const listUrn = 'urn:ietf:params:scim:api:messages:2.0:ListResponse';
const patchUrn = 'urn:ietf:params:scim:api:messages:2.0:PatchOp';

const resource: JsonSchema = {
  type: 'object',
  required: ['schemas'],
  additionalProperties: true,
  properties: { schemas: { type: 'array', items: { type: 'string' } } },
};

const scimType = 'application/scim+json';

function reply(description: string, example: unknown): OperationReply {
  return { description, contentType: scimType, schema: resource, example };
}

function failure(status: number, description: string): OperationReply {
  const example = { schemas: [errorUrn], status: String(status), detail: 'what is wrong' };
  return reply(description, example);
}

const failures = {
  400: failure(400, 'The request is invalid; `scimType` is the kind of error'),
  401: {
    ...failure(401, 'The token does not match `sso.scim_token`, or that setting is empty'),
    headers: ['WWW-Authenticate'],
  },
  404: failure(404, 'No such user or group'),
  409: failure(409, 'The name or address is already in use, or no active admin would be left'),
  500: failure(500, 'Internal error'),
  503: failure(503, 'The change could not be recorded'),
} as const satisfies Readonly<Record<number, OperationReply>>;

const time = '2026-01-02T03:04:05.000Z';
const id = '2819c223-7f76-453a-919d-413861904646';
const groupId = 'e9e30dba-f08f-4109-8486-d5c6a331660a';

const exampleUser = {
  schemas: [userUrn],
  id,
  externalId: '00u1abcd',
  userName: 'ben@example.com',
  name: { givenName: 'Ben', familyName: 'Berg' },
  emails: [{ value: 'ben@example.com', type: 'work', primary: true }],
  active: true,
  groups: [{ value: groupId, display: 'payments' }],
  meta: {
    resourceType: 'User',
    created: time,
    lastModified: time,
    location: `https://writ.example.com/scim/v2/Users/${id}`,
  },
};

const exampleGroup = {
  schemas: [groupUrn],
  id: groupId,
  displayName: 'payments',
  members: [{ value: id, type: 'User' }],
  meta: {
    resourceType: 'Group',
    created: time,
    lastModified: time,
    location: `https://writ.example.com/scim/v2/Groups/${groupId}`,
  },
};

const ofUser = {
  one: 'user',
  many: 'Users',
  id: idParameter('The id of the user.', id),
  example: exampleUser,
  sent: { schemas: [userUrn], userName: 'ben@example.com', externalId: '00u1abcd', active: true },
  patched: [{ op: 'replace', path: 'active', value: false }],
};

const ofGroup = {
  one: 'group',
  many: 'Groups',
  id: idParameter('The id of the group.', groupId),
  example: exampleGroup,
  sent: { schemas: [groupUrn], displayName: 'payments', members: [{ value: id }] },
  patched: [{ op: 'add', path: 'members', value: [{ value: id }] }],
};

function queryParameter(name: string, description: string, example: string): Parameter {
  return { name, in: 'query', isRequired: false, description, schema: { type: 'string' }, example };
}

const attributeParameters = [
  queryParameter('attributes', 'The attributes to return, separated by commas.', 'userName,active'),
  queryParameter('excludedAttributes', 'The attributes to leave out, separated by commas.', 'members'),
];

const listParameters = [
  queryParameter(
    'filter',
    'One attribute and one value, `ATTRIBUTE eq "VALUE"`: `id`, `externalId`, `userName`, `displayName`, `emails.value`, `members.value`.',
    'userName eq "ben@example.com"',
  ),
  queryParameter('startIndex', 'The index of the first result, starting at 1.', '1'),
  queryParameter('count', 'The number of results: at most 200, default 100.', '100'),
  ...attributeParameters,
];

function routesOf(what: typeof ofUser | typeof ofGroup): readonly DescribedRoute[] {
  const { one, many, example, sent, patched } = what;
  const title = `${one.charAt(0).toUpperCase()}${one.slice(1)}`;
  const [all, single] = [`${scimBase}/${many}`, `${scimBase}/${many}/:id`];
  const body = { description: `A ${one} of SCIM.`, schema: resource, examples: { [one]: sent } };
  const patch = {
    description: 'Operations, applied in order; all or none.',
    schema: resource,
    examples: { patch: { schemas: [patchUrn], Operations: patched } },
  };
  const shared = { security: 'scimToken', problems: [] } as const;
  const list = { schemas: [listUrn], totalResults: 1, startIndex: 1, itemsPerPage: 1, Resources: [example] };
  const ofOne = { ...shared, parameters: [what.id] };
  return [
    {
      method: 'GET',
      url: all,
      operation: {
        ...shared,
        id: `scimList${many}`,
        summary: `${many} from the identity provider`,
        parameters: listParameters,
        replies: { 200: reply(`A page of ${one}s`, list), ...failures },
      },
    },
    {
      method: 'POST',
      url: all,
      operation: {
        ...shared,
        id: `scimAdd${title}`,
        summary: `Adds a ${one}`,
        body,
        replies: { 201: { ...reply(`The ${one}`, example), headers: ['Location'] }, ...failures },
      },
    },
    {
      method: 'GET',
      url: single,
      operation: {
        ...ofOne,
        id: `scimGet${title}`,
        summary: `One ${one}`,
        parameters: [what.id, ...attributeParameters],
        replies: { 200: reply(`The ${one}`, example), ...failures },
      },
    },
    {
      method: 'PUT',
      url: single,
      operation: {
        ...ofOne,
        id: `scimReplace${title}`,
        summary: `Replaces a ${one}`,
        body,
        replies: { 200: reply(`The ${one}`, example), ...failures },
      },
    },
    {
      method: 'PATCH',
      url: single,
      operation: {
        ...ofOne,
        id: `scimPatch${title}`,
        summary: `Changes attributes of a ${one}`,
        body: patch,
        replies: { 200: reply(`The ${one}`, example), ...failures },
      },
    },
    {
      method: 'DELETE',
      url: single,
      operation: {
        ...ofOne,
        id: `scimDelete${title}`,
        summary: `Removes a ${one}; people without any remaining role are signed out at once`,
        replies: { 204: { description: 'Removed', contentType: null }, ...failures },
      },
    },
  ];
}

function aboutRoute(name: string, summary: string): DescribedRoute {
  const example = { schemas: [listUrn], totalResults: 0, startIndex: 1, itemsPerPage: 0, Resources: [] };
  return {
    method: 'GET',
    url: `${scimBase}/${name}`,
    operation: {
      id: `scimGet${name}`,
      summary,
      security: 'scimToken',
      problems: [],
      replies: { 200: reply(summary, example), ...failures },
    },
  };
}

export const scimDescribed: readonly DescribedRoute[] = [
  ...routesOf(ofUser),
  ...routesOf(ofGroup),
  aboutRoute('ServiceProviderConfig', 'The supported SCIM features'),
  aboutRoute('ResourceTypes', 'Users and groups'),
  aboutRoute('Schemas', 'The supported attributes'),
];
