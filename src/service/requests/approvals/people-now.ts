// People as the service knows them now, as far as votes and step-ups depend on it, independent of how they are stored.

import type { SeenDocument } from '../../store/contract/grant-basis.ts';

export interface PersonNow {
  readonly id: string;
  /** What a decision that rests on this person saw of them. */
  readonly seen: SeenDocument;
  /** False where there is no such person. */
  readonly isActive: boolean;
  /** Groups for which they may approve by their roles of now. */
  readonly approvesFor: readonly string[];
  readonly isApprover: boolean;
  /** Whether their roles let them approve as the control owner of an agent. */
  readonly asOwner: boolean;
}

/** One for each id, by id; also for those who are not there. */
export type FindPeople = (ids: readonly string[]) => Promise<ReadonlyMap<string, PersonNow>>;
