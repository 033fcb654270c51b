// Keeps one message per pending request and channel, and updates it as the request changes. It compares what messages show
// with the requests in the store, so nothing is lost when a process ends, and changes by other processes are followed.
// INVARIANT: a decision waits for no chat; an attempt is claimed before it is made, so of several processes one makes it.

import { performance } from 'node:perf_hooks';
import type { RequestSnapshot } from '../requests/approvals/change-request.ts';
import { approvalGroups } from '../requests/approvals/rights.ts';
import { statusAt } from '../requests/record/lifecycle.ts';
import { type RequestState, requestStateOf } from '../requests/record/request-state.ts';
import type { RequestChanges } from '../requests/request-changes.ts';
import type { ChatService } from '../store/contract/chat-account.ts';
import type { ReadDocument } from '../store/contract/collection.ts';
import { controlOwnerGroup } from '../store/contract/control-owner-group.ts';
import type { RequestHistory, Store } from '../store/contract/store.ts';
import { type ChannelSettings, type ChatClient, channelsOf, type SendResult } from './chat-client.ts';
import { type ChatMessage, chatMessagesOf, newChatMessage, openOf } from './chat-messages.ts';
import { type MessageDeps, messageKey, requestMessage } from './request-message.ts';

export interface FollowDeps extends MessageDeps {
  readonly service: ChatService;
  readonly client: ChatClient;
  readonly channels: ChannelSettings;
  readonly store: Pick<Store, 'documents' | 'requests'>;
  readonly requestChanges: Pick<RequestChanges, 'snapshot' | 'snapshots'>;
  readonly clock: () => number;
  /** Called when the chat or the store failed; the next look tries again. */
  readonly onFailure: (error: unknown) => void;
  readonly everyMs?: number | undefined;
}

export interface RequestFollower {
  start(): void;
  /** Looks soon, because a request has changed. */
  wake(): void;
  /** Looks once; resolves when everything due has been attempted. */
  look(): Promise<void>;
  close(): Promise<void>;
}

const everyMsDefault = 2_000;
const wakeMs = 20;
/** How many times as long as a look the rest after it is. */
const restShare = 4;
const requestsAtOnce = 200;
const requestsMax = 2_000;
const messagesAtOnce = 200;
/** Longer than an attempt takes. */
const claimMs = 60_000;
const firstDelayMs = 2_000;
const longestDelayMs = 5 * 60_000;
const closeMs = 2_000;

export function followRequests(deps: FollowDeps): RequestFollower {
  return new Follower(deps);
}

type StoredMessage = ReadDocument<ChatMessage>;

/** A class because the look under way, the pause and the counts change. */
class Follower implements RequestFollower {
  readonly #deps: FollowDeps;
  #timer: NodeJS.Timeout | null = null;
  /** When the timer is due, on the clock of `performance.now`. */
  #dueAtMs = Number.POSITIVE_INFINITY;
  /** No look begins before this, so that looks take a fifth of the time at most. */
  #restUntilMs = 0;
  #work: Promise<void> = Promise.resolve();
  #isStarted = false;
  #isClosed = false;
  /** The chat has asked to send nothing before this moment. */
  #pausedUntilMs = 0;

  constructor(deps: FollowDeps) {
    this.#deps = deps;
  }

  start(): void {
    this.#isStarted = true;
    this.#schedule(0);
  }

  wake(): void {
    if (this.#isStarted) this.#schedule(wakeMs);
  }

  look(): Promise<void> {
    this.#work = this.#work.then(async () => {
      if (this.#isClosed) return;
      const startedMs = performance.now();
      try {
        const pending = await this.#pending();
        await this.#addMessages(pending);
        await this.#sendDue(new Map(pending.map((seen) => [seen.state.record.id, seen])));
      } catch (error) {
        this.#deps.onFailure(error);
      }
      const endedMs = performance.now();
      this.#restUntilMs = endedMs + restShare * (endedMs - startedMs);
    });
    return this.#work;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer ?? undefined);
    const late = new Promise<void>((done) => setTimeout(done, closeMs).unref());
    await Promise.race([this.#work, late]);
  }

  /** Looks after the delay, unless a look is due sooner. */
  #schedule(delayMs: number): void {
    const dueAtMs = Math.max(performance.now() + delayMs, this.#restUntilMs);
    if (this.#isClosed || this.#dueAtMs <= dueAtMs) return;
    clearTimeout(this.#timer ?? undefined);
    this.#dueAtMs = dueAtMs;
    this.#timer = setTimeout(
      () => {
        this.#dueAtMs = Number.POSITIVE_INFINITY;
        void this.look().then(() => this.#schedule(this.#deps.everyMs ?? everyMsDefault));
      },
      Math.max(0, dueAtMs - performance.now()),
    ).unref();
  }

  #now(): number {
    return Math.trunc(this.#deps.clock());
  }

  /** The pending requests that ask a group, with all that they rest on. */
  async #pending(): Promise<readonly RequestSnapshot[]> {
    const { store, requestChanges } = this.#deps;
    const nowMs = this.#now();
    const asked = (await store.requests.pendingByGroup(nowMs)).map(({ group }) => group);
    const groups = asked.filter((group) => group !== controlOwnerGroup);
    if (groups.length === 0) return [];
    const states: RequestState[] = [];
    let after: { readonly expiresAtMs: number; readonly id: string } | null = null;
    do {
      const page: readonly RequestHistory[] = await store.requests.waiting({
        identity: { groups, owner: null },
        nowMs,
        after,
        countMax: requestsAtOnce,
      });
      states.push(...page.map(requestStateOf));
      const last = page.length < requestsAtOnce ? undefined : page.at(-1)?.row;
      after = last === undefined ? null : { expiresAtMs: last.expiresAtMs, id: last.id };
    } while (after !== null && states.length < requestsMax);
    return await requestChanges.snapshots(states);
  }

  async #addMessages(pending: readonly RequestSnapshot[]): Promise<void> {
    const { service, channels, store } = this.#deps;
    const messages = chatMessagesOf(store.documents);
    for (const { state } of pending) {
      const request = { id: state.record.id, expiresAtMs: state.expiresAtMs, nowMs: this.#now() };
      for (const channel of channelsOf(channels, approvalGroups(state.decision))) {
        const message = newChatMessage(service, channel, request);
        if ((await messages.find(message.id)) !== null) continue;
        // A conflict means that another process has just added it.
        await store.documents.write([messages.put(message, 0)], null);
      }
    }
  }

  async #sendDue(pending: ReadonlyMap<string, RequestSnapshot>): Promise<void> {
    const { service, store, requestChanges, policies } = this.#deps;
    for (const read of await this.#openMessages(store.documents, service)) {
      const nowMs = this.#now();
      if (this.#isClosed || nowMs < this.#pausedUntilMs) return;
      if (read.value.dueAtMs > nowMs) continue;
      const { requestId, message, attempts, shown } = read.value;
      const seen = pending.get(requestId) ?? (await requestChanges.snapshot(requestId));
      const isOver = seen === null || statusAt(seen.state, seen.nowMs) !== 'pending';
      if (seen === null || (isOver && message === null && attempts === 0))
        await this.#store(read, { isOpen: false });
      else if (shown !== messageKey(seen, policies().digest)) await this.#send(read, seen);
    }
  }

  async #openMessages(
    documents: Store['documents'],
    service: ChatService,
  ): Promise<readonly StoredMessage[]> {
    const all: StoredMessage[] = [];
    let after: ChatMessage | null = null;
    do {
      const page: readonly StoredMessage[] = await chatMessagesOf(documents).list({
        parent: openOf(service),
        after,
        countMax: messagesAtOnce,
      });
      all.push(...page);
      after = page.length < messagesAtOnce ? null : (page.at(-1)?.value ?? null);
    } while (after !== null);
    return all;
  }

  async #send(read: StoredMessage, seen: RequestSnapshot): Promise<void> {
    const { attempts } = read.value;
    const claim = await this.#store(read, { attempts: attempts + 1, dueAtMs: this.#now() + claimMs });
    if (claim === null) return;
    const key = messageKey(seen, this.#deps.policies().digest);
    const result = await this.#attempt(claim.value, seen);
    await this.#conclude(claim, { result, key, isOver: statusAt(seen.state, seen.nowMs) !== 'pending' });
  }

  async #attempt(claimed: ChatMessage, seen: RequestSnapshot): Promise<SendResult> {
    const { client } = this.#deps;
    const { channel, requestId, createdAtMs, attempts } = claimed;
    const content = await requestMessage(this.#deps, seen);
    // An attempt whose answer was lost may have posted the message.
    const posted =
      claimed.message === null && attempts > 1
        ? await client.find(channel, { requestId, sinceMs: createdAtMs })
        : claimed.message;
    if (posted !== null) return await client.update({ channel, message: posted }, content);
    return content.decidable === 'no' ? { kind: 'gone' } : await client.post(channel, content);
  }

  async #conclude(
    claim: StoredMessage,
    { result, key, isOver }: { readonly result: SendResult; readonly key: string; readonly isOver: boolean },
  ): Promise<void> {
    switch (result.kind) {
      case 'sent':
        await this.#store(claim, {
          message: result.message,
          shown: key,
          isOpen: !isOver,
          attempts: 0,
          dueAtMs: this.#now(),
        });
        return;
      case 'gone':
        await this.#store(claim, { isOpen: false });
        return;
      case 'failed': {
        const { attempts } = claim.value;
        const delayMs = result.retryAfterMs ?? Math.min(longestDelayMs, firstDelayMs * 2 ** (attempts - 1));
        if (result.retryAfterMs !== null) this.#pausedUntilMs = this.#now() + result.retryAfterMs;
        this.#deps.onFailure(new Error(`a message about a request was not sent: ${result.reason}`));
        await this.#store(claim, { dueAtMs: this.#now() + delayMs });
        return;
      }
    }
  }

  /** Stores the next version of a message; null when another process has stored one. */
  async #store(
    { value, version }: StoredMessage,
    change: Partial<ChatMessage>,
  ): Promise<StoredMessage | null> {
    const { documents } = this.#deps.store;
    const changed = { ...value, ...change };
    const result = await documents.write([chatMessagesOf(documents).put(changed, version)], null);
    return result === 'changed' ? { value: changed, version: version + 1 } : null;
  }
}
