// Stores messages that wait to be delivered as documents. They outlive the process, and of several processes
// with the same store, one makes each attempt. INVARIANT: an attempt is claimed before it is made. If its
// process ends, the attempt is made again after a while and never lost; a message may arrive twice, with the
// same id.

import { randomUUID } from 'node:crypto';
import type { Directory } from '../people/directory.ts';
import {
  type Collection,
  createCollection,
  type ListPage,
  type ReadDocument,
} from '../store/contract/collection.ts';
import type { DocumentWrite } from '../store/contract/documents.ts';
import { sanitizeForChat } from './sanitize-text.ts';
import type { AttemptResult } from './send.ts';
import type { Webhook, WebhookEvent } from './webhook.ts';

export interface Delivery {
  /** The same at every attempt. */
  readonly id: string;
  readonly webhookId: string;
  readonly type: string;
  /** The request body as text. */
  readonly body: string;
  readonly createdAtMs: number;
  readonly status: 'pending' | 'delivered' | 'failed';
  readonly attempts: number;
  /** When the next attempt is due; null when there is none. */
  readonly nextAtMs: number | null;
  readonly lastAtMs: number | null;
  /** HTTP status of the last answer; null when there was none. */
  readonly lastStatus: number | null;
  readonly lastReason: string | null;
  /** The moment from which the message may be deleted. */
  readonly endsAtMs: number;
}

/** An event, without any value of a payload: links tell where to look it up. */
export interface WebhookPayload {
  readonly type: WebhookEvent | 'webhook.test';
  readonly id: string;
  /** For people in a chat: a sentence or two. */
  readonly text: string;
  /** The page of the dashboard where people look; null when there is none. */
  readonly page?: string | null;
  /**
   * Ids of the webhooks that get the event, whatever they subscribe to; null for all that subscribe to it.
   */
  readonly to?: readonly string[] | null;
  /** Links by name, such as `request`. */
  readonly links: Readonly<Record<string, string>>;
  readonly atMs: number;
}

/** Milliseconds for which the outcome of a message can be looked up. */
const keptMs = 7 * 24 * 60 * 60 * 1000;
/**
 * Longer than all attempts take together. The limit makes sure that messages of a removed webhook do not stay
 * for ever.
 */
const waitsMaxMs = 2 * keptMs;
/** Longer than an attempt takes. */
const claimMs = 60_000;

export function deliveriesOf({ documents }: Directory): Collection<Delivery> {
  return createCollection<Delivery>(documents, 'delivery', ({ webhookId, status, endsAtMs }) => ({
    parent: status === 'pending' ? waitingOf(webhookId) : webhookId,
    endsAtMs,
  }));
}

/** Waiting messages have a parent of their own, so that they are found quickly, however many are over. */
export function waitingOf(webhookId: string): string {
  return `waiting ${webhookId}`;
}

/** All messages of a webhook, the latest first. */
export async function listDeliveries(
  directory: Directory,
  webhookId: string,
  page: Pick<ListPage, 'after' | 'countMax'>,
): Promise<readonly ReadDocument<Delivery>[]> {
  const deliveries = deliveriesOf(directory);
  const [waiting, over] = await Promise.all([
    deliveries.list({ ...page, parent: waitingOf(webhookId) }),
    deliveries.list({ ...page, parent: webhookId }),
  ]);
  const latestFirst = ({ value: a }: ReadDocument<Delivery>, { value: b }: ReadDocument<Delivery>): number =>
    b.createdAtMs - a.createdAtMs || (a.id < b.id ? 1 : -1);
  return [...waiting, ...over].sort(latestFirst).slice(0, page.countMax);
}

export function newDelivery({ id: webhookId, format }: Webhook, payload: WebhookPayload): Delivery {
  const { type, id, links, atMs, text, page = null } = payload;
  const createdAtMs = Math.trunc(atMs);
  const timestamp = new Date(createdAtMs).toISOString();
  return {
    id: `msg_${randomUUID()}`,
    webhookId,
    type,
    createdAtMs,
    body: JSON.stringify(
      format === 'chat' ? { text: chatText(text, page) } : { type, timestamp, data: { id, links } },
    ),
    status: 'pending',
    attempts: 0,
    nextAtMs: createdAtMs,
    endsAtMs: createdAtMs + waitsMaxMs,
    lastAtMs: null,
    lastStatus: null,
    lastReason: null,
  };
}

/** The words, in which no chat finds a link or a mention, and behind them the one link. */
function chatText(text: string, page: string | null): string {
  return [sanitizeForChat(text), ...(page === null ? [] : [page])].join('\n');
}

/** Whether a webhook gets the event. */
export function isSubscribed({ id, status, events }: Webhook, { type, to = null }: WebhookPayload): boolean {
  if (status !== 'active') return false;
  return to === null ? (events as readonly string[]).includes(type) : to.includes(id);
}

/** Claims the next attempt for this process, until the attempt is made or the claim runs out. */
export function claimed(delivery: Delivery, nowMs: number): Delivery {
  return { ...delivery, attempts: delivery.attempts + 1, nextAtMs: nowMs + claimMs };
}

/** The message after an attempt. `delayMs`: milliseconds until the next attempt, null when there is none. */
export function attempted(
  delivery: Delivery,
  result: AttemptResult,
  { nowMs, delayMs }: { readonly nowMs: number; readonly delayMs: number | null },
): Delivery {
  const isDelivered = result.kind === 'delivered';
  const isOver = isDelivered || delayMs === null;
  return {
    ...delivery,
    status: isDelivered ? 'delivered' : isOver ? 'failed' : 'pending',
    nextAtMs: isOver ? null : nowMs + delayMs,
    lastAtMs: nowMs,
    lastStatus: result.status,
    lastReason: isDelivered ? null : result.reason.slice(0, 200),
    endsAtMs: isOver ? nowMs + keptMs : delivery.endsAtMs,
  };
}

/** Stores the next version of a message. Returns null when another process has stored one. */
export async function store(
  directory: Directory,
  { value, version }: ReadDocument<Delivery>,
  more: readonly DocumentWrite[] = [],
): Promise<ReadDocument<Delivery> | null> {
  const put = deliveriesOf(directory).put(value, version);
  const result = await directory.documents.write([put, ...more], null);
  return result === 'changed' ? { value, version: version + 1 } : null;
}
