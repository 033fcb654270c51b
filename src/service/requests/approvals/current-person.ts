// People as the service knows them now, as far as votes and step-ups depend on them, independent of how
// people are stored.

import type { PersonIdentity } from '../../../language/model/rule-requirement.ts';
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
  /** For whom the person may vote as their stand-in. */
  readonly standsInFor: readonly AbsentPerson[];
}

/** A person for whom somebody may vote now, for one group, and the documents on which that rests. */
export interface AbsentPerson {
  readonly group: string;
  readonly person: PersonIdentity & { readonly name: string };
  readonly documents: readonly DocumentVersion[];
}

/** The versions of all documents on which a decision rests that rests on these people. */
export function versionsOf(people: ReadonlyMap<string, CurrentPerson>): readonly DocumentVersion[] {
  return [...people.values()].flatMap(({ version, standsInFor }) => [
    version,
    ...standsInFor.flatMap(({ documents }) => documents),
  ]);
}

/** Returns a person for each id, by id, also for ids that belong to nobody. */
export type FindPeople = (ids: readonly string[]) => Promise<ReadonlyMap<string, CurrentPerson>>;
