// Webhooks and chat channels as they are stored: who gets which events, and where. Changes by people are
// recorded. INVARIANT: a secret is stored sealed, shown once when it is made, and held in no record. The
// address is sealed too, because the part after the host often holds a secret; records name only its origin.

import { randomUUID } from 'node:crypto';
import { deriveKey, seal, unseal } from '../agents/sealing.ts';
import type { Directory } from '../people/directory.ts';
import { type Actor, recordName } from '../people/person.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import { createWebhookSecret } from './signature.ts';
import { readTarget, type Target } from './target.ts';

export const webhookEvents = [
  'request.pending',
  'request.decided',
  'request.commented',
  'request.reminded',
  'policies.reload_failed',
  'proposal.made',
  'proposal.settled',
  'agent.revoked',
  'standing_approval.given',
  'standing_approval.used_up',
  'standing_approval.ending',
  'standing_approval.revoked',
  'application.made',
  'alert.began',
  'alert.over',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

/**
 * `standard`: signed messages for programs (Standard Webhooks). `chat`: `{"text": ...}` for people, in
 * Slack's form.
 */
export const webhookFormats = ['standard', 'chat'] as const;
export type WebhookFormat = (typeof webhookFormats)[number];

export interface Webhook {
  readonly id: string;
  readonly format: WebhookFormat;
  readonly sealedUrl: string;
  readonly origin: string;
  readonly events: readonly WebhookEvent[];
  readonly status: 'active' | 'disabled';
  /** Why the service itself disabled the webhook; null when a person did, or when it is not disabled. */
  readonly disabledBecause: string | null;
  /** Null for a chat channel, whose messages are not signed. */
  readonly sealedSecret: string | null;
  /** The secret from before a rotation, which also signs until `endsAtMs`. */
  readonly earlier: { readonly sealedSecret: string; readonly endsAtMs: number } | null;
  /** The time since when every attempt has failed; null while attempts succeed. */
  readonly failingSinceMs: number | null;
  readonly createdAtMs: number;
  readonly createdBy: string;
}

export interface WebhookDeps {
  readonly directory: Directory;
  readonly masterKey: Uint8Array;
  readonly arePrivateAddressesAllowed: boolean;
}

export interface WebhookDraft {
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly format: WebhookFormat;
}

/** Problems by field, as sentences in lower case without a final period. */
interface InvalidWebhook {
  readonly kind: 'invalid';
  readonly problems: readonly { readonly field: string; readonly detail: string }[];
}

export type NewWebhook = {
  readonly kind: 'made';
  readonly webhook: Webhook;
  /** Shown only this once; null for a chat channel. */
  readonly secret: string | null;
};

const webhooksMax = 50;
const bothSecretsMs = 24 * 60 * 60 * 1000;

export function webhooksOf({ documents }: Directory): Collection<Webhook> {
  return createCollection<Webhook>(documents, 'webhook', () => ({}));
}

/** Returns all webhooks, of which there are few. */
export async function allWebhooks(directory: Directory): Promise<readonly ReadDocument<Webhook>[]> {
  return await webhooksOf(directory).list({ countMax: webhooksMax });
}

export async function makeWebhook(
  deps: WebhookDeps,
  { person }: Actor,
  draft: WebhookDraft,
): Promise<NewWebhook | InvalidWebhook> {
  const { directory } = deps;
  const target = readTarget(draft.url, deps);
  const problems = [...draftProblems(target, draft)];
  if ((await allWebhooks(directory)).length >= webhooksMax) {
    problems.push({ field: 'url', detail: `remove one of the ${webhooksMax} webhooks first` });
  }
  if (target.kind === 'problem' || problems.length > 0) return { kind: 'invalid', problems };
  const { format } = draft;
  const id = randomUUID();
  const secret = format === 'chat' ? null : createWebhookSecret();
  const webhook: Webhook = {
    id,
    format,
    ...urlFields(deps, id, target.url),
    events: [...draft.events],
    status: 'active',
    disabledBecause: null,
    sealedSecret: secret === null ? null : sealed(deps, id, secret),
    earlier: null,
    failingSinceMs: null,
    createdAtMs: Math.trunc(directory.clock()),
    createdBy: person.id,
  };
  await directory.change([webhooksOf(directory).put(webhook, 0)], {
    who: recordName(person),
    what: 'webhook-made',
    subject: id,
    before: null,
    after: webhookSummary(webhook),
  });
  return { kind: 'made', webhook, secret };
}

export type WebhookChangeResult =
  | { readonly kind: 'changed'; readonly webhook: Webhook }
  | InvalidWebhook
  | { readonly kind: 'unknown' | 'conflict' };

export async function changeWebhook(
  deps: WebhookDeps,
  { person }: Actor,
  {
    id,
    url,
    ...change
  }: Partial<Omit<WebhookDraft, 'format'> & Pick<Webhook, 'status'>> & { readonly id: string },
): Promise<WebhookChangeResult> {
  const { directory } = deps;
  const storedWebhook = await webhooksOf(directory).find(id);
  if (storedWebhook === null) return { kind: 'unknown' };
  const enabled = change.status === 'active' ? { disabledBecause: null, failingSinceMs: null } : {};
  const changed: Webhook = { ...storedWebhook.value, ...change, ...enabled };
  const target = readTarget(url ?? urlOfWebhook(deps.masterKey, changed), deps);
  const problems = draftProblems(target, changed);
  if (target.kind === 'problem' || problems.length > 0) return { kind: 'invalid', problems };
  const webhook: Webhook = { ...changed, ...urlFields(deps, id, target.url) };
  const result = await directory.change([webhooksOf(directory).put(webhook, storedWebhook.version)], {
    who: recordName(person),
    what: 'webhook-changed',
    subject: id,
    before: webhookSummary(storedWebhook.value),
    after: webhookSummary(webhook),
  });
  return result === 'changed' ? { kind: 'changed', webhook } : { kind: 'conflict' };
}

/** Gives a webhook a new secret. Both secrets sign for a day, so that its receiver can change over. */
export async function rotateWebhookSecret(
  deps: WebhookDeps,
  { person }: Actor,
  id: string,
): Promise<NewWebhook | { readonly kind: 'unknown' | 'conflict' | 'not-signed' }> {
  const { directory } = deps;
  const storedWebhook = await webhooksOf(directory).find(id);
  if (storedWebhook === null) return { kind: 'unknown' };
  const { sealedSecret } = storedWebhook.value;
  if (sealedSecret === null) return { kind: 'not-signed' };
  const secret = createWebhookSecret();
  const endsAtMs = Math.trunc(directory.clock()) + bothSecretsMs;
  const earlier = { sealedSecret, endsAtMs };
  const webhook: Webhook = { ...storedWebhook.value, sealedSecret: sealed(deps, id, secret), earlier };
  const result = await directory.change([webhooksOf(directory).put(webhook, storedWebhook.version)], {
    who: recordName(person),
    what: 'webhook-secret-rotated',
    subject: id,
    before: null,
    after: { earlier_good_until_ms: endsAtMs },
  });
  return result === 'changed' ? { kind: 'made', webhook, secret } : { kind: 'conflict' };
}

export async function removeWebhook(
  directory: Directory,
  { person }: Actor,
  id: string,
): Promise<'removed' | 'unknown' | 'conflict'> {
  const storedWebhook = await webhooksOf(directory).find(id);
  if (storedWebhook === null) return 'unknown';
  const result = await directory.change(
    [webhooksOf(directory).remove(storedWebhook.value, storedWebhook.version)],
    {
      who: recordName(person),
      what: 'webhook-removed',
      subject: id,
      before: webhookSummary(storedWebhook.value),
      after: null,
    },
  );
  return result === 'changed' ? 'removed' : 'conflict';
}

/** The secrets that sign at `nowMs`, the newest first. */
export function secretsOf(masterKey: Uint8Array, webhook: Webhook, nowMs: number): readonly string[] {
  const { id, sealedSecret, earlier } = webhook;
  const key = deriveKey(masterKey, sealingPurpose);
  const texts = [
    ...(sealedSecret === null ? [] : [sealedSecret]),
    ...(earlier !== null && nowMs < earlier.endsAtMs ? [earlier.sealedSecret] : []),
  ];
  return texts.flatMap((text) => unseal(key, id, text) ?? []);
}

/**
 * The address to call. Returns an empty text, which is no valid address, when the master key does not open
 * the sealed one.
 */
export function urlOfWebhook(masterKey: Uint8Array, { id, sealedUrl }: Webhook): string {
  return unseal(deriveKey(masterKey, addressPurpose), id, sealedUrl) ?? '';
}

function urlFields(
  { masterKey }: Pick<WebhookDeps, 'masterKey'>,
  id: string,
  url: string,
): Pick<Webhook, 'sealedUrl' | 'origin'> {
  return { sealedUrl: seal(deriveKey(masterKey, addressPurpose), id, url), origin: new URL(url).origin };
}

const addressPurpose = 'webhook addresses';
const sealingPurpose = 'webhook secrets';

function sealed({ masterKey }: WebhookDeps, id: string, secret: string): string {
  return seal(deriveKey(masterKey, sealingPurpose), id, secret);
}

export function webhookSummary({ origin, format, events, status, disabledBecause }: Webhook) {
  return { origin, format, events: [...events], status, because: disabledBecause };
}

function draftProblems(target: Target, { events }: Pick<WebhookDraft, 'events'>): InvalidWebhook['problems'] {
  return [
    ...(target.kind === 'target' ? [] : [{ field: 'url', detail: target.detail }]),
    ...(events.length > 0 ? [] : [{ field: 'events', detail: 'name at least one event' }]),
  ];
}
