// The word that stands for an agent's control owner where a decision otherwise names an approval group. A
// store finds the requests that wait for a control owner by this word, and nobody belongs to a group of that
// name.

/** Takes the place of a group's name. */
export const askedOwner = 'owner';

/**
 * A person whom requests may ask: as a member of approval groups, or as control owner of the agent that sent
 * them.
 */
export interface ApproverIdentity {
  readonly groups: readonly string[];
  /** How agents may name the person as control owner; null leaves out requests that ask control owners. */
  readonly owner: { readonly id: string; readonly email: string } | null;
}
