// Registers agents with their first key, and finds the agent for the text of an `X-Agent-API-Key` header. A
// user's mistake is a returned value; only the store rejects. INVARIANT: a key is returned once, when it is
// made.

import { randomUUID } from 'node:crypto';
import { type RiskTier, riskTiers } from '../../language/model/request.ts';
import { nameProblem } from '../../language/value/visible-text.ts';
import type { AgentRow, KeyRow, SigningMode } from '../store/contract/records.ts';
import type { ChangeAuthor, Store } from '../store/contract/store.ts';
import { createApiKey, isSameDigest, parseApiKey } from './keys.ts';
import { deriveKey, seal } from './sealing.ts';
import { createSigningSecret, sealingPurpose } from './signature.ts';

export interface AgentDraft {
  readonly name: string;
  /** Checked to be low, medium, high or critical. */
  readonly riskTier: string;
  readonly controlOwner: string;
  readonly tags: readonly string[];
  /**
   * How many requests the agent may send in a minute, and (`burst`) at once; null for the limits that all
   * agents have.
   */
  readonly ratePerMinute?: number | null;
  readonly burst?: number | null;
  /** Whether the agent's refusals tell what would pass; false when absent. */
  readonly tellsChange?: boolean;
}

interface DraftProblem {
  readonly field: keyof AgentDraft;
  /** One sentence in lower case without a final full stop. */
  readonly message: string;
}

export type AddAgentResult =
  /** `apiKey` is the only copy there will ever be. */
  | { readonly kind: 'added'; readonly agent: AgentRow; readonly apiKey: string }
  | { readonly kind: 'invalid'; readonly problems: readonly DraftProblem[] };

const nameLengthMax = 100;
const ownerLengthMax = 200;
const tagLengthMax = 50;
const tagsMax = 50;

/** An active agent that is not registered yet, and its first key. */
export interface NewAgent {
  readonly kind: 'made';
  readonly agent: AgentRow;
  readonly key: KeyRow;
  /** The text of the key, the only copy there will ever be. */
  readonly apiKey: string;
}

export function newAgent(
  draft: AgentDraft,
  nowMs: number,
): NewAgent | Extract<AddAgentResult, { kind: 'invalid' }> {
  const problems = checkDraft(draft);
  if (problems.length > 0 || !isRiskTier(draft.riskTier)) return { kind: 'invalid', problems };
  const agent: AgentRow = {
    id: randomUUID(),
    name: draft.name,
    riskTier: draft.riskTier,
    controlOwner: draft.controlOwner,
    tags: [...draft.tags],
    status: 'active',
    signing: 'off',
    sealedSigningSecret: null,
    ratePerMinute: draft.ratePerMinute ?? null,
    burst: draft.burst ?? null,
    tellsChange: draft.tellsChange ?? false,
    createdAtMs: nowMs,
    changedAtMs: nowMs,
    version: 1,
  };
  const { text, row } = newKey(agent.id, nowMs);
  return { kind: 'made', agent, key: row, apiKey: text };
}

/** Registers an active agent and makes its first key. */
export async function addAgent(
  store: Store,
  draft: AgentDraft,
  nowMs: number = Date.now(),
  by: ChangeAuthor = {},
): Promise<AddAgentResult> {
  const created = newAgent(draft, nowMs);
  if (created.kind === 'invalid') return created;
  const { agent, key, apiKey } = created;
  if ((await store.agents.add(agent, key, by)) === 'name-taken') {
    return { kind: 'invalid', problems: [nameTaken] };
  }
  return { kind: 'added', agent, apiKey };
}

const nameTaken: DraftProblem = { field: 'name', message: 'another agent has this name' };

export type DescribeAgentResult =
  | { readonly kind: 'described'; readonly agent: AgentRow }
  | { readonly kind: 'invalid'; readonly problems: readonly DraftProblem[] }
  | { readonly kind: 'unknown-agent' | 'already-revoked' };

/** Changes the description of an agent; absent fields stay unchanged. */
export async function describeAgent(
  store: Store,
  {
    agentId,
    nowMs,
    who,
    ...changes
  }: Partial<AgentDraft> & ChangeAuthor & { readonly agentId: string; readonly nowMs: number },
): Promise<DescribeAgentResult> {
  const present = await store.agents.find(agentId);
  if (present === null || present.id !== agentId) return { kind: 'unknown-agent' };
  const described = { ...present, ...changes };
  const { name, riskTier, controlOwner, tags, ratePerMinute, burst, tellsChange } = described;
  const problems = checkDraft({ name, riskTier, controlOwner, tags, ratePerMinute, burst });
  if (problems.length > 0 || !isRiskTier(riskTier)) return { kind: 'invalid', problems };
  const after = { name, riskTier, controlOwner, tags: [...tags], ratePerMinute, burst, tellsChange };
  const result = await store.agents.describe({ agentId, atMs: nowMs, who, ...after });
  switch (result) {
    case 'changed':
      return {
        kind: 'described',
        agent: { ...present, ...after, changedAtMs: nowMs, version: present.version + 1 },
      };
    case 'unchanged':
      return { kind: 'described', agent: present };
    case 'name-taken':
      return { kind: 'invalid', problems: [nameTaken] };
    case 'unknown-agent':
    case 'already-revoked':
      return { kind: result };
  }
}

export type Authentication =
  /** `key.notAfterMs` is set when the key has been replaced and will end. */
  | { readonly kind: 'ok'; readonly agent: AgentRow; readonly key: KeyRow }
  | { readonly kind: 'missing' | 'malformed' | 'unknown' | 'expired' }
  | { readonly kind: 'disabled' | 'revoked'; readonly agent: AgentRow; readonly key: KeyRow };

/** The digest compared when no such key exists, so that the answer takes as long as for a key that exists. */
const noDigest = '0'.repeat(64);

/**
 * Finds the agent that has sent this header. Reads the store each time, so a change of the agent takes effect
 * with the next request.
 */
export async function authenticate(
  store: Store,
  headerText: string | undefined,
  nowMs: number,
): Promise<Authentication> {
  if (headerText === undefined || headerText === '') return { kind: 'missing' };
  const parsed = parseApiKey(headerText);
  if (parsed === null) return { kind: 'malformed' };
  const agentWithKey = await store.agents.findByKeyId(parsed.id);
  if (!isSameDigest(agentWithKey?.key.digest ?? noDigest, parsed.digest) || agentWithKey === null)
    return { kind: 'unknown' };
  const { agent, key } = agentWithKey;
  if (key.notAfterMs !== null && key.notAfterMs <= nowMs) return { kind: 'expired' };
  store.agents.noteUse(key, nowMs);
  return { kind: agent.status === 'active' ? 'ok' : agent.status, agent, key };
}

export interface RotateOptions extends ChangeAuthor {
  readonly agentId: string;
  /** How long the old key stays valid, in milliseconds; 0 ends it now. */
  readonly graceMs: number;
  readonly nowMs: number;
}

export const defaultGraceMs = 24 * 60 * 60 * 1000;

export type RotateResult =
  | { readonly kind: 'rotated'; readonly apiKey: string }
  | { readonly kind: 'too-many-keys' | 'unknown-agent' };

/** Gives the agent a new key, and sets an end for its present key. */
export async function rotateKey(store: Store, options: RotateOptions): Promise<RotateResult> {
  const { text, row } = newKey(options.agentId, options.nowMs);
  const othersNotAfterMs = options.nowMs + options.graceMs;
  const result = await store.agents.rotateKey({ key: row, othersNotAfterMs, who: options.who });
  return result === 'added' ? { kind: 'rotated', apiKey: text } : { kind: result };
}

export interface SigningOptions extends ChangeAuthor {
  readonly agentId: string;
  /** `off` also deletes the secret. */
  readonly signing: SigningMode;
  readonly nowMs: number;
  /**
   * Whether a new secret replaces an existing one. When there is no secret, a new one is made in any case.
   */
  readonly isSecretNew?: boolean;
}

export type SetSigningResult =
  /** `signingSecret` is the only copy there will ever be; null when none was made. */
  { readonly kind: 'changed'; readonly signingSecret: string | null } | { readonly kind: 'unknown-agent' };

/** Sets whether the agent signs its requests, and makes a signing secret if needed. */
export async function setSigning(
  store: Store,
  { agentId, signing, nowMs, isSecretNew = false, who }: SigningOptions,
): Promise<SetSigningResult> {
  const change = { agentId, signing, atMs: nowMs, who };
  const writeResult =
    signing !== 'off' && isSecretNew
      ? 'no-secret'
      : await store.agents.setSigning({ ...change, newSealedSecret: null });
  if (writeResult === 'unknown-agent') return { kind: writeResult };
  if (writeResult === 'changed') return { kind: writeResult, signingSecret: null };
  const signingSecret = createSigningSecret();
  const newSealedSecret = seal(deriveKey(store.masterKey, sealingPurpose), agentId, signingSecret);
  const kind = await store.agents.setSigning({ ...change, newSealedSecret });
  return kind === 'changed' ? { kind, signingSecret } : { kind: 'unknown-agent' };
}

function newKey(agentId: string, nowMs: number): { readonly text: string; readonly row: KeyRow } {
  const { id, text, digest } = createApiKey();
  return { text, row: { id, agentId, digest, createdAtMs: nowMs, notAfterMs: null, lastUsedAtMs: null } };
}

function checkDraft(draft: AgentDraft): readonly DraftProblem[] {
  const problems: DraftProblem[] = [];
  const report = (field: keyof AgentDraft, message: string | null) => {
    if (message !== null) problems.push({ field, message });
  };
  report('name', nameProblem(draft.name, nameLengthMax));
  if (!isRiskTier(draft.riskTier)) report('riskTier', `must be one of ${riskTiers.join(', ')}`);
  report('controlOwner', nameProblem(draft.controlOwner, ownerLengthMax));
  report('tags', checkTags(draft.tags));
  report('ratePerMinute', checkRate(draft.ratePerMinute ?? null));
  report('burst', checkRate(draft.burst ?? null));
  return problems;
}

function checkTags(tags: readonly string[]): string | null {
  if (tags.length > tagsMax) return `must be at most ${tagsMax}`;
  if (new Set(tags).size < tags.length) return 'must not repeat';
  const problem = tags.map((tag) => nameProblem(tag, tagLengthMax)).find((message) => message !== null);
  return problem === undefined ? null : `each ${problem}`;
}

export const rateMax = 1_000_000_000;

function checkRate(count: number | null): string | null {
  const isTaken = count === null || (Number.isInteger(count) && count >= 1 && count <= rateMax);
  return isTaken ? null : `must be a whole number from 1 to ${rateMax}`;
}

function isRiskTier(text: string): text is RiskTier {
  return riskTiers.some((tier) => tier === text);
}
