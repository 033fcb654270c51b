// Random payloads of one kind of request. The values are constants of the policies, their neighbours, and the values at which
// conditions of the written policies change, so that both sides of each condition are met.

import type { Json, JsonObject } from '../../../language/model/json.ts';
import type { RandomSource } from '../../../language/value/random.ts';
import type { CedarAttributes, CedarEntityType, CedarType } from './cedar-schema.ts';
import {
  decimalMax,
  type Environment,
  entityFields,
  fieldsOf,
  idField,
  longMax,
  tagsField,
} from './environment.ts';

/** Values to choose from, by kind; ids of entities by their type. */
export interface Pools {
  readonly texts: readonly string[];
  readonly longs: readonly number[];
  readonly decimals: readonly number[];
  readonly instants: readonly string[];
  readonly durations: readonly string[];
  readonly addresses: readonly string[];
  readonly ids: ReadonlyMap<string, readonly string[]>;
  /** Values of single places in the payload. */
  readonly places: ReadonlyMap<string, readonly Json[]>;
}

export interface PayloadSource {
  readonly env: Environment;
  readonly random: RandomSource;
  readonly pools: Pools;
}

const idsInRequest = 3;

/** Few ids of each type, so that entities of one request are often the same. */
export function withFewIds(source: PayloadSource): PayloadSource {
  const { random, pools } = source;
  const ids = new Map(
    [...pools.ids].map(([type, all]) => [type, Array.from({ length: idsInRequest }, () => random.pick(all))]),
  );
  return { ...source, pools: { ...pools, ids } };
}

export function randomPayload(source: PayloadSource): JsonObject {
  const { action, principal, resource } = source.env;
  return {
    principal: randomEntity(source, principal, { path: 'payload.principal' }),
    resource: randomEntity(source, resource, { path: 'payload.resource' }),
    ...(action.context.size === 0
      ? {}
      : {
          context: randomRecord(source, action.context, {
            path: 'payload.context',
            fields: fieldsOf(action.context),
          }),
        }),
  };
}

/** The record of an entity; with a random id unless one is given. */
export function randomEntity(
  source: PayloadSource,
  type: CedarEntityType,
  { path, uid }: { readonly path: string; readonly uid?: string },
): JsonObject {
  const { env, random } = source;
  const { attributes, ancestors } = entityFields(env.schema, type);
  const groups = [...ancestors].map(([name, field]): [string, Json] => [
    field,
    random.some(idsOf(source, name), 0.4),
  ]);
  const tags = { type: type.tags, path: `${path}.${tagsField}` };
  return {
    [idField]: uid ?? atPlace(source, `${path}.${idField}`) ?? random.pick(idsOf(source, type.name)),
    ...randomRecord(source, type.attributes, { path, fields: attributes }),
    ...Object.fromEntries(groups),
    ...(tags.type === null ? {} : { [tagsField]: randomTags(source, tags.type, tags.path) }),
  };
}

function idsOf({ pools }: PayloadSource, type: string): readonly string[] {
  return pools.ids.get(type) ?? ['a'];
}

function atPlace({ random, pools }: PayloadSource, path: string): Json | undefined {
  const values = pools.places.get(path);
  return values !== undefined && values.length > 0 && random.chance(0.4) ? random.pick(values) : undefined;
}

function randomRecord(
  source: PayloadSource,
  attributes: CedarAttributes,
  { path, fields }: { readonly path: string; readonly fields: ReadonlyMap<string, string> },
): JsonObject {
  const entries = [...attributes].flatMap(([name, { type, isRequired }]): readonly [string, Json][] => {
    if (!isRequired && source.random.chance(0.35)) return [];
    const field = fields.get(name)!;
    return [[field, randomValue(source, type, `${path}.${field}`)]];
  });
  return Object.fromEntries(entries);
}

function randomTags(source: PayloadSource, type: CedarType, path: string): Json {
  const keys = new Set(source.random.some(source.pools.texts, Math.min(0.5, 3 / source.pools.texts.length)));
  return [...keys].map((key) => ({ key, value: randomValue(source, type, `${path}[]`) }));
}

function randomValue(source: PayloadSource, type: CedarType, path: string): Json {
  const { env, random, pools } = source;
  const known = type.kind === 'record' || type.kind === 'set' ? undefined : atPlace(source, path);
  if (known !== undefined && typeof known === typeof plainOf(type.kind)) return known;
  switch (type.kind) {
    case 'boolean':
      return random.chance(0.5);
    case 'string':
      return random.pick(pools.texts);
    case 'long':
      return random.pick(pools.longs);
    case 'decimal':
      return random.pick(pools.decimals);
    case 'datetime':
      return random.pick(pools.instants);
    case 'duration':
      return random.pick(pools.durations);
    case 'ip': {
      const value = String(atPlace(source, `${path}.value`) ?? random.pick(pools.addresses));
      return { value, is_ipv4: !value.includes(':') && random.chance(0.9) };
    }
    case 'set':
      return Array.from({ length: random.below(4) }, () => randomValue(source, type.element, `${path}[]`));
    case 'record':
      return randomRecord(source, type.attributes, { path, fields: fieldsOf(type.attributes) });
    case 'entity': {
      const entity = env.schema.entities.get(type.name);
      if (entity !== undefined && env.opened.has(path)) return randomEntity(source, entity, { path });
      return random.pick(idsOf(source, type.name));
    }
  }
}

/** A value of the JSON type that the payload has for a kind of Cedar. */
function plainOf(kind: CedarType['kind']): Json {
  switch (kind) {
    case 'boolean':
      return true;
    case 'long':
    case 'decimal':
      return 0;
    case 'set':
    case 'record':
    case 'ip':
      return {};
    case 'string':
    case 'datetime':
    case 'duration':
    case 'entity':
      return '';
  }
}

/** Numbers that the payload can have. */
export function isCarried(kind: 'long' | 'decimal', value: number): boolean {
  if (kind === 'long') return Number.isSafeInteger(value) && Math.abs(value) <= longMax;
  return Math.abs(value) <= decimalMax && Number(value.toFixed(4)) === value;
}
