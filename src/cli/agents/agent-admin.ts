// The operations of `writ agent`, which the store of a data directory and a running service both offer.

import type { AgentStatus, SigningMode } from '../../service/store/contract/records.ts';
import type { ShownAgent, ShownKey } from './text.ts';

/**
 * The operations of `writ agent`. Each takes an agent's name or id, and rejects with an error that the
 * command prints.
 */
export interface AgentAdmin {
  list(): Promise<readonly ShownAgent[]>;
  add(draft: ShownDraft): Promise<{ readonly agent: ShownAgent; readonly apiKey: string }>;
  show(name: string): Promise<{ readonly agent: ShownAgent; readonly keys: readonly ShownKey[] }>;
  setStatus(
    name: string,
    status: AgentStatus,
  ): Promise<{ readonly agent: ShownAgent; readonly isChanged: boolean }>;
  /** Sets the agent's rate. An undefined field does not change; null restores the service's default. */
  setRate(name: string, rate: ShownRate): Promise<ShownAgent>;
  /** Sets whether refusals tell the agent what change would pass. */
  setTelling(name: string, tellsChange: boolean): Promise<ShownAgent>;
  rotate(name: string, graceMs: number): Promise<KeyRotation>;
  sign(
    name: string,
    signing: { readonly mode: SigningMode; readonly isSecretNew: boolean },
  ): Promise<SigningSecret>;
}

export interface ShownDraft {
  readonly name: string;
  readonly riskTier: string;
  readonly controlOwner: string;
  readonly tags: readonly string[];
}

export interface ShownRate {
  readonly ratePerMinute: number | null | undefined;
  readonly burst: number | null | undefined;
}

export interface KeyRotation {
  readonly agent: ShownAgent;
  readonly apiKey: string;
  readonly oldKeyNotAfter: string;
}

export interface SigningSecret {
  readonly agent: ShownAgent;
  /** The new signing secret; null when the operation made none. */
  readonly signingSecret: string | null;
}
