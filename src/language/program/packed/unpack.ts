// Reads a packed program in place: an action's head, one rule's head, or one condition at a time. Nothing is
// read before it is needed, and no trees are kept; only texts and shapes are kept, each once. INVARIANT: what
// is read equals what was packed.

import { canonical } from '../../model/canonical.ts';
import type { MeterDefinition } from '../../model/metering.ts';
import type { List, Table } from '../../model/policy.ts';
import type { Shape } from '../../model/type.ts';
import type { Hours } from '../../value/hours.ts';
import { ByteReader, hexOf } from '../../value/table/bytes.ts';
import type { RuleIndex } from '../index/rule-index.ts';
import type { ActionProgram, Condition, PlannedRule, Program, RuleHead } from '../program.ts';
import { type ActionHeader, readAction, readCondition, readHead, readsRisk } from './blocks.ts';
import type { PackedBlocks, PackedProgram } from './packed.ts';
import { readValue } from './values.ts';

/** An action whose rules are read one by one. */
export interface OpenAction extends ActionHeader {
  readonly action: string;
  readonly ruleCount: number;
  /** Whether any rule is a shadow rule, and (`hasAfterRisk`) whether any rule reads risk. */
  readonly hasShadow: boolean;
  readonly hasAfterRisk: boolean;
  /** The content hash of the action in hexadecimal. Equal parts have equal hashes. */
  readonly hash: string;
  head(index: number): RuleHead;
  condition(index: number): Condition;
  readsRisk(index: number): boolean;
  /** Reads a whole rule. */
  rule(index: number): PlannedRule;
}

/** A program whose actions are read each time they are needed. */
export interface OpenProgram extends Program {
  readonly ruleCount: number;
  readonly meters: readonly MeterDefinition[];
  open(action: string): OpenAction | null;
  /** Returns the keys of the actions that have enough rules for an index to be made with the program. */
  indexed(): Iterable<string>;
  /** Returns the index that was made with the program; null when the action has none. */
  index(action: string): RuleIndex | null;
  /**
   * The content hash of a list, in hexadecimal; the next two do the same for tables and hours. Equal parts
   * have equal hashes.
   */
  listHash(name: string): string;
  tableHash(name: string): string;
  hoursHash(name: string): string;
}

export function unpack(packed: PackedProgram): OpenProgram {
  const texts = createTexts(packed);
  const [actions, lists, tables, hours, indexes] = (
    ['actions', 'lists', 'tables', 'hours', 'indexes'] as const
  ).map((part) => createBlocks(packed[part], texts)) as [Blocks, Blocks, Blocks, Blocks, Blocks];
  const shapes = new Map<string, Shape>();
  const shareShape = (shape: Shape): Shape => {
    const form = canonical(shape);
    const shared = shapes.get(form) ?? shape;
    shapes.set(form, shared);
    return shared;
  };

  const open = (action: string): OpenAction | null => {
    const at = actions.find(action);
    return at === null
      ? null
      : new ActionReader(actions.block(at), { action, hash: actions.hash(at), shareShape });
  };
  const whole = (action: string): ActionProgram | undefined => {
    const opened = open(action);
    return opened === null ? undefined : wholeAction(opened);
  };
  const partOf = (blocks: Blocks, name: string): unknown => {
    const at = blocks.find(name);
    if (at === null) return undefined;
    const { bytes, textAt } = blocks.block(at);
    return readValue(bytes, textAt);
  };
  const hashOf = (blocks: Blocks, name: string): string => {
    const at = blocks.find(name);
    return at === null ? '' : blocks.hash(at);
  };

  return {
    ruleCount: packed.rules,
    meters: packed.meters,
    actions: lazyMap(actions, whole),
    lists: lazyMap(
      lists,
      memoizedByName((name) => partOf(lists, name) as List | undefined),
    ),
    tables: lazyMap(
      tables,
      memoizedByName((name) => partOf(tables, name) as Table | undefined),
    ),
    hours: lazyMap(
      hours,
      memoizedByName((name) => partOf(hours, name) as Hours | undefined),
    ),
    open,
    indexed: () => lazyMap(indexes, () => undefined).keys(),
    index: (action) => (partOf(indexes, action) as RuleIndex | undefined) ?? null,
    listHash: (name) => hashOf(lists, name),
    tableHash: (name) => hashOf(tables, name),
    hoursHash: (name) => hashOf(hours, name),
  };
}

/** Reads a whole action, as it was planned. */
export function wholeAction(opened: OpenAction): ActionProgram {
  const { action, shape, result, lets, lists, tables, hours, meters, metering, ruleCount } = opened;
  const rules = Array.from({ length: ruleCount }, (_, index) => opened.rule(index));
  return { action, shape, result, rules, lets, lists, tables, hours, meters, metering };
}

interface OpenBlock {
  readonly bytes: ByteReader;
  readonly textAt: (index: number) => string;
}

/** Reads one action. A class, because its methods read the bytes of that action in several ways. */
class ActionReader implements OpenAction {
  readonly action: string;
  readonly hash: string;
  readonly shape: Shape;
  readonly result: Shape | null;
  readonly lets: ActionHeader['lets'];
  readonly lists: readonly string[];
  readonly tables: readonly string[];
  readonly hours: readonly string[];
  readonly meters: readonly string[];
  readonly metering: ActionHeader['metering'];
  readonly hasShadow: boolean;
  readonly hasAfterRisk: boolean;
  readonly #starts: Uint32Array;
  readonly #bytes: Uint8Array;
  readonly #textAt: OpenBlock['textAt'];

  constructor({ bytes, textAt }: OpenBlock, { action, hash, shareShape }: ActionOrigin) {
    const { header, starts, hasShadow, hasAfterRisk } = readAction(bytes, textAt);
    this.action = action;
    this.hash = hash;
    this.shape = shareShape(header.shape);
    this.result = header.result && shareShape(header.result);
    this.lets = header.lets;
    this.lists = header.lists;
    this.tables = header.tables;
    this.hours = header.hours;
    this.meters = header.meters;
    this.metering = header.metering;
    this.hasShadow = hasShadow;
    this.hasAfterRisk = hasAfterRisk;
    this.#starts = starts;
    this.#bytes = bytes.bytes;
    this.#textAt = textAt;
  }

  get ruleCount(): number {
    return this.#starts.length - 1;
  }

  head(index: number): RuleHead {
    return readHead(this.#at(index), this.#textAt);
  }

  condition(place: number): Condition {
    return readCondition(this.#at(place), this.#textAt);
  }

  readsRisk(place: number): boolean {
    return readsRisk(this.#at(place));
  }

  rule(place: number): PlannedRule {
    return { ...this.head(place), condition: this.condition(place) };
  }

  #at(place: number): ByteReader {
    return new ByteReader(this.#bytes, this.#starts[place]!);
  }
}

interface ActionOrigin {
  readonly action: string;
  readonly hash: string;
  /** Returns one object for equal shapes, because most actions of a set have one of few shapes. */
  readonly shareShape: (shape: Shape) => Shape;
}

/** Gives access to the texts by number. Each text is made once. */
function createTexts({ texts: { bytes, ends } }: PackedProgram): Texts {
  const texts: (string | undefined)[] = [];
  const start = (id: number): number => (id === 0 ? 0 : ends[id - 1]!);
  return {
    text: (id) => {
      const before = texts[id];
      if (before !== undefined) return before;
      const text = new ByteReader(bytes, start(id)).textUpTo(ends[id]!);
      texts[id] = text;
      return text;
    },
    compare: (text, id) => {
      const reader = new ByteReader(bytes, start(id));
      const end = ends[id]!;
      for (let at = 0; at < text.length; at += 1) {
        if (reader.at === end) return 1;
        const difference = text.charCodeAt(at) - reader.integer();
        if (difference !== 0) return difference;
      }
      return reader.at - end;
    },
  };
}

interface Texts {
  text(id: number): string;
  /**
   * Compares a text with the text of this number, code unit by code unit: negative when the text comes first.
   * Makes no text that is kept.
   */
  compare(text: string, id: number): number;
}

interface Blocks {
  readonly size: number;
  /** Returns the block's number; null when there is no such name. */
  find(name: string): number | null;
  name(at: number): string;
  hash(at: number): string;
  block(at: number): OpenBlock;
}

function createBlocks(packed: PackedBlocks, texts: Texts): Blocks {
  const { names, starts, poolStarts, hashes, bytes, pools } = packed;
  const poolOf = (at: number): Uint32Array => {
    const reader = new ByteReader(pools, poolStarts[at]!);
    const ids: number[] = [];
    for (let id = 0; reader.at < poolStarts[at + 1]!; ids.push(id)) id += reader.signed();
    return Uint32Array.from(ids);
  };
  return {
    size: names.length,
    find: (name) => {
      let [low, high] = [0, names.length - 1];
      while (low <= high) {
        const middle = (low + high) >>> 1;
        const order = texts.compare(name, names[middle]!);
        if (order === 0) return middle;
        if (order < 0) high = middle - 1;
        else low = middle + 1;
      }
      return null;
    },
    name: (at) => texts.text(names[at]!),
    hash: (at) => hexOf(hashes.subarray(32 * at, 32 * at + 32)),
    block: (at) => {
      const ids = poolOf(at);
      return { bytes: new ByteReader(bytes, starts[at]!), textAt: (index) => texts.text(ids[index]!) };
    },
  };
}

/** Returns a function that makes each value once, because many rules ask for the same list. */
function memoizedByName<T>(make: (name: string) => T | undefined): (name: string) => T | undefined {
  const byKey = new Map<string, T | undefined>();
  return (name) => {
    if (!byKey.has(name)) byKey.set(name, make(name));
    return byKey.get(name);
  };
}

/** Returns a map whose values are made each time they are needed. */
function lazyMap<T>(blocks: Blocks, make: (name: string) => T | undefined): ReadonlyMap<string, T> {
  function* names(): MapIterator<string> {
    for (let at = 0; at < blocks.size; at += 1) yield blocks.name(at);
  }
  function* entries(): MapIterator<[string, T]> {
    for (const name of names()) yield [name, make(name)!];
  }
  function* values(): MapIterator<T> {
    for (const name of names()) yield make(name)!;
  }
  return {
    size: blocks.size,
    has: (name) => blocks.find(name) !== null,
    get: (name) => (blocks.find(name) === null ? undefined : make(name)),
    keys: names,
    values,
    entries,
    [Symbol.iterator]: entries,
    forEach(visit) {
      for (const [name, value] of entries()) visit(value, name, this);
    },
  };
}
