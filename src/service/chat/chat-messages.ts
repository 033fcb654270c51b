// The messages about requests as they are stored: which request each is about, where it is in the chat, and what it
// shows. INVARIANT: a request has one message in a channel, whichever process posts it: an attempt is claimed by a write
// before it is made.

import type { ChatService } from '../store/contract/chat-account.ts';
import { type Collection, createCollection } from '../store/contract/collection.ts';
import type { DocumentStore } from '../store/contract/documents.ts';

export interface ChatMessage {
  readonly id: string;
  readonly service: ChatService;
  readonly channel: string;
  readonly requestId: string;
  /** The id of the message in its channel; null while it is not posted. */
  readonly message: string | null;
  /** The key of what it shows; empty while it is not posted. */
  readonly shown: string;
  /** Whether the request may still change. */
  readonly isOpen: boolean;
  /** Attempts since the last that succeeded. */
  readonly attempts: number;
  /** When the next attempt may be made. */
  readonly dueAtMs: number;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

export function chatMessagesOf(documents: DocumentStore): Collection<ChatMessage> {
  return createCollection<ChatMessage>(documents, 'chat-message', (one) => ({
    ...(one.message !== null && { name: placeName(one.service, one.channel, one.message) }),
    parent: one.isOpen ? openOf(one.service) : `over ${one.service}`,
    endsAtMs: one.endsAtMs,
  }));
}

/** Messages that may still change have a parent of their own, so that they are found quickly. */
export function openOf(service: ChatService): string {
  return `open ${service}`;
}

/** The name by which a message is found from its place in the chat. */
export function placeName(service: ChatService, channel: string, message: string): string {
  return `${service} ${channel} ${message}`;
}

/** How long a message is known after the deadline of its request, in milliseconds. */
const keptMs = 30 * 24 * 60 * 60_000;

export function newChatMessage(
  service: ChatService,
  channel: string,
  request: { readonly id: string; readonly expiresAtMs: number; readonly nowMs: number },
): ChatMessage {
  const { id: requestId, expiresAtMs, nowMs } = request;
  return {
    id: `${service} ${channel} ${requestId}`,
    service,
    channel,
    requestId,
    message: null,
    shown: '',
    isOpen: true,
    attempts: 0,
    dueAtMs: nowMs,
    createdAtMs: nowMs,
    endsAtMs: expiresAtMs + keptMs,
  };
}
