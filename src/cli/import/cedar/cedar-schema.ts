// Turns a Cedar schema into plain types: the attributes of each type of entity, and for each action the types of principals and
// resources with its context. INVARIANT: each name is the full one, with its namespace, and common types are replaced.

import { isJsonObject, type JsonObject } from '../../../language/model/json.ts';
import { SettingsError } from '../host-settings.ts';
import { type Cedar, type CedarEntityId, problemText } from './cedar-wasm.ts';

export type CedarType =
  | { readonly kind: 'boolean' | 'long' | 'string' | 'decimal' | 'ip' | 'datetime' | 'duration' }
  | { readonly kind: 'set'; readonly element: CedarType }
  | { readonly kind: 'record'; readonly attributes: CedarAttributes }
  | { readonly kind: 'entity'; readonly name: string };

export interface CedarAttribute {
  readonly type: CedarType;
  readonly isRequired: boolean;
}

export type CedarAttributes = ReadonlyMap<string, CedarAttribute>;

export interface CedarEntityType {
  readonly name: string;
  readonly attributes: CedarAttributes;
  /** The types of which an entity may be a direct member. */
  readonly memberOf: readonly string[];
  /** Those types, and the types of which their entities may be members. */
  readonly ancestors: readonly string[];
  /** The type of its tags; null for a type without tags. */
  readonly tags: CedarType | null;
  /** The ids of a type that lists its entities; null for any other. */
  readonly ids: readonly string[] | null;
}

export interface CedarAction {
  readonly uid: CedarEntityId;
  /** The actions of which it is a member, directly or not. */
  readonly groups: readonly CedarEntityId[];
  readonly principals: readonly string[];
  readonly resources: readonly string[];
  readonly context: CedarAttributes;
}

export interface CedarSchema {
  /** The schema in Cedar's own format. */
  readonly text: string;
  readonly entities: ReadonlyMap<string, CedarEntityType>;
  readonly actions: readonly CedarAction[];
}

/** Reads a schema in Cedar's format, or in JSON. */
export function readCedarSchema(cedar: Cedar, source: string): CedarSchema {
  const text = source.trimStart().startsWith('{') ? textOfJson(cedar, source) : source;
  const answer = cedar.schemaToJsonWithResolvedTypes(text);
  if (answer.type === 'failure') throw new SettingsError(problemText(answer.errors));
  const spaces = Object.entries(answer.json).map(([name, space]) => ({ name, space: objectOf(space) }));
  const common = new Map(
    spaces.flatMap(({ name, space }) =>
      Object.entries(objectOf(space.commonTypes)).map(
        ([own, type]) => [qualified(name, own), objectOf(type)] as const,
      ),
    ),
  );
  const entities = entityTypes(spaces, common);
  return { text, entities, actions: spaces.flatMap((one) => actionsOf(one, common)) };
}

function textOfJson(cedar: Cedar, source: string): string {
  const answer = cedar.schemaToText(parsedJson(source));
  if (answer.type === 'failure') throw new SettingsError(problemText(answer.errors));
  return answer.text;
}

function parsedJson(source: string): object {
  try {
    return objectOf(JSON.parse(source));
  } catch (error) {
    throw new SettingsError((error as Error).message);
  }
}

interface Namespace {
  readonly name: string;
  readonly space: JsonObject;
}

type CommonTypes = ReadonlyMap<string, JsonObject>;

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}

function qualified(namespace: string, name: string): string {
  return namespace === '' ? name : `${namespace}::${name}`;
}

function entityTypes(spaces: readonly Namespace[], common: CommonTypes): CedarSchema['entities'] {
  const all = spaces.flatMap(({ name, space }) =>
    Object.entries(objectOf(space.entityTypes)).map(([own, value]) => {
      const type = objectOf(value);
      return {
        name: qualified(name, own),
        attributes: attributesIn(type.shape, common),
        memberOf: textsOf(type.memberOfTypes),
        tags: type.tags === undefined ? null : typeOf(objectOf(type.tags), common),
        ids: Array.isArray(type.enum) ? textsOf(type.enum) : null,
      };
    }),
  );
  const parents = new Map(all.map(({ name, memberOf }) => [name, memberOf]));
  return new Map(
    all.map((one) => [one.name, { ...one, ancestors: reachable(one.memberOf, (name) => parents.get(name)) }]),
  );
}

/** The values, and all that can be reached from them, each once. */
function reachable(from: readonly string[], next: (one: string) => readonly string[] | undefined): string[] {
  const found = new Set<string>();
  const visit = (one: string): void => {
    if (found.has(one)) return;
    found.add(one);
    for (const further of next(one) ?? []) visit(further);
  };
  for (const one of from) visit(one);
  return [...found];
}

function actionsOf({ name, space }: Namespace, common: CommonTypes): readonly CedarAction[] {
  const own = objectOf(space.actions);
  const parentsOf = (key: string): readonly string[] => {
    const { type, id } = JSON.parse(key) as CedarEntityId;
    if (type !== qualified(name, 'Action')) return [];
    const { memberOf } = objectOf(own[id]);
    return (Array.isArray(memberOf) ? memberOf : []).map((one) => {
      const parent = objectOf(one);
      return JSON.stringify({ type: parent.type ?? qualified(name, 'Action'), id: parent.id });
    });
  };
  return Object.entries(own).map(([id, value]) => {
    const uid = { type: qualified(name, 'Action'), id };
    const applies = objectOf(objectOf(value).appliesTo);
    return {
      uid,
      groups: reachable(parentsOf(JSON.stringify(uid)), parentsOf).map(
        (key) => JSON.parse(key) as CedarEntityId,
      ),
      principals: textsOf(applies.principalTypes),
      resources: textsOf(applies.resourceTypes),
      context: attributesIn(applies.context, common),
    };
  });
}

function attributesIn(value: unknown, common: CommonTypes): CedarAttributes {
  if (value === undefined) return new Map();
  const type = typeOf(objectOf(value), common);
  return type.kind === 'record' ? type.attributes : new Map();
}

const builtIn: Readonly<Record<string, CedarType>> = {
  Bool: { kind: 'boolean' },
  Boolean: { kind: 'boolean' },
  Long: { kind: 'long' },
  String: { kind: 'string' },
  decimal: { kind: 'decimal' },
  ipaddr: { kind: 'ip' },
  datetime: { kind: 'datetime' },
  duration: { kind: 'duration' },
};

function typeOf(json: JsonObject, common: CommonTypes): CedarType {
  const { type, name } = json;
  switch (type) {
    case 'Set':
      return { kind: 'set', element: typeOf(objectOf(json.element), common) };
    case 'Record':
      return {
        kind: 'record',
        attributes: new Map(
          Object.entries(objectOf(json.attributes)).map(([attribute, value]) => {
            const one = objectOf(value);
            return [attribute, { type: typeOf(one, common), isRequired: one.required !== false }];
          }),
        ),
      };
    case 'Entity':
      return { kind: 'entity', name: String(name) };
    case 'Extension':
      return namedType(String(name), common);
    default:
      return namedType(String(type), common);
  }
}

function namedType(name: string, common: CommonTypes): CedarType {
  const declared = common.get(name);
  if (declared !== undefined) return typeOf(declared, common);
  const found = builtIn[name.replace(/^__cedar::/, '')];
  if (found === undefined) throw new SettingsError(`the type \`${name}\` is not known`);
  return found;
}
