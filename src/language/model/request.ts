// Everything that a decision depends on besides the policy set. A fact that is absent is unknown, never
// empty.

import type { Decimal } from '../value/decimal.ts';
import type { JsonObject } from './json.ts';

export interface Facts {
  readonly action: string;
  readonly payload: JsonObject;
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  /** The time of the decision, in whole milliseconds since 1970-01-01T00:00Z; NaN when unknown. */
  readonly nowMs: number;
  /** Readings by meter name, in the meter's currency if it has one. */
  readonly meters: Readonly<Record<string, MeterReading>>;
  readonly satisfied: MetRequirements;
  /** Rows of pushed tables; absent when no row is known. */
  readonly rows?: PushedRows;
  /** Called with each row that a rule reads but that is unknown. */
  readonly onRowUnknown?: (table: string, key: string) => void;
  /** What the call returned; absent when unknown, or not returned yet. Only meters read the result. */
  readonly result?: JsonObject;
}

/** Rows of pushed tables, each without its key. */
export interface PushedRows {
  /** Rows by table and key; null for a row that does not exist. */
  readonly given: Readonly<Record<string, Readonly<Record<string, JsonObject | null>>>>;
  /** Whether all other rows are absent; when false, rows that are not given are unknown. */
  readonly areAll: boolean;
}

/**
 * Returns a row; null when it does not exist, undefined when it is unknown, in which case `onRowUnknown` is
 * called.
 */
export function pushedRow(
  { rows, onRowUnknown }: Pick<Facts, 'rows' | 'onRowUnknown'>,
  table: string,
  key: string,
): JsonObject | null | undefined {
  const ofTable = rows !== undefined && Object.hasOwn(rows.given, table) ? rows.given[table]! : {};
  if (Object.hasOwn(ofTable, key)) return ofTable[key];
  if (rows?.areAll === true) return null;
  onRowUnknown?.(table, key);
  return undefined;
}

/** Returns the rows that exist, for formats in which all other rows are absent. */
export function presentRows({ given }: PushedRows): Readonly<Record<string, JsonObject>> {
  const tables = Object.entries(given).map(([table, rows]) => {
    const present = Object.entries(rows).filter((entry): entry is [string, JsonObject] => entry[1] !== null);
    return [table, Object.fromEntries(present)] as const;
  });
  return Object.fromEntries(tables);
}

export const riskTiers = ['low', 'medium', 'high', 'critical'] as const;
export type RiskTier = (typeof riskTiers)[number];

export interface AgentFacts {
  readonly id?: string;
  readonly name?: string;
  readonly risk_tier?: RiskTier;
  readonly control_owner?: string;
  readonly tags?: readonly string[];
}

export interface RequestFacts {
  readonly ip?: string;
  readonly signed?: boolean;
  readonly session?: string;
  /** The name of the enforcement point that asks for the agent; absent when the agent asks itself. */
  readonly point?: string;
  /** The names of the delegations by which a sub-agent asks; absent when the agent asks itself. */
  readonly chain?: readonly string[];
  /** The person on whose behalf the agent asks; known only from a verified token. */
  readonly user?: UserFacts;
}

/** The names of the delegations by which a request comes; always known, and empty for most requests. */
export function chainOf({ chain }: RequestFacts): readonly string[] {
  return chain ?? noChain;
}

const noChain: readonly string[] = Object.freeze([]);

export const userAttributes = ['id', 'email', 'roles', 'groups'] as const;

export interface UserFacts {
  /** The id by which the token's issuer names the person. */
  readonly id?: string;
  readonly email?: string;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

/**
 * Returns the fact at a path such as `agent.tags`, `request.user.id` or `meters.paid`; undefined when
 * unknown.
 */
export function factAt(facts: Pick<Facts, 'agent' | 'request' | 'meters'>, path: string): unknown {
  switch (path) {
    case 'request.delegated':
      return chainOf(facts.request).length > 0;
    case 'request.delegate':
      return chainOf(facts.request).at(-1);
    case 'request.chain':
      return chainOf(facts.request);
    default:
      return valueAt(facts, path.split('.'));
  }
}

/** Returns the value behind steps through records; undefined when a step leads nowhere. */
export function valueAt(from: unknown, steps: readonly string[]): unknown {
  let value = from;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, step) ? (value as Readonly<Record<string, unknown>>)[step] : undefined;
  }
  return value;
}

/**
 * The least and the most that a meter can read, because pending requests may or may not be granted. Both ends
 * include the current request.
 */
export interface MeterReading {
  readonly low: Decimal;
  readonly high: Decimal;
}

/** Ids (`policy/rule`) of the rules whose requirement has been met. */
export interface MetRequirements {
  readonly escalate: readonly string[];
  readonly reauth: readonly string[];
  /**
   * The standing approvals under which rules of `escalate` are met: ids by rule; absent when there are none.
   */
  readonly standing?: Readonly<Record<string, string>>;
}

export const nothingSatisfied: MetRequirements = { escalate: [], reauth: [] };
