// Everything a decision depends on besides the policy set. A fact that is not there is unknown, never empty.

import type { Decimal } from '../value/decimal.ts';
import type { JsonObject } from './json.ts';

export interface Facts {
  readonly action: string;
  readonly payload: JsonObject;
  readonly agent: AgentFacts;
  readonly request: RequestFacts;
  /** Milliseconds since 1970-01-01T00:00Z; a whole number, or NaN where it is not known. */
  readonly nowMs: number;
  /** By meter name, in the meter's currency where it has one. */
  readonly meters: Readonly<Record<string, Reading>>;
  readonly satisfied: Satisfied;
  /** Rows of pushed tables; absent where none of them is known. */
  readonly rows?: PushedRows;
  /** Told of each row that is read and of which nothing is known. */
  readonly onRowUnknown?: (table: string, key: string) => void;
  /** What the call has returned; absent where it is not known, or not yet. Only meters read it. */
  readonly result?: JsonObject;
}

/** Rows of pushed tables, each without its key. */
export interface PushedRows {
  /** By table and key; null where there is no such row. */
  readonly given: Readonly<Record<string, Readonly<Record<string, JsonObject | null>>>>;
  /** Whether there are no others; else nothing is known of those that are not given. */
  readonly areAll: boolean;
}

/** Null where there is no such row, undefined where that is not known, which is told to who wants to know. */
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

/** Those that are there, for where no others are. */
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
  /** The name of the enforcement point by which the agent asks; absent where it asks by itself. */
  readonly point?: string;
  /** The person on whose behalf the agent asks; known from a verified token alone. */
  readonly user?: UserFacts;
}

export const userAttributes = ['id', 'email', 'roles', 'groups'] as const;

export interface UserFacts {
  /** As the issuer names the person. */
  readonly id?: string;
  readonly email?: string;
  readonly roles?: readonly string[];
  readonly groups?: readonly string[];
}

/** What stands at a path such as `agent.tags`, `request.user.id` or `meters.paid`; undefined where it is unknown. */
export function factAt(facts: Pick<Facts, 'agent' | 'request' | 'meters'>, path: string): unknown {
  return valueAt(facts, path.split('.'));
}

/** What stands behind the steps through records; undefined where one of them leads nowhere. */
export function valueAt(from: unknown, steps: readonly string[]): unknown {
  let value = from;
  for (const step of steps) {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    value = Object.hasOwn(value, step) ? (value as Readonly<Record<string, unknown>>)[step] : undefined;
  }
  return value;
}

/** Without and with the requests that are pending; both include the current request. */
export interface Reading {
  readonly low: Decimal;
  readonly high: Decimal;
}

/** Ids (`policy/rule`) of the rules whose requirement has been met. */
export interface Satisfied {
  readonly escalate: readonly string[];
  readonly reauth: readonly string[];
}

export const nothingSatisfied: Satisfied = { escalate: [], reauth: [] };
