// What the service does in a chat, independent of which chat it is. INVARIANT: no call rejects; what did not work is a
// result with a reason that holds no secret.

import type { RequestMessage } from './request-message.ts';

/** Where a message is in the chat. */
export interface MessagePlace {
  readonly channel: string;
  /** The id of the message in its channel. */
  readonly message: string;
}

export type SendResult =
  | { readonly kind: 'sent'; readonly message: string }
  /** The message was deleted in the chat. */
  | { readonly kind: 'gone' }
  | {
      readonly kind: 'failed';
      readonly reason: string;
      /** How long the chat asks to send nothing, in milliseconds; null when it does not say. */
      readonly retryAfterMs: number | null;
    };

export interface ChatClient {
  post(channel: string, message: RequestMessage): Promise<SendResult>;
  update(place: MessagePlace, message: RequestMessage): Promise<SendResult>;
  /** Finds the message about a request that an earlier attempt has posted; null when there is none. */
  find(
    channel: string,
    about: { readonly requestId: string; readonly sinceMs: number },
  ): Promise<string | null>;
}

/** The channels of requests: by group, and for all other groups. */
export interface ChannelSettings {
  readonly byGroup: ReadonlyMap<string, string>;
  /** The channel of groups without one of their own; null for none. */
  readonly otherwise: string | null;
}

/** The channels that hear of a request, each once. */
export function channelsOf(
  { byGroup, otherwise }: ChannelSettings,
  groups: readonly string[],
): readonly string[] {
  return [...new Set(groups.flatMap((group) => byGroup.get(group) ?? otherwise ?? []))];
}

const retryAfterMax = 3_600;

/** The seconds of `Retry-After`, as milliseconds; null without the header. */
export function retryAfterOf({ headers }: Response): number | null {
  const seconds = Number(headers.get('retry-after') ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? Math.min(seconds, retryAfterMax) * 1_000 : null;
}

/** The result of a call that did not work. */
export function failed(reason: string, retryAfterMs: number | null): Extract<SendResult, { kind: 'failed' }> {
  return { kind: 'failed', reason, retryAfterMs };
}
