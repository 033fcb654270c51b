// A delivery of a chat to the service, and what is answered to it.

/** What a chat has sent. */
export interface SentDelivery {
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly body: Uint8Array;
}

export type DeliveryAnswer =
  /** The chat has not sent it, or too long ago. */
  | { readonly kind: 'forged' }
  | { readonly kind: 'malformed' }
  /** `work` is done after the answer was sent. */
  | { readonly kind: 'answer'; readonly body: object | null; readonly work: () => Promise<void> };
