// Makes and revokes delegations. A user's mistake is a returned value; only the store rejects. INVARIANT: a
// delegation passes on no more than its maker has: no action, no time and no use beyond those of the links
// above. A key is returned once, when it is made, and each change is recorded.

import {
  type DelegationLink,
  delegationDaysMax,
  linkActionsMax,
  linkConditionMax,
  linkNameForm,
  linksMax,
  matchesAction,
} from '../../../language/model/delegation.ts';
import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import type { ReadDocument } from '../../store/contract/collection.ts';
import type { DocumentStore } from '../../store/contract/documents.ts';
import type { AgentRow, KeyRow } from '../../store/contract/records.ts';
import { createApiKey } from '../keys.ts';
import {
  type ActingChain,
  type CountUses,
  type Delegation,
  delegatedKeyPrefix,
  delegationsIn,
  whyEnded,
} from './delegation.ts';

export interface DelegationDraft extends DelegationLink {
  readonly untilMs: number;
  readonly uses: number | null;
  readonly session: string | null;
}

/** The agent or the sub-agent that delegates. */
export interface Delegator {
  readonly agent: AgentRow;
  readonly key: Pick<KeyRow, 'id'>;
  /** The chain of a sub-agent; absent for the agent itself. */
  readonly chain?: ActingChain;
}

export interface DelegationProblem {
  readonly field: keyof DelegationDraft;
  /** One sentence in lower case without a final full stop. */
  readonly detail: string;
}

export type NewDelegation =
  /** `apiKey` is the only copy there will ever be. */
  | { readonly kind: 'made'; readonly delegation: Delegation; readonly apiKey: string }
  | { readonly kind: 'invalid'; readonly problems: readonly DelegationProblem[] }
  | { readonly kind: 'too-deep' | 'too-many' };

const delegationMsMax = delegationDaysMax * 24 * 3_600_000;
export const usesMax = 1_000_000;
/** The most delegations of one agent that have not been deleted yet. */
export const delegationsMax = 1_000;

/** The declared actions that a pattern matches. */
export type ActionsOf = (patterns: readonly string[]) => readonly string[];

interface DelegationAt {
  readonly documents: DocumentStore;
  readonly nowMs: number;
  readonly actionsOf: ActionsOf;
  readonly countUses: CountUses;
}

/** Makes a delegation and its key. The condition and the patterns have been checked against the policies. */
export async function addDelegation(
  { documents, nowMs, actionsOf, countUses }: DelegationAt,
  by: Delegator,
  draft: DelegationDraft,
): Promise<NewDelegation> {
  const delegations = delegationsIn(documents);
  const { agent, chain } = by;
  const above = await linksAbove(documents, chain);
  if (above.length >= linksMax) return { kind: 'too-deep' };
  const present = await delegations.list({ parent: agent.id, countMax: delegationsMax });
  if (present.length >= delegationsMax) return { kind: 'too-many' };
  const problems = [
    ...shapeProblems(draft, nowMs),
    ...above.flatMap((link) => widerThan({ link, uses: usesLeft(link, countUses) }, draft, actionsOf)),
  ];
  if (problems.length > 0) return { kind: 'invalid', problems };
  const { id, text, digest } = createApiKey(delegatedKeyPrefix);
  const delegation: Delegation = {
    ...draft,
    id,
    agentId: agent.id,
    agentKeyId: above[0]?.agentKeyId ?? by.key.id,
    above: above.map((link) => link.id),
    digest,
    createdAtMs: nowMs,
    revokedAtMs: null,
  };
  const result = await documents.write([delegations.put(delegation, 0)], {
    atMs: nowMs,
    who: `agent ${agent.id}`,
    what: 'delegation-made',
    subject: id,
    before: null,
    after: shown(delegation),
  });
  if (result !== 'changed') throw new Error(`the id \`${id}\` of a new delegation is in use`);
  return { kind: 'made', delegation, apiKey: text };
}

async function linksAbove(
  documents: DocumentStore,
  chain: ActingChain | undefined,
): Promise<readonly Delegation[]> {
  const delegations = delegationsIn(documents);
  const found = await Promise.all((chain?.links ?? []).map(({ id }) => delegations.find(id)));
  return found.flatMap((one) => (one === null ? [] : [one.value]));
}

/** Null for any number. A count that is not known is left out, since each grant is counted again. */
function usesLeft(link: Delegation, countUses: CountUses): number | null {
  return link.uses === null ? null : link.uses - (countUses(link) ?? 0);
}

function shapeProblems(
  { name, actions, when, untilMs, uses }: DelegationDraft,
  nowMs: number,
): readonly DelegationProblem[] {
  const problem = (field: keyof DelegationDraft, detail: string): DelegationProblem => ({ field, detail });
  return [
    ...(linkNameForm.test(name)
      ? []
      : [
          problem(
            'name',
            'a name has 1 to 64 letters, digits, `.`, `_` or `-`, and ends with a letter or digit',
          ),
        ]),
    ...(actions.length > 0 && actions.length <= linkActionsMax
      ? []
      : [problem('actions', `name 1 to ${linkActionsMax} actions or patterns`)]),
    ...(when === null || when.length <= linkConditionMax
      ? []
      : [problem('when', `a condition has at most ${linkConditionMax} characters`)]),
    ...(untilMs > nowMs ? [] : [problem('untilMs', '`until` is in the past')]),
    ...(untilMs <= nowMs + delegationMsMax
      ? []
      : [problem('untilMs', `a delegation lasts at most ${delegationDaysMax} days`)]),
    ...(uses === null || (uses >= 1 && uses <= usesMax)
      ? []
      : [problem('uses', `\`uses\` is a number from 1 to ${usesMax}`)]),
  ];
}

interface LinkAbove {
  readonly link: Delegation;
  /** The uses that it has left; null for any number. */
  readonly uses: number | null;
}

/** In what the draft goes beyond a link above it. */
function widerThan(
  { link, uses }: LinkAbove,
  draft: DelegationDraft,
  actionsOf: ActionsOf,
): readonly DelegationProblem[] {
  const outside = actionsOf(draft.actions).find(
    (action) => !link.actions.some((pattern) => matchesAction(pattern, action)),
  );
  const until = new Date(link.untilMs).toISOString();
  return [
    ...(outside === undefined
      ? []
      : [{ field: 'actions', detail: `\`${outside}\` is outside the delegation \`${link.name}\`` } as const]),
    ...(draft.untilMs <= link.untilMs
      ? []
      : [{ field: 'untilMs', detail: `the delegation \`${link.name}\` ends at ${until}` } as const]),
    ...(uses === null || draft.uses === null || draft.uses <= uses
      ? []
      : [{ field: 'uses', detail: `the delegation \`${link.name}\` has ${uses} uses left` } as const]),
    ...(link.session === null || draft.session === null || draft.session === link.session
      ? []
      : [
          {
            field: 'session',
            detail: `the delegation \`${link.name}\` is for the session \`${link.session}\``,
          } as const,
        ]),
  ];
}

export type RevokedDelegation =
  | { readonly kind: 'revoked'; readonly delegation: Delegation }
  | { readonly kind: 'unknown' };

/** Revokes a delegation, and with it everything below. Another call changes nothing. */
export async function revokeDelegation(
  { documents, nowMs }: Pick<DelegationAt, 'documents' | 'nowMs'>,
  id: string,
  who: string,
): Promise<RevokedDelegation> {
  const delegations = delegationsIn(documents);
  for (;;) {
    const before = await delegations.find(id);
    if (before === null) return { kind: 'unknown' };
    const { value, version } = before;
    if (whyEnded(value, nowMs) !== null) return { kind: 'revoked', delegation: value };
    const delegation = { ...value, revokedAtMs: nowMs };
    const result = await documents.write([delegations.put(delegation, version)], {
      atMs: nowMs,
      who,
      what: 'delegation-revoked',
      subject: id,
      before: shown(value),
      after: shown(delegation),
    });
    if (result === 'changed') return { kind: 'revoked', delegation };
  }
}

/** The delegations of an agent, the latest first. */
export async function delegationsOf(
  documents: DocumentStore,
  agentId: string,
): Promise<readonly ReadDocument<Delegation>[]> {
  return await delegationsIn(documents).list({ parent: agentId, countMax: delegationsMax });
}

/** A delegation as the record shows it. */
function shown({
  name,
  agentId,
  above,
  actions,
  when,
  untilMs,
  uses,
  session,
  revokedAtMs,
}: Delegation): CanonicalValue {
  return {
    name,
    agent_id: agentId,
    above: [...above],
    actions: [...actions],
    when,
    until: new Date(untilMs).toISOString(),
    uses,
    session,
    revoked_at: revokedAtMs === null ? null : new Date(revokedAtMs).toISOString(),
  };
}
