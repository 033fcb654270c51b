// The word by which a decision asks the control owner of its agent instead of a group: a store finds what waits for somebody by
// it, and nobody belongs to a group of that name.

/** In the place of a group's name. */
export const askedOwner = 'owner';

/** Whom requests ask: people of these groups, and the control owner of their agent. */
export interface AskedPerson {
  readonly groups: readonly string[];
  /** The person as an agent may name its control owner; null leaves out what asks control owners. */
  readonly owner: { readonly id: string; readonly email: string } | null;
}
