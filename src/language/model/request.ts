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
