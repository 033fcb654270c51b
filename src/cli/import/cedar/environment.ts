// The requests that a Cedar schema admits, as actions of Writ: one for each Cedar action with one type of principal and one of
// resource, so that each field has one type. The payload has the principal, the resource and the context as records.

import { memo } from '../../../language/value/memo.ts';
import type {
  CedarAction,
  CedarAttributes,
  CedarEntityType,
  CedarSchema,
  CedarType,
} from './cedar-schema.ts';
import { plain, text } from './texts.ts';

export interface Environment {
  /** The key of the action in the policies. */
  readonly key: string;
  readonly action: CedarAction;
  readonly principal: CedarEntityType;
  readonly resource: CedarEntityType;
  readonly schema: CedarSchema;
  /** Paths of entities whose attributes or memberships a policy reads; they are records, others are ids. */
  readonly opened: Set<string>;
}

/** The largest whole number, and its negation, that JSON carries exactly everywhere. */
export const longMax = 9_007_199_254_740_991;
/** The largest decimal with four digits behind the point, and its negation, that JSON carries exactly. */
export const decimalMax = 99_999_999_999.9999;

/** The named types of the policy file. */
const namedTypes = {
  long: `integer -${longMax}..${longMax}`,
  decimal: `number -${decimalMax}..${decimalMax}`,
  ip_address: '{ value: ip, is_ipv4: boolean }',
} as const;

export function environmentsOf(schema: CedarSchema): readonly Environment[] {
  const taken = new Map<string, number>();
  return schema.actions.flatMap((action) =>
    action.principals.flatMap((principalName) =>
      action.resources.flatMap((resourceName) => {
        const principal = schema.entities.get(principalName);
        const resource = schema.entities.get(resourceName);
        if (principal === undefined || resource === undefined) return [];
        const by = action.principals.length > 1 ? `${typeWord(schema, principalName)}.` : '';
        const wanted = `${by}${typeWord(schema, resourceName)}.${snakeCase(action.uid.id)}`;
        const count = (taken.get(wanted) ?? 0) + 1;
        taken.set(wanted, count);
        const key = count === 1 ? wanted : `${wanted}_${count}`;
        return [{ key, action, principal, resource, schema, opened: new Set<string>() }];
      }),
    ),
  );
}

/** `view_photo` for `viewPhoto`. */
function snakeCase(name: string): string {
  const words = name
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^_+|_+$/g, '');
  return /^[a-z]/.test(words) ? words : `x_${words}`;
}

/** A type's own name, with its namespace where two types share the name. */
function typeWord({ entities }: CedarSchema, name: string): string {
  const own = (full: string): string => snakeCase(full.split('::').at(-1) ?? full);
  const isShared = [...entities.keys()].some((other) => other !== name && own(other) === own(name));
  return isShared ? snakeCase(name) : own(name);
}

// ---- fields

/** The field of each attribute: the attribute's name, with other characters than letters and digits replaced by `_`. */
export function fieldsOf(attributes: CedarAttributes): ReadonlyMap<string, string> {
  return memo(fieldsOfRecords, attributes, () => namedFields(attributes, []));
}

const fieldsOfRecords = new WeakMap<CedarAttributes, ReadonlyMap<string, string>>();

function namedFields(attributes: CedarAttributes, reserved: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set(reserved);
  return new Map(
    [...attributes.keys()].map((attribute) => {
      const plain = attribute.replaceAll(/[^A-Za-z0-9_]/g, '_').replace(/^(?=\d|$)/, '_');
      let field = plain;
      for (let at = 2; taken.has(field); at += 1) field = `${plain}_${at}`;
      taken.add(field);
      return [attribute, field];
    }),
  );
}

/** The fields of an entity's record. */
export interface EntityFields {
  readonly attributes: ReadonlyMap<string, string>;
  /** By type, the field with the ids of the entities that it is in. */
  readonly ancestors: ReadonlyMap<string, string>;
}

/** The field of an entity's id, and that of its tags. */
export const [idField, tagsField] = ['uid', 'tags'];

const fieldsOfEntities = new WeakMap<CedarEntityType, EntityFields>();

export function entityFields(schema: CedarSchema, type: CedarEntityType): EntityFields {
  return memo(fieldsOfEntities, type, () => createEntityFields(schema, type));
}

function createEntityFields(
  schema: CedarSchema,
  { attributes, ancestors, tags }: CedarEntityType,
): EntityFields {
  const memberships = new Map(ancestors.map((name) => [name, `in_${typeWord(schema, name)}`]));
  return {
    attributes: namedFields(attributes, [
      idField,
      ...(tags === null ? [] : [tagsField]),
      ...memberships.values(),
    ]),
    ancestors: memberships,
  };
}

// ---- declarations

export interface Declarations {
  readonly types: readonly { readonly name: string; readonly type: string }[];
  readonly actions: readonly { readonly key: string; readonly title: string; readonly payload: string }[];
}

/** Texts of declared types, by name, as they are found. */
type NamedTexts = Map<string, string>;

/** The types and actions of the policy file, as the policies open entities. */
export function declarationsOf(environments: readonly Environment[]): Declarations {
  const named: NamedTexts = new Map();
  const actions = environments.map((env) => ({
    key: env.key,
    title: `${plain(env.action.uid.id)} {resource.${idField}} as {principal.${idField}}`,
    payload: payloadText({ env, named }),
  }));
  return { types: [...named].map(([name, type]) => ({ name, type })), actions };
}

interface DeclarationScope {
  readonly env: Environment;
  readonly named: NamedTexts;
}

function payloadText(scope: DeclarationScope): string {
  const { action, principal, resource } = scope.env;
  return [
    `principal: ${entityText(scope, principal, 'payload.principal')}`,
    `resource: ${entityText(scope, resource, 'payload.resource')}`,
    ...(action.context.size === 0
      ? []
      : [`context: ${recordText(scope, action.context, 'payload.context')}`]),
  ].join('\n');
}

/** The name of the entity's type; each different record of a type has a name of its own. */
function entityText(scope: DeclarationScope, type: CedarEntityType, path: string): string {
  const { schema } = scope.env;
  const { attributes, ancestors } = entityFields(schema, type);
  const { tags } = type;
  const lines = [
    `${idField}: ${idText(type)}`,
    ...attributeTexts(scope, type.attributes, { path, fields: attributes }),
    ...[...ancestors.values()].map((field) => `${field}: [string]`),
    ...(tags === null
      ? []
      : [`${tagsField}: [{ key: string, value: ${typeText(scope, tags, `${path}[]`)} }]`]),
  ];
  return nameOf(scope.named, `${typeWord(schema, type.name)}_entity`, `{ ${lines.join('\n')} }`);
}

function nameOf(named: NamedTexts, wanted: string, type: string): string {
  let name = wanted;
  for (let at = 2; named.has(name) && named.get(name) !== type; at += 1) name = `${wanted}_${at}`;
  named.set(name, type);
  return name;
}

function idText({ ids }: CedarEntityType): string {
  return ids === null ? 'string' : ids.map(text).join(' | ');
}

function recordText(scope: DeclarationScope, attributes: CedarAttributes, path: string): string {
  const lines = attributeTexts(scope, attributes, { path, fields: fieldsOf(attributes) });
  return `{ ${lines.join('\n')} }`;
}

function attributeTexts(
  scope: DeclarationScope,
  attributes: CedarAttributes,
  { path, fields }: { readonly path: string; readonly fields: ReadonlyMap<string, string> },
): readonly string[] {
  return [...attributes].map(([name, { type, isRequired }]) => {
    const field = fields.get(name)!;
    return `${field}${isRequired ? '' : '?'}: ${typeText(scope, type, `${path}.${field}`)}`;
  });
}

function typeText(scope: DeclarationScope, type: CedarType, path: string): string {
  const { env, named } = scope;
  switch (type.kind) {
    case 'boolean':
    case 'string':
      return type.kind;
    case 'long':
    case 'decimal':
      return nameOf(named, type.kind, namedTypes[type.kind]);
    case 'ip':
      return nameOf(named, 'ip_address', namedTypes.ip_address);
    case 'datetime':
      return 'timestamp';
    case 'duration':
      return 'string';
    case 'set':
      return type.element.kind === 'set' ? '[any]' : `[${typeText(scope, type.element, `${path}[]`)}]`;
    case 'record':
      return recordText(scope, type.attributes, path);
    case 'entity': {
      const entity = env.schema.entities.get(type.name);
      if (entity === undefined) return 'string';
      return env.opened.has(path) ? entityText(scope, entity, path) : idText(entity);
    }
  }
}
