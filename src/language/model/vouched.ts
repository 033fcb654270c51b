// Who vouches for what is signed: the agent by the signature of its request, an enforcement point by asking for the agent with
// a key of its own. INVARIANT: what several have to vouch for is known only where all of them do.

import type { RequestFacts } from './request.ts';

/** A slot, or a read that passes some. */
interface Vouching {
  readonly isSigned: boolean;
  readonly signers?: readonly string[];
}

/** Stands for the agent's own signature among names of points, none of which is empty. */
export const agentSigner = '';

/** Names of points, and `agentSigner`; none where nobody has to vouch. */
export function signersOf({ isSigned, signers }: Vouching): readonly string[] {
  return isSigned ? (signers ?? [agentSigner]) : [];
}

export function isVouched(vouching: Vouching, { signed, point }: RequestFacts): boolean {
  return signersOf(vouching).every((signer) => (signer === agentSigner ? signed === true : signer === point));
}

/** What stands in a slot within another, or beside it. */
export function allSigners(...vouching: readonly Vouching[]): Vouching {
  const signers = [...new Set(vouching.flatMap(signersOf))].sort();
  if (signers.length === 0) return { isSigned: false };
  return signers.length === 1 && signers[0] === agentSigner
    ? { isSigned: true }
    : { isSigned: true, signers };
}

/** Behind the key of what is signed; empty where it is not. */
export function signedMark(vouching: Vouching): string {
  const signers = signersOf(vouching);
  const points = signers.filter((signer) => signer !== agentSigner);
  return `${signers.length > points.length ? ' signed' : ''}${points.map((point) => ` signed by ${JSON.stringify(point)}`).join('')}`;
}
