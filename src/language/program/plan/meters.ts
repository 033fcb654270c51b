// Turns the meters of a policy set into what an action's requests add to them, and into the definitions that
// identify them. INVARIANT: two meters have one definition only if every request adds the same to both. Names
// and places in files make no difference; lets, lists and hours count by their content.

import { canonicalMeaning } from '../../model/canonical.ts';
import { elementsOf } from '../../model/children.ts';
import type { Expression, FactName, FactRead, TextList } from '../../model/expression.ts';
import type { MeterDefinition } from '../../model/metering.ts';
import type { Action, Meter, MeterKey, PolicySet } from '../../model/policy.ts';
import { anyText, booleanType, listOf, type Type } from '../../model/type.ts';
import { ByteWriter, hexOf } from '../../value/table/bytes.ts';
import { definite } from '../condition.ts';
import type { ActionMetering, CountedEntry, Digest, PlannedEntry } from '../program.ts';
import { createTranslation, type Translation } from './translate.ts';

/** The meters of a set in the form that planning an action needs. */
interface SetMeters {
  /**
   * Returns the meters that count requests of the action or start anew with them, in the order of their
   * names.
   */
  of(action: string): readonly Meter[];
  definition(meter: Meter): MeterDefinition;
}

/** A set whose actions are being planned, one after the other. */
export interface SetPlan {
  readonly set: PolicySet;
  readonly meters: SetMeters;
}

export function createPlanning(set: PolicySet, digest: Digest): SetPlan {
  return { set, meters: createSetMeters(set, digest) };
}

/** Returns the definition of each meter, by name. */
export function meterDefinitions(set: PolicySet, digest: Digest): ReadonlyMap<string, MeterDefinition> {
  const { definition } = createSetMeters(set, digest);
  return new Map([...set.meters].map(([name, meter]) => [name, definition(meter)]));
}

function createSetMeters(set: PolicySet, digest: Digest): SetMeters {
  const byAction = new Map<string, Meter[]>();
  for (const meter of set.meters.values()) {
    for (const action of [...meter.actions, ...meter.since]) {
      const others = byAction.get(action) ?? [];
      byAction.set(action, others);
      others.push(meter);
    }
  }
  const definitions = new Map<Meter, MeterDefinition>();
  return {
    of: (action) => byAction.get(action) ?? [],
    definition: (meter) => {
      const definition = definitions.get(meter) ?? define(meter, { set, digest });
      definitions.set(meter, definition);
      return definition;
    },
  };
}

interface MeterContext {
  readonly set: PolicySet;
  readonly digest: Digest;
}

function define(meter: Meter, ctx: MeterContext): MeterDefinition {
  const { name: _, type: __, since, readsResult, ...meaning } = meter;
  const whole = since.length === 0 ? meaning : { ...meaning, since };
  return {
    id: digestOf(canonicalMeaning(resolved(whole, ctx)), ctx.digest),
    aggregate: meter.aggregate === 'distinct' ? 'values' : 'amounts',
    over: meter.over,
    ...(readsResult ? { readsResult } : {}),
  };
}

/** Replaces the names in a part by the content of what they name. */
function resolved(part: unknown, ctx: MeterContext): unknown {
  if (Array.isArray(part)) return part.map((element) => resolved(element, ctx));
  if (typeof part !== 'object' || part === null) return part;
  const node = part as Partial<Expression> & Readonly<Record<string, unknown>>;
  switch (node.kind) {
    case 'let':
      return { kind: 'let', value: resolved(ctx.set.lets.get(node.id as string)?.expression, ctx) };
    // The id of a meter, which its counts are kept by, does not depend on how a list is kept in memory.
    case 'text-list':
      return resolvedParts({ kind: 'list', elements: elementsOf(node as TextList), type: node.type }, ctx);
    case 'in-hours':
      return { ...resolvedParts(node, ctx), hours: ctx.set.hours.get(node.hours as string) };
    default:
      return typeof node.list === 'string'
        ? { ...resolvedParts(node, ctx), list: listDigest(ctx, node.list) }
        : resolvedParts(node, ctx);
  }
}

/** Leaves places and types unchanged: places have no meaning, and types name nothing. */
function resolvedParts(
  node: Readonly<Record<string, unknown>>,
  ctx: MeterContext,
): Readonly<Record<string, unknown>> {
  const parts = Object.entries(node).map(([key, part]) => [
    key,
    key === 'type' || key === 'span' ? part : resolved(part, ctx),
  ]);
  return Object.fromEntries(parts);
}

/**
 * The digests of lists. Lists are long, and compilation keeps the object of a list whose text is unchanged.
 */
const listDigests = new WeakMap<object, string>();

function listDigest({ set, digest }: MeterContext, name: string): string {
  const list = set.lists.get(name);
  if (list === undefined) return '';
  const before = listDigests.get(list);
  if (before !== undefined) return before;
  const { name: _, ...content } = list;
  const made = digestOf(canonicalMeaning(content), digest);
  listDigests.set(list, made);
  return made;
}

/** Returns the digest of a text in hexadecimal. */
function digestOf(text: string, digest: Digest): string {
  const bytes = new ByteWriter(text.length);
  bytes.units(text);
  return hexOf(digest(bytes.take()));
}

/** Returns a text of everything about meters that the action's part of the program depends on. */
export function meteringContent({ set, meters }: SetPlan, action: string, read: readonly string[]): string {
  const counting = meters.of(action).map((meter) => meters.definition(meter).id);
  const reading = read.map((name) => {
    const meter = set.meters.get(name);
    return meter === undefined ? name : `${name} ${meters.definition(meter).id}`;
  });
  return JSON.stringify([counting, reading]);
}

/** The action's part of the meters, and the translation in which it was made. */
export interface PlannedMetering {
  readonly metering: ActionMetering;
  readonly translation: Translation;
}

/**
 * Plans the action's part of the meters; null when no meter counts or reads its requests. `read` are the
 * names of the meters that the action's rules read, sorted.
 */
export function planMetering(
  { set, meters }: SetPlan,
  action: Action,
  read: readonly string[],
): PlannedMetering | null {
  const counting = meters.of(action.key);
  if (counting.length === 0 && read.length === 0) return null;
  const translation = createTranslation(set, action);
  const entries = new Map<string, PlannedEntry>();
  for (const meter of counting) {
    const definition = meters.definition(meter);
    if (!entries.has(definition.id))
      entries.set(definition.id, entryOf(meter, definition, { action, translation }));
  }
  for (const name of read) {
    const meter = set.meters.get(name)!;
    const definition = meters.definition(meter);
    const entry = entries.get(definition.id) ?? {
      definition,
      names: [],
      keys: keysOf(meter, translation),
      counted: null,
    };
    entries.set(definition.id, { ...entry, names: [...entry.names, name] });
  }
  const sorted = [...entries.values()].sort((a, b) => (a.definition.id < b.definition.id ? -1 : 1));
  return { metering: { entries: sorted, lets: translation.lets }, translation };
}

interface EntryContext {
  readonly action: Action;
  readonly translation: Translation;
}

function entryOf(
  meter: Meter,
  definition: MeterDefinition,
  { action, translation }: EntryContext,
): PlannedEntry {
  const counted = meter.since.includes(action.key) ? 'anew' : countedEntry(meter, translation);
  return { definition, names: [], keys: keysOf(meter, translation), counted };
}

function countedEntry({ when, argument, currency }: Meter, translation: Translation): CountedEntry {
  return {
    when: when === null ? definite(true) : translation.condition(when),
    argument: argument === null ? null : translation.term(argument),
    currency: typeof currency === 'string' ? currency : null,
  };
}

function keysOf({ per }: Meter, translation: Translation) {
  return per.map((key) => translation.term(keyExpression(key)));
}

const facts = {
  agent: 'agent.id',
  owner: 'agent.control_owner',
  session: 'request.session',
  user: 'request.user.id',
} as const satisfies Record<Exclude<MeterKey['kind'], 'payload' | 'delegate'>, FactName>;

const nowhere = { file: '', start: 0, end: 0 };

/** Returns what follows `per` as an expression. */
function keyExpression(key: MeterKey): Expression {
  if (key.kind === 'payload') return key.read;
  return key.kind === 'delegate' ? firstDelegate : factRead(facts[key.kind], anyText);
}

function factRead(fact: FactName, type: Type): FactRead {
  return { kind: 'fact', fact, type, span: nowhere };
}

/** The first delegation of the chain; the empty text where the agent asks by itself. */
const firstDelegate: Expression = {
  kind: 'if',
  condition: factRead('request.delegated', booleanType),
  whenTrue: {
    kind: 'call',
    builtin: 'first',
    args: [factRead('request.chain', listOf(anyText))],
    type: anyText,
    span: nowhere,
  },
  otherwise: { kind: 'literal', value: '', type: anyText, span: nowhere },
  type: anyText,
  span: nowhere,
};
