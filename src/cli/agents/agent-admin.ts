// The operations of `writ agent`, which the store of a data directory and a running service both offer.

import type { KillSwitch } from '../../api/applicable-kill-switch.ts';
import type { DelegationView } from '../../service/agents/delegations/delegation-view.ts';
import type { IdentityDraft } from '../../service/agents/identities/change-identity.ts';
import type { IdentityView } from '../../service/agents/identities/identity-view.ts';
import type { AgentStatus, SigningMode } from '../../service/store/contract/records.ts';
import type { AgentView, KeyView } from './text.ts';

/**
 * The operations of `writ agent`. Each takes an agent's name or id, and rejects with an error that the
 * command prints.
 */
export interface AgentAdmin {
  list(): Promise<readonly AgentView[]>;
  /** Returns the kill switches that are on. */
  killSwitches(): Promise<readonly KillSwitch[]>;
  add(draft: DraftView): Promise<{ readonly agent: AgentView; readonly apiKey: string }>;
  show(name: string): Promise<{ readonly agent: AgentView; readonly keys: readonly KeyView[] }>;
  setStatus(
    name: string,
    status: AgentStatus,
  ): Promise<{ readonly agent: AgentView; readonly isChanged: boolean }>;
  /** Sets the agent's rate. An undefined field does not change; null restores the service's default. */
  setRate(name: string, rate: RateView): Promise<AgentView>;
  /** Sets whether refusals tell the agent what change would pass. */
  setTelling(name: string, tellsChange: boolean): Promise<AgentView>;
  rotate(name: string, graceMs: number): Promise<KeyRotation>;
  /** What the agent and its sub-agents have delegated, the latest first. */
  delegations(name: string): Promise<readonly DelegationView[]>;
  /** Revokes the delegation with this id, and everything below it. */
  revokeDelegation(id: string): Promise<DelegationView>;
  /** The identities of the agent, the latest first. */
  identities(name: string): Promise<readonly IdentityView[]>;
  mapIdentity(name: string, draft: IdentityDraft): Promise<IdentityView>;
  removeIdentity(name: string, id: string): Promise<IdentityView>;
  sign(
    name: string,
    signing: { readonly mode: SigningMode; readonly isSecretNew: boolean },
  ): Promise<SigningSecret>;
}

export interface DraftView {
  readonly name: string;
  readonly riskTier: string;
  readonly controlOwner: string;
  readonly tags: readonly string[];
}

export interface RateView {
  readonly ratePerMinute: number | null | undefined;
  readonly burst: number | null | undefined;
}

export interface KeyRotation {
  readonly agent: AgentView;
  readonly apiKey: string;
  readonly oldKeyNotAfter: string;
}

export interface SigningSecret {
  readonly agent: AgentView;
  /** The new signing secret; null when the operation made none. */
  readonly signingSecret: string | null;
}
