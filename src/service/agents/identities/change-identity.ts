// Adds and ends identities of agents. A user's mistake is a returned value; only the store rejects. INVARIANT: no
// token can fit two identities, also when two people add one at the same time; each change is recorded with the
// person who made it.

import { linkActionsMax, linkNameForm } from '../../../language/model/delegation.ts';
import { createCollection } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { AgentRow } from '../../store/contract/records.ts';
import { randomBase62 } from '../keys.ts';
import { areAlike, valueProblem } from './claim-values.ts';
import { type AgentIdentity, type IdentityActor, identitiesIn, identitiesMax } from './identity.ts';

export interface IdentityDraft extends Pick<AgentIdentity, 'issuer' | 'claims'> {
  readonly actors: readonly IdentityActor[];
}

/** Who makes a change, when, and in which store. */
export interface IdentityChanger {
  readonly documents: DocumentStore;
  /** The person's name in the record. */
  readonly who: string;
  readonly nowMs: number;
}

export interface IdentityProblem {
  readonly field: keyof IdentityDraft;
  /** One sentence in lower case without a final full stop. */
  readonly detail: string;
}

export type NewIdentity =
  | { readonly kind: 'added'; readonly identity: AgentIdentity }
  | { readonly kind: 'invalid'; readonly problems: readonly IdentityProblem[] }
  /** A token could fit this identity too. */
  | { readonly kind: 'alike'; readonly identity: AgentIdentity }
  | { readonly kind: 'too-many' | 'conflict' };

const claimsMax = 10;
const valuesMax = 50;
const claimLengthMax = 255;
const actorsMax = 20;
/** Claims that the issuer's settings and the check of the token decide, or that change with each token. */
const checkedClaims: ReadonlySet<string> = new Set(['iss', 'aud', 'exp', 'nbf', 'iat', 'jti', 'cnf', 'act']);

/** The document that every new identity writes, so that two of them are never added side by side. */
interface IdentityCount {
  readonly id: 'all';
  readonly createdAtMs: number;
  readonly added: number;
}

export async function addIdentity(
  { documents, who, nowMs }: IdentityChanger,
  agent: Pick<AgentRow, 'id' | 'name'>,
  draft: IdentityDraft,
): Promise<NewIdentity> {
  const problems = problemsOf(draft);
  if (problems.length > 0) return { kind: 'invalid', problems };
  const identities = identitiesIn(documents);
  const counts = createCollection<IdentityCount>(documents, 'agent-identity-count', () => ({}));
  // Read before the identities: whoever adds one meanwhile also changes the count.
  const count = await counts.find('all');
  const present = await identities.list({ countMax: identitiesMax });
  if (present.length >= identitiesMax) return { kind: 'too-many' };
  const alike = present.find(
    ({ value }) =>
      value.endedAtMs === null && value.issuer === draft.issuer && areAlike(value.claims, draft.claims),
  );
  if (alike !== undefined) return { kind: 'alike', identity: alike.value };
  const identity: AgentIdentity = {
    ...draft,
    id: randomBase62(8),
    agentId: agent.id,
    createdAtMs: nowMs,
    endedAtMs: null,
  };
  const next: IdentityCount = { id: 'all', createdAtMs: nowMs, added: (count?.value.added ?? 0) + 1 };
  const writes = [identities.put(identity, 0), counts.put(next, count?.version ?? 0)];
  const result = await documents.write(writes, {
    who,
    atMs: nowMs,
    what: 'agent-identity-added',
    subject: identity.id,
    before: null,
    after: shown(identity),
  });
  return result === 'changed' ? { kind: 'added', identity } : { kind: 'conflict' };
}

export type EndedIdentity =
  | { readonly kind: 'ended'; readonly identity: AgentIdentity }
  | { readonly kind: 'unknown' | 'conflict' };

/** Ends an identity of the agent; another call changes nothing. */
export async function endIdentity(
  { documents, who, nowMs }: IdentityChanger,
  agentId: string,
  id: string,
): Promise<EndedIdentity> {
  const identities = identitiesIn(documents);
  const found = await identities.find(id);
  if (found === null || found.value.agentId !== agentId) return { kind: 'unknown' };
  if (found.value.endedAtMs !== null) return { kind: 'ended', identity: found.value };
  const identity = { ...found.value, endedAtMs: nowMs };
  const result = await documents.write([identities.put(identity, found.version)], {
    who,
    atMs: nowMs,
    what: 'agent-identity-removed',
    subject: id,
    before: shown(found.value),
    after: null,
  });
  return result === 'changed' ? { kind: 'ended', identity } : { kind: 'conflict' };
}

function shown({ agentId, issuer, claims, actors }: AgentIdentity) {
  return {
    agent_id: agentId,
    issuer,
    claims: Object.fromEntries(Object.entries(claims).map(([name, values]) => [name, [...values]])),
    actors: actors.map(({ subject, name, actions }) => ({ subject, name, actions: [...actions] })),
  };
}

function problemsOf({ claims, actors }: IdentityDraft): readonly IdentityProblem[] {
  const required = Object.entries(claims);
  return [
    ...(required.length >= 1 && required.length <= claimsMax
      ? []
      : [{ field: 'claims', detail: `name 1 to ${claimsMax} claims` } as const]),
    ...required.flatMap(([claim, values]) => claimProblems(claim, values)),
    ...actorProblems(actors),
  ];
}

function claimProblems(claim: string, values: readonly string[]): readonly IdentityProblem[] {
  const problem = (detail: string): IdentityProblem => ({ field: 'claims', detail });
  if (claim === '' || claim.length > claimLengthMax) return [problem('a claim has 1 to 255 characters')];
  if (checkedClaims.has(claim.split('.', 1)[0] ?? ''))
    return [problem(`\`${claim}\` is checked for every token and cannot be required here`)];
  if (values.length === 0 || values.length > valuesMax)
    return [problem(`\`${claim}\` has 1 to ${valuesMax} values`)];
  const wrong = values.find((value) => value === '' || value.length > claimLengthMax);
  if (wrong !== undefined) return [problem(`a value of \`${claim}\` has 1 to 255 characters`)];
  return values.flatMap((value) => {
    const detail = valueProblem(claim, value);
    return detail === null ? [] : [problem(`\`${claim}\`: ${detail}`)];
  });
}

function actorProblems(actors: readonly IdentityActor[]): readonly IdentityProblem[] {
  const problem = (detail: string): IdentityProblem => ({ field: 'actors', detail });
  const subjects = new Set(actors.map(({ subject }) => subject));
  return [
    ...(actors.length <= actorsMax ? [] : [problem(`name at most ${actorsMax} actors`)]),
    ...(subjects.size === actors.length ? [] : [problem('name each actor once')]),
    ...actors.flatMap(({ subject, name, actions }) => [
      ...(subject !== '' && subject.length <= claimLengthMax
        ? []
        : [problem('the subject of an actor has 1 to 255 characters')]),
      ...(linkNameForm.test(name)
        ? []
        : [problem('the name of an actor has 1 to 64 letters, digits, `.`, `_` or `-`')]),
      ...(actions.length > 0 && actions.length <= linkActionsMax
        ? []
        : [problem(`an actor has 1 to ${linkActionsMax} actions or patterns`)]),
    ]),
  ];
}
