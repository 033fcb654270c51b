// People as the service knows them now, as far as votes and step-ups depend on them, independent of how
// people are stored.

import type { DocumentVersion } from '../../store/contract/grant-precondition.ts';

export interface CurrentPerson {
  readonly id: string;
  /** The version of the person's document, for decisions that rest on this person. */
  readonly version: DocumentVersion;
  /** False also when no such person exists. */
  readonly isActive: boolean;
  /** Groups that the person may approve for by their present roles. */
  readonly approvesFor: readonly string[];
  readonly isApprover: boolean;
  /** Whether the person's roles let them approve as the control owner of an agent. */
  readonly asOwner: boolean;
}

/** Returns a person for each id, by id, also for ids that belong to nobody. */
export type FindPeople = (ids: readonly string[]) => Promise<ReadonlyMap<string, CurrentPerson>>;
