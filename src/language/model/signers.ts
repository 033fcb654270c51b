// Who vouches for signed values: the agent by the signature of its request, an enforcement point by asking
// for the agent with the point's own key. INVARIANT: a value for which several must vouch is known only when
// all of them do.

import type { RequestFacts } from './request.ts';

/** A slot, or a read that passes slots. */
interface SignedSlot {
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
}

/** Stands for the agent's own signature among the names of points, none of which is empty. */
export const agentSigner = '';

/** Returns the names of points, and `agentSigner`, that must vouch; an empty list when nobody must. */
export function signersOf({ isSigned, signers }: SignedSlot): readonly string[] {
  return isSigned ? (signers ?? [agentSigner]) : [];
}

export function isVouched(vouching: SignedSlot, { signed, point }: RequestFacts): boolean {
  return signersOf(vouching).every((signer) => (signer === agentSigner ? signed === true : signer === point));
}

const unsigned: SignedSlot = { isSigned: false };

/** Combines the signers of several slots, for a slot within another or beside it. */
export function allSigners(...vouching: readonly SignedSlot[]): SignedSlot {
  if (vouching.every(({ isSigned }) => !isSigned)) return unsigned;
  const signers = [...new Set(vouching.flatMap(signersOf))].sort();
  return signers.length === 1 && signers[0] === agentSigner
    ? { isSigned: true }
    : { isSigned: true, signers };
}

/** Returns the text that is appended to the key of a signed read; empty when the read is not signed. */
export function signedMark(vouching: SignedSlot): string {
  const signers = signersOf(vouching);
  const points = signers.filter((signer) => signer !== agentSigner);
  return `${signers.length > points.length ? ' signed' : ''}${points.map((point) => ` signed by ${JSON.stringify(point)}`).join('')}`;
}
