// Turns a payload into the Cedar request that it stands for. INVARIANT: both say the same: an entity that a payload shows at
// several places has the same attributes at each of them, and its memberships are those that Cedar finds.

import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';
import type { CedarAttributes, CedarEntityType, CedarType } from './cedar-schema.ts';
import type { CedarEntity, CedarEntityId, CedarRequest } from './cedar-wasm.ts';
import { entityFields, fieldsOf, idField, tagsField } from './environment.ts';
import { type PayloadSource, randomEntity } from './payload-values.ts';

export interface RequestOfBoth {
  readonly cedar: CedarRequest;
  readonly payload: JsonObject;
}

interface Builder extends PayloadSource {
  /** The first record of each entity, by its type and id. */
  readonly records: Map<string, JsonObject>;
  /** The direct memberships. */
  readonly parents: Map<string, Set<string>>;
  /** The entities as Cedar gets them. */
  readonly built: Map<string, Omit<CedarEntity, 'parents'>>;
}

/** What a payload may lack, such as an entity at a further place, is drawn. */
export function requestOf(source: PayloadSource, drawn: JsonObject): RequestOfBoth {
  const { env } = source;
  const builder: Builder = { ...source, records: new Map(), parents: new Map(), built: new Map() };
  const { action } = env;
  const principal = idIn(drawn.principal);
  const resource = idIn(drawn.resource);
  keep(builder, env.principal, drawn.principal);
  keep(builder, env.resource, drawn.resource);
  const context = convertRecord(builder, action.context, {
    json: drawn.context,
    path: 'payload.context',
    fields: fieldsOf(action.context),
  });
  const shown = {
    principal: expand(builder, env.principal, { uid: principal, path: 'payload.principal' }),
    resource: expand(builder, env.resource, { uid: resource, path: 'payload.resource' }),
  };
  return {
    payload: withMemberships(builder, {
      ...shown,
      ...(action.context.size === 0 ? {} : { context: context.json }),
    }) as JsonObject,
    cedar: {
      principal: { type: env.principal.name, id: principal },
      action: action.uid,
      resource: { type: env.resource.name, id: resource },
      context: context.cedar,
      entities: [...entitiesOf(builder), { uid: action.uid, attrs: {}, parents: action.groups }],
    },
  };
}

function keyOf(type: string, id: string): string {
  return JSON.stringify([type, id]);
}

function uidOf(key: string): CedarEntityId {
  const [type, id] = JSON.parse(key) as [string, string];
  return { type, id };
}

function idIn(json: Json | undefined): string {
  if (typeof json === 'string') return json;
  const uid = isJsonObject(json) ? json[idField] : undefined;
  return typeof uid === 'string' ? uid : '';
}

/** Keeps the record of an entity, unless there is one already, and its memberships. */
function keep(builder: Builder, type: CedarEntityType, json: Json | undefined): void {
  if (!isJsonObject(json)) return;
  const key = keyOf(type.name, idIn(json));
  if (builder.records.has(key)) return;
  builder.records.set(key, json);
  for (const [name, field] of entityFields(builder.env.schema, type).ancestors)
    for (const id of Array.isArray(json[field]) ? json[field] : [])
      if (typeof id === 'string') addMembership(builder, type, { child: key, parent: keyOf(name, id) });
}

/** A membership is direct, or through another group of the entity; one that would be a circle is left out. */
function addMembership(
  builder: Builder,
  type: CedarEntityType,
  { child, parent }: { readonly child: string; readonly parent: string },
): void {
  const { env, random, parents } = builder;
  const target = uidOf(parent).type;
  const between = [...ancestorsOf(builder, child)].filter((one) =>
    env.schema.entities.get(uidOf(one).type)?.memberOf.includes(target),
  );
  const isDirect = type.memberOf.includes(target);
  const from = between.length > 0 && (!isDirect || random.chance(0.3)) ? random.pick(between) : child;
  if ((from === child && !isDirect) || from === parent || ancestorsOf(builder, parent).has(from)) return;
  parents.set(from, (parents.get(from) ?? new Set()).add(parent));
}

function ancestorsOf({ parents }: Builder, key: string): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (one: string): void => {
    for (const parent of parents.get(one) ?? []) {
      if (found.has(parent)) continue;
      found.add(parent);
      visit(parent);
    }
  };
  visit(key);
  return found;
}

interface EntityPlace {
  readonly uid: string;
  readonly path: string;
}

/** Stands for memberships until all are known. */
const membershipsField = '@memberships';

/** The record of an entity at a place of the payload. */
function expand(builder: Builder, type: CedarEntityType, { uid, path }: EntityPlace): JsonObject {
  const key = keyOf(type.name, uid);
  if (!builder.records.has(key)) keep(builder, type, randomEntity(builder, type, { path, uid }));
  const json = builder.records.get(key)!;
  const { attributes } = entityFields(builder.env.schema, type);
  const record = convertRecord(builder, type.attributes, { json, path, fields: attributes });
  const tags =
    type.tags === null
      ? null
      : convertTags(builder, type.tags, { json: json[tagsField], path: `${path}.${tagsField}` });
  builder.built.set(key, {
    uid: { type: type.name, id: uid },
    attrs: record.cedar,
    ...(tags === null ? {} : { tags: tags.cedar }),
  });
  return {
    [idField]: uid,
    ...record.json,
    [membershipsField]: key,
    ...(tags === null ? {} : { [tagsField]: tags.json }),
  };
}

interface Converted<J, C> {
  readonly json: J;
  readonly cedar: C;
}

interface JsonPlace {
  readonly json: Json | undefined;
  readonly path: string;
}

function convertRecord(
  builder: Builder,
  attributes: CedarAttributes,
  { json, path, fields }: JsonPlace & { readonly fields: ReadonlyMap<string, string> },
): Converted<JsonObject, Record<string, unknown>> {
  const source = isJsonObject(json) ? json : {};
  const converted = [...attributes].flatMap(([name, { type }]) => {
    const field = fields.get(name)!;
    const value = source[field];
    if (value === undefined) return [];
    return [{ name, field, ...convert(builder, type, { json: value, path: `${path}.${field}` }) }];
  });
  return {
    json: Object.fromEntries(converted.map(({ field, json: own }) => [field, own])),
    cedar: Object.fromEntries(converted.map(({ name, cedar }) => [name, cedar])),
  };
}

function convertTags(
  builder: Builder,
  type: CedarType,
  { json, path }: JsonPlace,
): Converted<Json, Record<string, unknown>> {
  const all = (Array.isArray(json) ? json : []).filter(isJsonObject);
  const unique = new Map(all.map(({ key, value }) => [String(key), value as Json]));
  const converted = [...unique].map(([key, value]) => ({
    key,
    ...convert(builder, type, { json: value, path: `${path}[]` }),
  }));
  return {
    json: converted.map(({ key, json: own }) => ({ key, value: own })),
    cedar: Object.fromEntries(converted.map(({ key, cedar }) => [key, cedar])),
  };
}

const durationShape = /^-?(?=\d)(?:\d+d)?(?:\d+h)?(?:\d+m)?(?:\d+s)?(?:\d+ms)?$/;

function convert(
  builder: Builder,
  type: CedarType,
  { json, path }: { readonly json: Json; readonly path: string },
): Converted<Json, unknown> {
  const extension = (fn: string, arg: string): unknown => ({ __extn: { fn, arg } });
  switch (type.kind) {
    case 'boolean':
    case 'long':
    case 'string':
      return { json, cedar: json };
    case 'decimal':
      return { json: Number(Number(json).toFixed(4)), cedar: extension('decimal', Number(json).toFixed(4)) };
    case 'datetime': {
      const instant = new Date(String(json)).toISOString();
      return { json: instant, cedar: extension('datetime', instant) };
    }
    case 'duration': {
      const duration = durationShape.test(String(json)) ? String(json) : '1h';
      return { json: duration, cedar: extension('duration', duration) };
    }
    case 'ip':
      return convertAddress(json, extension);
    case 'set': {
      const items = (Array.isArray(json) ? json : []).map((one) =>
        convert(builder, type.element, { json: one, path: `${path}[]` }),
      );
      return { json: items.map((one) => one.json), cedar: items.map(({ cedar }) => cedar) };
    }
    case 'record':
      return convertRecord(builder, type.attributes, { json, path, fields: fieldsOf(type.attributes) });
    case 'entity':
      return convertEntity(builder, type.name, { json, path });
  }
}

/** An IPv4 address that is none by `is_ipv4` is the IPv4-mapped address. */
function convertAddress(
  json: Json,
  extension: (fn: string, arg: string) => unknown,
): Converted<Json, unknown> {
  const { value, is_ipv4: isIpv4 } = isJsonObject(json) ? json : {};
  const address = String(value);
  const written = address.includes('.') && isIpv4 === false ? mappedText(address) : address;
  return { json: { value: written, is_ipv4: !written.includes(':') }, cedar: extension('ip', written) };
}

function mappedText(address: string): string {
  const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number);
  return `::ffff:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}`;
}

function convertEntity(builder: Builder, name: string, { json, path }: JsonPlace): Converted<Json, unknown> {
  const uid = idIn(json);
  const cedar = { __entity: { type: name, id: uid } };
  const type = builder.env.schema.entities.get(name);
  if (type === undefined || !builder.env.opened.has(path)) return { json: uid, cedar };
  keep(builder, type, json);
  return { json: expand(builder, type, { uid, path }), cedar };
}

/** The payload with the memberships of its entities. */
function withMemberships(builder: Builder, json: Json): Json {
  if (Array.isArray(json)) return json.map((one) => withMemberships(builder, one));
  if (!isJsonObject(json)) return json;
  const entries = Object.entries(json).flatMap(([name, value]): readonly [string, Json][] => {
    if (name !== membershipsField) return [[name, withMemberships(builder, value)]];
    const type = builder.env.schema.entities.get(uidOf(String(value)).type);
    if (type === undefined) return [];
    const groups = [...ancestorsOf(builder, String(value))].map(uidOf);
    return [...entityFields(builder.env.schema, type).ancestors].map(([group, field]) => [
      field,
      groups.filter((one) => one.type === group).map(({ id }) => id),
    ]);
  });
  return Object.fromEntries(entries);
}

function entitiesOf({ built, parents }: Builder): readonly CedarEntity[] {
  const others = [...parents.keys()].filter((key) => !built.has(key));
  return [
    ...[...built].map(([key, one]) => ({ ...one, parents: [...(parents.get(key) ?? [])].map(uidOf) })),
    ...others.map((key) => ({
      uid: uidOf(key),
      attrs: {},
      parents: [...(parents.get(key) ?? [])].map(uidOf),
    })),
  ];
}
