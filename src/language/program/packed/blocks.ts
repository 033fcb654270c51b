// One part of a program (an action, or something that actions read) as bytes of its own: its content, the
// texts that the content names, and the hash of both. An action's rules follow one another, each with its
// length before it and its condition last, so that one rule, or its head alone, can be read without the
// others. INVARIANT: a block depends on its part alone, not on what else was packed before.

import type { MeterDefinition } from '../../model/metering.ts';
import { type ByteReader, ByteWriter } from '../../value/table/bytes.ts';
import type { ActionProgram, Condition, Digest, PlannedRule, RuleHead } from '../program.ts';
import { createTextPool, createValueWriter, readValue, type TextPool } from './values.ts';

export interface Block {
  readonly content: Uint8Array;
  /** The texts that the content names by number. */
  readonly texts: readonly string[];
  readonly hash: Uint8Array;
}

/** An action's block, with the facts that are needed to assemble a program. */
export interface ActionBlock extends Block {
  readonly rules: number;
  readonly lists: readonly string[];
  readonly tables: readonly string[];
  readonly hours: readonly string[];
  /** The definitions of the action's meters. */
  readonly definitions: readonly MeterDefinition[];
}

/** Everything about an action except its rules. */
export type ActionHeader = Omit<ActionProgram, 'action' | 'rules'>;

const effects = ['allow', 'deny', 'escalate', 'reauth', 'risk'] as const;
const effectMask = 0x07;
const ruleFlags = { isShadow: 0x08, readsRisk: 0x10, isNamedByPolicy: 0x20 } as const;

/** Used again for each block, because new buffers would cost more than what is written into them. */
const scratch = { block: new ByteWriter(), rule: new ByteWriter(), head: new ByteWriter() };

/** Packs any plain data as a block. */
export function packPart(part: unknown, digest: Digest): Block {
  const bytes = scratch.block;
  bytes.clear();
  const pool = createTextPool();
  createValueWriter(bytes, pool)(part);
  return finish(bytes, pool, digest);
}

/** The packed rules of an action, for the next block of the same action. Texts keep their numbers. */
export interface PackedRules {
  readonly pool: TextPool;
  /** The number of texts when all rules were last packed. */
  readonly textsAtFirst: number;
  /** The bytes of each rule. */
  readonly bytes: ReadonlyMap<PlannedRule, Uint8Array>;
}

/**
 * The margin for texts that no rule names any more. Above twice `textsAtFirst` plus this margin, all rules
 * are packed again.
 */
const textsGivenUpMax = 1_000;

/** Packs an action as a block. */
export function packAction(action: ActionProgram, digest: Digest): ActionBlock {
  return packRules(action, null, digest).block;
}

/**
 * Packs an action like `packAction`, but reuses the bytes of rules that were packed before. The hash then
 * also depends on the rules that were packed before.
 */
export function packRules(
  { shape, result, rules, lets, lists, tables, hours, meters, metering }: ActionProgram,
  before: PackedRules | null,
  digest: Digest,
): { readonly block: ActionBlock; readonly packed: PackedRules } {
  const isKept = before !== null && before.pool.texts.length <= 2 * before.textsAtFirst + textsGivenUpMax;
  const pool = isKept ? before.pool : createTextPool();
  const keptBytes = isKept ? before.bytes : none;
  const bytes = scratch.block;
  bytes.clear();
  const header: ActionHeader = { shape, result, lets, lists, tables, hours, meters, metering };
  createValueWriter(bytes, pool)(header);
  bytes.integer(rules.length);
  bytes.byte(flagsOf(rules));
  const pack = createRulePacker(pool);
  const packed = new Map(rules.map((rule) => [rule, keptBytes.get(rule) ?? pack(rule)] as const));
  for (const one of packed.values()) {
    bytes.integer(one.length);
    bytes.raw(one);
  }
  const definitions = metering?.entries.map(({ definition }) => definition) ?? [];
  const block = { ...finish(bytes, pool, digest), rules: rules.length, lists, tables, hours, definitions };
  const textsAtFirst = isKept ? before.textsAtFirst : pool.texts.length;
  return { block, packed: { pool, textsAtFirst, bytes: packed } };
}

const none: ReadonlyMap<PlannedRule, Uint8Array> = new Map();

function createRulePacker(pool: TextPool): (rule: PlannedRule) => Uint8Array {
  const { rule: ruleBytes, head: headBytes } = scratch;
  const writeToHead = createValueWriter(headBytes, pool);
  const writeToRule = createValueWriter(ruleBytes, pool);
  return (rule) => {
    headBytes.clear();
    writeHead(rule, headBytes, writeToHead);
    ruleBytes.clear();
    ruleBytes.append(headBytes);
    writeToRule(rule.condition);
    return ruleBytes.take();
  };
}

function flagsOf(rules: readonly PlannedRule[]): number {
  const shadow = rules.some(({ isShadow }) => isShadow) ? ruleFlags.isShadow : 0;
  return shadow | (rules.some((rule) => rule.readsRisk) ? ruleFlags.readsRisk : 0);
}

/** An action whose rules are left unread in the bytes. */
export interface ReadAction {
  readonly header: ActionHeader;
  /** Where each rule begins, and where the last rule ends. */
  readonly starts: Uint32Array;
  /** Whether any rule is a shadow rule, and (`hasAfterRisk`) whether any rule reads risk. */
  readonly hasShadow: boolean;
  readonly hasAfterRisk: boolean;
}

export function readAction(bytes: ByteReader, textAt: (index: number) => string): ReadAction {
  const header = readValue(bytes, textAt) as ActionHeader;
  const count = bytes.integer();
  const flags = bytes.byte();
  const starts = new Uint32Array(count + 1);
  for (let index = 0; index < count; index += 1) {
    const length = bytes.integer();
    starts[index] = bytes.at;
    bytes.at += length;
  }
  starts[count] = bytes.at;
  const hasShadow = (flags & ruleFlags.isShadow) !== 0;
  return { header, starts, hasShadow, hasAfterRisk: (flags & ruleFlags.readsRisk) !== 0 };
}

/** Reads the rule at the reader's position, without its condition. */
export function readHead(bytes: ByteReader, textAt: (index: number) => string): RuleHead {
  bytes.integer();
  const flags = bytes.byte();
  const policy = bytes.text();
  const name = readValue(bytes, textAt) as string;
  const points = readValue(bytes, textAt) as number;
  const reason = readValue(bytes, textAt) as RuleHead['reason'];
  const validForSeconds = readValue(bytes, textAt) as RuleHead['validForSeconds'];
  const requirement = readValue(bytes, textAt) as RuleHead['requirement'];
  return {
    id: (flags & ruleFlags.isNamedByPolicy) === 0 ? name : flat(`${policy}/${name}`),
    policy,
    effect: effects[flags & effectMask]!,
    isShadow: (flags & ruleFlags.isShadow) !== 0,
    points,
    readsRisk: (flags & ruleFlags.readsRisk) !== 0,
    reason,
    validForSeconds,
    requirement,
  };
}

/** Reads the condition of the rule at the reader's position. */
export function readCondition(bytes: ByteReader, textAt: (index: number) => string): Condition {
  const length = bytes.integer();
  bytes.at += length;
  return readValue(bytes, textAt) as Condition;
}

/** Whether the rule at the reader's position reads risk. */
export function readsRisk(bytes: ByteReader): boolean {
  bytes.integer();
  return (bytes.byte() & ruleFlags.readsRisk) !== 0;
}

/**
 * Makes the engine store a joined text as one piece. Until a joined text is examined, the engine keeps its
 * parts, which takes more memory.
 */
function flat(text: string): string {
  return text.at(-1) === undefined ? '' : text;
}

function writeHead(rule: PlannedRule, bytes: ByteWriter, write: (value: unknown) => void): void {
  const { id, policy } = rule;
  const isNamedByPolicy = id.startsWith(`${policy}/`);
  let flags: number = effects.indexOf(rule.effect);
  if (rule.isShadow) flags |= ruleFlags.isShadow;
  if (rule.readsRisk) flags |= ruleFlags.readsRisk;
  if (isNamedByPolicy) flags |= ruleFlags.isNamedByPolicy;
  bytes.byte(flags);
  // Few rules share a policy, so the policy's name is not worth a place in the pool.
  bytes.text(policy);
  write(isNamedByPolicy ? id.slice(policy.length + 1) : id);
  write(rule.points);
  write(rule.reason);
  write(rule.validForSeconds);
  write(rule.requirement);
}

function finish(bytes: ByteWriter, pool: TextPool, digest: Digest): Block {
  const content = bytes.take();
  for (const text of pool.texts) bytes.text(text);
  return { content, texts: [...pool.texts], hash: digest(bytes.written()) };
}
