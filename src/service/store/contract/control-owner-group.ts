// The reserved name that represents an agent's control owner in the list of approval groups of a decision. A
// store finds requests for a control owner by this name, and nobody belongs to a group of that name.

/** Takes the place of a group's name. */
export const controlOwnerGroup = 'owner';

/**
 * A person whom requests may ask: as a member of approval groups, or as control owner of the agent that sent
 * them.
 */
export interface ApproverIdentity {
  readonly groups: readonly string[];
  /**
   * How agents may name the person as control owner, and policies as approver; null leaves out requests that
   * ask control owners, or people by name.
   */
  readonly owner: { readonly id: string; readonly email: string } | null;
}
