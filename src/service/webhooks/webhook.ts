// Who wants to hear of what, and where: webhooks as they are stored, and their changes by people, each recorded.
// INVARIANT: a secret is stored sealed, shown once when it is made, and in no record; neither is what follows the host of
// an address, which often holds one.

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
  'policies.reload_failed',
  'agent.revoked',
] as const;
export type WebhookEvent = (typeof webhookEvents)[number];

export interface Webhook {
  readonly id: string;
  readonly url: string;
  readonly events: readonly WebhookEvent[];
  readonly status: 'active' | 'disabled';
  /** Why the service itself disabled it; null where a person did, or nobody. */
  readonly disabledBecause: string | null;
  readonly sealedSecret: string;
  /** The secret from before a rotation, which also signs until its end. */
  readonly earlier: { readonly sealedSecret: string; readonly endsAtMs: number } | null;
  /** Since when every attempt has failed; null while they succeed. */
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
}

/** Problems by field, as sentences in lower case without a final period. */
interface Invalid {
  readonly kind: 'invalid';
  readonly problems: readonly { readonly field: string; readonly detail: string }[];
}

export type WebhookMade = {
  readonly kind: 'made';
  readonly webhook: Webhook;
  /** Shown this once. */
  readonly secret: string;
};

const webhooksMax = 50;
const bothSecretsMs = 24 * 60 * 60 * 1000;

export function webhooksOf({ documents }: Directory): Collection<Webhook> {
  return createCollection<Webhook>(documents, 'webhook', () => ({}));
}

/** All of them: there are few. */
export async function allWebhooks(directory: Directory): Promise<readonly ReadDocument<Webhook>[]> {
  return await webhooksOf(directory).list({ countMax: webhooksMax });
}

export async function makeWebhook(
  deps: WebhookDeps,
  { person }: Actor,
  draft: WebhookDraft,
): Promise<WebhookMade | Invalid> {
  const { directory } = deps;
  const target = readTarget(draft.url, deps);
  const problems = [...draftProblems(target, draft)];
  if ((await allWebhooks(directory)).length >= webhooksMax) {
    problems.push({ field: 'url', detail: `remove one of the ${webhooksMax} webhooks first` });
  }
  if (target.kind === 'problem' || problems.length > 0) return { kind: 'invalid', problems };
  const [id, secret] = [randomUUID(), createWebhookSecret()];
  const webhook: Webhook = {
    id,
    url: target.url,
    events: [...draft.events],
    status: 'active',
    disabledBecause: null,
    sealedSecret: sealed(deps, id, secret),
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
    after: shownInRecords(webhook),
  });
  return { kind: 'made', webhook, secret };
}

export type WebhookChanged =
  | { readonly kind: 'changed'; readonly webhook: Webhook }
  | Invalid
  | { readonly kind: 'unknown' | 'conflict' };

export async function changeWebhook(
  deps: WebhookDeps,
  { person }: Actor,
  { id, ...change }: Partial<WebhookDraft & Pick<Webhook, 'status'>> & { readonly id: string },
): Promise<WebhookChanged> {
  const { directory } = deps;
  const found = await webhooksOf(directory).find(id);
  if (found === null) return { kind: 'unknown' };
  const enabled = change.status === 'active' ? { disabledBecause: null, failingSinceMs: null } : {};
  const asked: Webhook = { ...found.value, ...change, ...enabled };
  const target = readTarget(asked.url, deps);
  const problems = draftProblems(target, asked);
  if (target.kind === 'problem' || problems.length > 0) return { kind: 'invalid', problems };
  const webhook: Webhook = { ...asked, url: target.url };
  const result = await directory.change([webhooksOf(directory).put(webhook, found.version)], {
    who: recordName(person),
    what: 'webhook-changed',
    subject: id,
    before: shownInRecords(found.value),
    after: shownInRecords(webhook),
  });
  return result === 'changed' ? { kind: 'changed', webhook } : { kind: 'conflict' };
}

/** Gives a webhook a new secret; for a day both sign, so that its receiver can change over. */
export async function rotateWebhookSecret(
  deps: WebhookDeps,
  { person }: Actor,
  id: string,
): Promise<WebhookMade | { readonly kind: 'unknown' | 'conflict' }> {
  const { directory } = deps;
  const found = await webhooksOf(directory).find(id);
  if (found === null) return { kind: 'unknown' };
  const secret = createWebhookSecret();
  const endsAtMs = Math.trunc(directory.clock()) + bothSecretsMs;
  const earlier = { sealedSecret: found.value.sealedSecret, endsAtMs };
  const webhook: Webhook = { ...found.value, sealedSecret: sealed(deps, id, secret), earlier };
  const result = await directory.change([webhooksOf(directory).put(webhook, found.version)], {
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
  const found = await webhooksOf(directory).find(id);
  if (found === null) return 'unknown';
  const result = await directory.change([webhooksOf(directory).remove(found.value, found.version)], {
    who: recordName(person),
    what: 'webhook-removed',
    subject: id,
    before: shownInRecords(found.value),
    after: null,
  });
  return result === 'changed' ? 'removed' : 'conflict';
}

/** The secrets that sign at `nowMs`, the newest first. */
export function secretsOf(masterKey: Uint8Array, webhook: Webhook, nowMs: number): readonly string[] {
  const { id, sealedSecret, earlier } = webhook;
  const key = deriveKey(masterKey, sealingPurpose);
  const texts = [
    sealedSecret,
    ...(earlier !== null && nowMs < earlier.endsAtMs ? [earlier.sealedSecret] : []),
  ];
  return texts.flatMap((text) => unseal(key, id, text) ?? []);
}

const sealingPurpose = 'webhook secrets';

function sealed({ masterKey }: WebhookDeps, id: string, secret: string): string {
  return seal(deriveKey(masterKey, sealingPurpose), id, secret);
}

export function shownInRecords({ url, events, status, disabledBecause }: Webhook) {
  return { origin: new URL(url).origin, events: [...events], status, because: disabledBecause };
}

function draftProblems(target: Target, { events }: WebhookDraft): Invalid['problems'] {
  return [
    ...(target.kind === 'target' ? [] : [{ field: 'url', detail: target.detail }]),
    ...(events.length > 0 ? [] : [{ field: 'events', detail: 'name one event at least' }]),
  ];
}
