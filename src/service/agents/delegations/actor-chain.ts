// Turns the claim `act` of a token (RFC 8693, section 4.1) into the chain by which the request comes: the actor
// of the innermost claim was first, the actor of the outermost one asks now. INVARIANT: each actor adds a link,
// and a link is one more guard, so a chain never gets more than the agent; a token with an actor that its
// identity does not name gives no chain, and is refused as a whole.

import { hash } from 'node:crypto';
import { linksMax } from '../../../language/model/delegation.ts';
import { type IdentityActor, identityKeyPrefix, type ReadIdentity } from '../identities/identity.ts';
import type { ActingChain, ActingLink } from './delegation.ts';

export type ActorChain =
  | { readonly kind: 'none' }
  | { readonly kind: 'chain'; readonly chain: ActingChain }
  | { readonly kind: 'refused'; readonly detail: string };

export function actorChain(identity: ReadIdentity, act: unknown): ActorChain {
  if (act === undefined) return { kind: 'none' };
  const subjects = subjectsOf(act, identity.value.issuer);
  if (subjects === null)
    return { kind: 'refused', detail: `the claim \`act\` is not one to ${linksMax} actors of the issuer` };
  const byName = new Map(identity.value.actors.map((actor) => [actor.subject, actor]));
  const actors = subjects.map((subject) => byName.get(subject));
  if (!actors.every((actor) => actor !== undefined))
    return { kind: 'refused', detail: 'the claim `act` names an actor that the identity does not know' };
  return { kind: 'chain', chain: { links: linksOf(identity, actors), session: null } };
}

/** The actors, the first one first; null when the claim is malformed, too deep, or of another issuer. */
function subjectsOf(act: unknown, issuer: string): readonly string[] | null {
  const subjects: string[] = [];
  for (let at: unknown = act; at !== undefined; ) {
    if (typeof at !== 'object' || at === null || Array.isArray(at)) return null;
    const { sub, iss, act: inner } = at as Readonly<Record<string, unknown>>;
    if (typeof sub !== 'string' || sub === '' || (iss !== undefined && iss !== issuer)) return null;
    if (subjects.length === linksMax) return null;
    subjects.unshift(sub);
    at = inner;
  }
  return subjects;
}

/**
 * The links. Their ids differ by the whole way to them, so that one sub-agent never finds the requests of
 * another.
 */
function linksOf(
  { value: { id }, version }: ReadIdentity,
  actors: readonly IdentityActor[],
): readonly ActingLink[] {
  return actors.map(({ name, actions }, at) => {
    const way = JSON.stringify(actors.slice(0, at + 1).map(({ subject }) => subject));
    const linkId = `${identityKeyPrefix}${id}:${hash('sha256', way, 'hex').slice(0, 16)}`;
    return { id: linkId, name, actions, when: null, uses: null, version };
  });
}
