// Describes what the service supports of SCIM (RFC 7643, sections 5 to 7), and which attributes it keeps.

import { groupUrn } from './scim-groups.ts';
import { listUrn } from './scim-openapi.ts';
import { userUrn } from './scim-users.ts';
import type { ScimObject } from './scim-values.ts';

export const countMax = 200;

export const serviceProviderConfig: ScimObject = {
  schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
  patch: { supported: true },
  bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
  filter: { supported: true, maxResults: countMax },
  changePassword: { supported: false },
  sort: { supported: false },
  etag: { supported: false },
  authenticationSchemes: [
    {
      type: 'oauthbearertoken',
      name: 'Bearer token',
      description: 'The token of the setting `sso.scim_token`',
      primary: true,
    },
  ],
};

function listOfAll(resources: readonly ScimObject[]): ScimObject {
  return {
    schemas: [listUrn],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  };
}

function resourceType(name: string, schema: string): ScimObject {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'];
  return { schemas, id: name, name, endpoint: `/${name}s`, schema };
}

export const resourceTypes = listOfAll([resourceType('User', userUrn), resourceType('Group', groupUrn)]);

interface Attribute {
  readonly name: string;
  readonly type?: 'string' | 'boolean' | 'complex' | 'reference';
  readonly isRequired?: boolean;
  readonly isUnique?: boolean;
  readonly isReadOnly?: boolean;
  readonly isMany?: boolean;
  readonly parts?: readonly Attribute[];
}

function attribute(one: Attribute): ScimObject {
  const { name, type = 'string', isRequired, isUnique, isReadOnly, isMany, parts } = one;
  return {
    name,
    type,
    multiValued: isMany === true,
    required: isRequired === true,
    caseExact: name === 'externalId',
    mutability: isReadOnly === true ? 'readOnly' : 'readWrite',
    returned: 'default',
    uniqueness: isUnique === true ? 'server' : 'none',
    ...(parts === undefined ? {} : { subAttributes: parts.map(attribute) }),
  };
}

function schema(id: string, name: string, attributes: readonly Attribute[]): ScimObject {
  const schemas = ['urn:ietf:params:scim:schemas:core:2.0:Schema'];
  return { schemas, id, name, attributes: attributes.map(attribute) };
}

const value: Attribute = { name: 'value' };
const reference: Attribute = { name: '$ref', type: 'reference', isReadOnly: true };

export const schemas = listOfAll([
  schema(userUrn, 'User', [
    { name: 'userName', isRequired: true, isUnique: true },
    { name: 'externalId' },
    { name: 'displayName' },
    {
      name: 'name',
      type: 'complex',
      parts: [{ name: 'formatted' }, { name: 'givenName' }, { name: 'familyName' }],
    },
    {
      name: 'emails',
      type: 'complex',
      isMany: true,
      parts: [value, { name: 'type' }, { name: 'primary', type: 'boolean' }],
    },
    { name: 'active', type: 'boolean' },
    {
      name: 'groups',
      type: 'complex',
      isMany: true,
      isReadOnly: true,
      parts: [value, { name: 'display' }, reference],
    },
  ]),
  schema(groupUrn, 'Group', [
    { name: 'displayName', isRequired: true, isUnique: true },
    { name: 'externalId' },
    { name: 'members', type: 'complex', isMany: true, parts: [value, { name: 'type' }, reference] },
  ]),
]);
