// Turns the entities of an AuthZEN question into an action and a payload. The action is the declared one of
// that name, or else `TYPE.NAME` with the type of the resource. An action that declares `subject`,
// `resource`, `action` or `context` gets these entities; any other action gets the properties of resource and
// action as its arguments. INVARIANT: nothing of the protocol itself reaches a policy.

import { createHash } from 'node:crypto';
import type { ActivePolicies } from '../../../../language/model/active-policies.ts';
import type { JsonObject } from '../../../../language/model/json.ts';
import type { Shape } from '../../../../language/model/type.ts';
import { canonicalJson } from '../../../store/contract/canonical-json.ts';
import type { JsonSchema } from '../../contract/operation.ts';

interface Entity {
  readonly type: string;
  readonly id: string;
  readonly properties?: JsonObject;
}

export interface Entities {
  readonly subject: Entity;
  readonly action: { readonly name: string; readonly properties?: JsonObject };
  readonly resource: Entity;
  readonly context?: JsonObject;
}

const filled = { type: 'string', minLength: 1 } as const;
const properties = { type: 'object', additionalProperties: true } as const;

/** The schema of an entity; unknown members are ignored. */
const entitySchema = (required: readonly string[]): JsonSchema => ({
  type: 'object',
  required,
  properties: { type: filled, id: filled, properties },
});

const actionSchema: JsonSchema = {
  type: 'object',
  required: ['name'],
  properties: { name: filled, properties },
};

export const entitySchemas = {
  subject: entitySchema(['type', 'id']),
  action: actionSchema,
  resource: entitySchema(['type', 'id']),
  context: properties,
} as const;

export const entitiesSchema: JsonSchema = {
  type: 'object',
  required: ['subject', 'action', 'resource'],
  properties: entitySchemas,
};

export const entitiesExample = {
  subject: { type: 'user', id: 'alice' },
  action: { name: 'read' },
  resource: { type: 'record', id: 'record-1' },
};

export interface EvaluatedCall {
  readonly actionKey: string;
  readonly payload: JsonObject;
  /**
   * Turns a place in the payload into the place in the entities where its value was sent; both are JSON
   * pointers (RFC 6901).
   */
  readonly pointerOf: (pointer: string) => string;
}

/** The action and the payload that the entities ask for; null when two entities give the same property. */
export function callOfEntities(
  entities: Entities,
  policies: Pick<ActivePolicies, 'shapeOf'>,
): EvaluatedCall | null {
  const { action, resource } = entities;
  const isNamed = policies.shapeOf(action.name) !== null;
  const actionKey = isNamed ? action.name : `${resource.type}.${action.name}`;
  const shape = policies.shapeOf(actionKey);
  const payload = shape === null ? {} : payloadOf(entities, shape);
  if (payload === null) return null;
  const pointerOf = (pointer: string) =>
    shape === null || isOfEntities(shape) ? pointer : argumentPointer(entities, shape, pointer);
  return { actionKey, payload, pointerOf };
}

/**
 * The place of an argument in the entities. A property that neither entity has counts as missing from the
 * resource.
 */
function argumentPointer({ action }: Entities, { fields }: Shape, pointer: string): string {
  const [name = ''] = pointer.slice(1).split('/');
  if (name === 'id' && fields.some((field) => field.name === 'id')) return '/resource/id';
  const owner = Object.hasOwn(action.properties ?? {}, unescaped(name)) ? 'action' : 'resource';
  return `/${owner}/properties${pointer}`;
}

function unescaped(token: string): string {
  return token.replaceAll('~1', '/').replaceAll('~0', '~');
}

const entityNames = ['subject', 'resource', 'action', 'context'] as const;

function isOfEntities({ fields }: Shape): boolean {
  return fields.some(({ name }) => entityNames.some((entity) => entity === name));
}

function payloadOf(entities: Entities, shape: Shape): JsonObject | null {
  const declared = new Set(shape.fields.map(({ name }) => name));
  if (!isOfEntities(shape)) return argumentsOf(entities, declared);
  const asked: Readonly<Record<string, unknown>> = {
    ...entities,
    context: withoutProtocol(entities.context),
  };
  const given = entityNames.filter((name) => declared.has(name) && asked[name] !== undefined);
  return Object.fromEntries(given.map((name) => [name, asked[name]])) as JsonObject;
}

function argumentsOf({ resource, action }: Entities, declared: ReadonlySet<string>): JsonObject | null {
  const entries = [
    ...Object.entries(resource.properties ?? {}),
    ...Object.entries(action.properties ?? {}),
    ...(declared.has('id') ? [['id', resource.id] as const] : []),
  ];
  const payload = Object.fromEntries(entries);
  return Object.keys(payload).length === entries.length ? payload : null;
}

/** Members of a context that belong to the protocol, or tell why access is wanted. */
const protocolMembers = [
  'access_request',
  'approval',
  'business_justification',
  'evaluated_at',
  'evaluation_id',
  'reason',
  'supported_obligations',
];

function withoutProtocol(context: JsonObject | undefined): JsonObject | undefined {
  if (context === undefined) return undefined;
  const ownEntries = Object.entries(context).filter(([name]) => !protocolMembers.includes(name));
  return ownEntries.length === 0 ? undefined : Object.fromEntries(ownEntries);
}

/**
 * SHA-256, in hexadecimal, of all entities, whether policies read them or not; members of the protocol are
 * left out.
 */
export function entitiesDigest({ subject, action, resource, context }: Entities): string {
  const entityOf = ({ type, id, properties = {} }: Entity) => ({ type, id, properties });
  const { name, properties = {} } = action;
  const question = {
    subject: entityOf(subject),
    action: { name, properties },
    resource: entityOf(resource),
    context: withoutProtocol(context) ?? {},
  };
  return createHash('sha256').update(canonicalJson(question)).digest('hex');
}
