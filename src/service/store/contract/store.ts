// What the service needs of a store, whatever keeps the rows. The promise of a write resolves only when the
// write is durable, and rejects with a StoreError when nothing of the write was stored. INVARIANT: a read
// after a resolved write sees the write, and sees what other processes have committed to the same store.

import type { ActivityStore } from './agent-activity.ts';
import type { ChangePage, ChangeRow, VotePage, VoteRow } from './audit-log.ts';
import type { ChainRecord } from './chain.ts';
import type { ApproverIdentity } from './control-owner-group.ts';
import type { DocumentStore, DocumentWrite, ManagementChange } from './documents.ts';
import type { GrantPrecondition } from './grant-precondition.ts';
import type { ChainPosition } from './lanes.ts';
import type { RecordsLocation } from './log.ts';
import type { MeterEntryRow, MeterStore, MetersRead, SettledEntryRow } from './metering.ts';
import type {
  AgentRow,
  AgentStatus,
  AgentWithKey,
  FilterStatus,
  KeyRow,
  NonceUse,
  PlantRow,
  RefusalRecord,
  RequestEvent,
  RequestRow,
  RequestStatus,
  SigningMode,
} from './records.ts';
import type { ReplicaStore } from './replicas.ts';
import type { RequestCount } from './search.ts';
import type { WantedText } from './search-text.ts';
import type { StateStore } from './state.ts';
import type { StatisticsStore } from './statistics.ts';
import type { StoreError } from './store-error.ts';
import type { TreeStore } from './tree.ts';

export interface Store {
  readonly agents: AgentStore;
  readonly requests: RequestStore;
  readonly plants: PlantStore;
  readonly settings: SettingStore;
  readonly nonces: NonceStore;
  readonly chain: ChainStore;
  readonly tree: TreeStore;
  readonly documents: DocumentStore;
  readonly meters: MeterStore;
  readonly statistics: StatisticsStore;
  readonly activity: ActivityStore;
  readonly state: StateStore;
  /**
   * From now on this process serves the store, until it closes the store. Rejects with `already-served` when
   * another process serves it and `replicas` is null, since each process would count meters for itself.
   */
  serve(): Promise<void>;
  /**
   * What the processes that serve the same store agree on; null for a store that only one process may serve
   * at a time.
   */
  readonly replicas: ReplicaStore | null;
  /**
   * Resolves when the caller can rely on what was read before the call. Returns `nonce-used` when another
   * process has taken the nonce before, else `settled`.
   */
  settle(nonce?: string): Promise<'settled' | 'nonce-used'>;
  /** 32 bytes, kept outside the database. */
  readonly masterKey: Uint8Array;
  readonly records: RecordsLocation;
  /**
   * Copies one snapshot of the store and its master key to `path` and `<path>.key`, readable by their owner
   * alone; writes go on meanwhile. Rejects when either file exists.
   */
  copyTo(path: string): Promise<void>;
  /** False for a few seconds after a failed write, and for ever once the writer is lost. */
  isWritable(): boolean;
  /**
   * What the operator has to change before anything is stored; null when the store knows of no such fault.
   */
  fault(): string | null;
  /**
   * Calls the listener once this process can never store anything more, though it has not closed the store:
   * its writer has ended, or another process has its place.
   */
  onEnd(listener: (why: StoreError) => void): void;
  /**
   * The time of the server that several processes share, in milliseconds since 1970-01-01T00:00Z, not
   * rounded; null when this machine's clock is the only one. May go back.
   */
  serverNow(): number | null;
  /** The size of the store on its disk, in bytes; null where the database does not tell. */
  sizeBytes(): Promise<number | null>;
  /** How many writes are waiting for the disk. */
  queueDepth(): number;
  /** Returns where the time of writes has gone since the store was opened; null where the store does not tell. */
  readonly writeTimes: (() => WriteTimes) | null;
  /** How many reads are waiting for a connection, and how many were refused since too many did. */
  readQueue(): { readonly waiting: number; readonly refused: number };
  /** Finishes the writes under way, then closes all files. Another call changes nothing. */
  close(): Promise<void>;
}

export interface WriteTimes {
  readonly writes: number;
  /** Transactions: one commits all writes that came in a turn, or while the one before it was under way. */
  readonly commits: number;
  /**
   * Seconds, summed over the writes: in the queue, on the way to the writer's thread, until the transaction is on disk,
   * and on the way back.
   */
  readonly seconds: Readonly<Record<'queue' | 'message' | 'commit' | 'answer', number>>;
}

/** The most keys of one agent that are valid at the same time. */
export const liveKeysMax = 2;

/**
 * The name that the record gives to the author of a change of management; the store's own actor when absent.
 */
export interface ChangeAuthor {
  readonly who?: string | undefined;
}

export interface AgentStore {
  add(agent: AgentRow, key: KeyRow, by?: ChangeAuthor): Promise<'added' | 'name-taken'>;
  /** All agents by name, code point by code point. */
  list(): Promise<readonly AgentRow[]>;
  /** A page of agents, the latest first: those after `after`. */
  page(page: AgentPage): Promise<readonly AgentRow[]>;
  find(idOrName: string): Promise<AgentRow | null>;
  findByKeyId(keyId: string): Promise<AgentWithKey | null>;
  /** The agent's keys, the oldest first. */
  keys(agentId: string): Promise<readonly KeyRow[]>;
  /** Changes the description of an agent; a revoked agent stays unchanged. */
  describe(change: AgentDescription): Promise<AgentDescriptionResult>;
  setStatus(change: StatusChange): Promise<StatusChangeResult>;
  setSigning(change: SigningChange): Promise<SigningChangeResult>;
  /** Adds a key and makes the agent's other valid keys end at `othersNotAfterMs` at the latest. */
  rotateKey(rotation: KeyRotation): Promise<'added' | 'too-many-keys' | 'unknown-agent'>;
  /**
   * Notes that a key was used. Causes no write of its own: the minute of the use reaches the disk with a
   * later batch.
   */
  noteUse(key: KeyRow, nowMs: number): void;
  /**
   * A count that grows when a change of an agent or a key is asked for through this store, and again when the
   * change is done. What was read before it grew may be out of date. Changes by other processes do not count.
   */
  changesHere(): number;
}

export interface AgentPage {
  readonly after: Pick<AgentRow, 'createdAtMs' | 'id'> | null;
  readonly countMax: number;
}

/** The properties of an agent that may be changed. */
export type DescribedAgent = Pick<
  AgentRow,
  'name' | 'riskTier' | 'controlOwner' | 'tags' | 'ratePerMinute' | 'burst' | 'tellsChange'
>;

export interface AgentDescription extends ChangeAuthor, DescribedAgent {
  readonly agentId: string;
  readonly atMs: number;
}

export type AgentDescriptionResult =
  | 'changed'
  | 'unchanged'
  | 'unknown-agent'
  | 'already-revoked'
  | 'name-taken';

export interface StatusChange extends ChangeAuthor {
  readonly agentId: string;
  readonly status: AgentStatus;
  readonly atMs: number;
}

/** `already-revoked`: a revocation is final; nothing was changed. */
export type StatusChangeResult = 'changed' | 'unchanged' | 'unknown-agent' | 'already-revoked';

export interface SigningChange extends ChangeAuthor {
  readonly agentId: string;
  /** `off` deletes the secret. */
  readonly signing: SigningMode;
  /** Replaces the secret; null keeps the present one. */
  readonly newSealedSecret: string | null;
  readonly atMs: number;
}

/** `no-secret`: the agent has no secret to keep; nothing was changed. */
export type SigningChangeResult = 'changed' | 'no-secret' | 'unknown-agent';

export interface KeyRotation extends ChangeAuthor {
  readonly key: KeyRow;
  readonly othersNotAfterMs: number;
}

export interface RequestStore {
  /**
   * Stores a decided request. `duplicate-key`: the agent's idempotency key still means another request.
   * `too-many-open`: the request is pending, and the agent already has `openMax` pending requests.
   * `precondition-failed`: agent, key, switches, people or policies have changed since the decision saw them.
   * `nonce-used`: another process has taken the nonce of the signature. After any of these, nothing is
   * stored. All are judged in the transaction of the write, so two requests cannot pass together when only
   * one may.
   */
  append(
    row: RequestRow,
    limits: AppendLimits,
    /** What the request adds to meters. */
    entries?: readonly MeterEntryRow[],
  ): Promise<AppendResult>;
  /**
   * Stores pending requests of one agent with the documents and the record of the change that they belong to: all of it
   * or nothing. `duplicate-key`: a document has another version than the one seen, or its name is taken.
   * `too-many-open`: with all of them, the agent would have more than `openMax` pending requests.
   */
  appendTogether(batch: RequestBatch): Promise<AppendResult>;
  find(id: string): Promise<RequestRow | null>;
  /** The request that the idempotency key means at `nowMs`. */
  findByIdempotencyKey(query: IdempotencyQuery): Promise<RequestRow | null>;
  /** How many requests of the agent are pending and before their deadline. */
  countOpen(agentId: string, nowMs: number): Promise<number>;
  /** A request with all its events, the earliest first, from one snapshot. */
  history(id: string): Promise<RequestHistory | null>;
  /** The events of a request, the earliest first. */
  events(id: string): Promise<readonly RequestEvent[]>;
  /** A page of requests that fit the filter, the latest first. */
  list(page: RequestPage): Promise<FoundRequests>;
  /** How many requests fit the filter, as far as can be counted within a time limit. */
  count(filter: RequestFilter): Promise<RequestCount>;
  /** Pending requests that ask the person for an approval or a step-up, the nearest deadline first. */
  waiting(page: WaitingPage): Promise<readonly RequestHistory[]>;
  /** Counts the requests that `waiting` lists, without reading most of them. */
  countWaiting(query: WaitingCount): Promise<PendingCounts>;
  /**
   * The agent's requests for the action that wait, or that people have approved and that are not over, the
   * latest end first. Before all of them comes the request that `taker` has taken.
   */
  heldOf(query: HeldQuery): Promise<readonly RequestHistory[]>;
  /** Pending requests by the approval group that they ask; those that ask a control owner are under `owner`. */
  pendingByGroup(nowMs: number): Promise<readonly PendingGroup[]>;
  /** Ids of pending requests that have been pending long enough to ask the next fallback, the nearest deadline first. */
  dueFallbacks(nowMs: number, countMax: number): Promise<readonly string[]>;
  /** Pending requests with the number of their events, the nearest deadline first. */
  pendingChanges(
    nowMs: number,
    countMax: number,
  ): Promise<readonly { readonly id: string; readonly seen: number }[]>;
  /** Ids of the agent's pending requests. */
  openOf(agentId: string, countMax: number): Promise<readonly string[]>;
  /**
   * Records events of a request; the request then stands as its last event tells. `state-differs`: its status
   * is not one of `from`, or it has more events than were seen. `precondition-failed`: what the change rests on,
   * meters included, has changed since it was seen. Both are judged in the transaction of the write, so only
   * one of two conflicting changes is made.
   */
  change(change: RequestChange): Promise<RequestChangeResult>;
  /**
   * Records the end of pending requests whose deadline is `atMs` or earlier, at most `countMax`; returns
   * their ids.
   */
  expireDue(atMs: number, countMax: number): Promise<readonly string[]>;
  appendRefusal(record: RefusalRecord): Promise<void>;
  /** The agent's refusals, the latest first. */
  refusals(agentId: string, countMax: number): Promise<readonly RefusalRecord[]>;
}

/** Pending requests of one agent, without idempotency keys, that are stored together. */
export interface RequestBatch {
  readonly agentId: string;
  readonly requests: readonly BatchedRequest[];
  readonly limits: AppendLimits;
  /** The meters that the decisions rest on; not judged when absent. */
  readonly meters?: MetersRead | undefined;
  readonly documents: readonly DocumentWrite[];
  readonly change: ManagementChange;
}

export interface BatchedRequest {
  readonly row: RequestRow;
  /** What the request adds to meters. */
  readonly entries: readonly MeterEntryRow[];
}

export interface RequestHistory {
  readonly row: RequestRow;
  readonly events: readonly RequestEvent[];
}

export interface RequestChange {
  readonly requestId: string;
  /** Recorded in this order, all or none. */
  readonly events: readonly Omit<RequestEvent, 'requestId'>[];
  readonly from: readonly RequestStatus[];
  /** How many events had been seen; null when further events do not matter. */
  readonly seen: number | null;
  /** What the change rests on; not judged when absent. */
  readonly precondition?: GrantPrecondition | undefined;
  /** How the request's entries in some meters stand from now on. */
  readonly entries?: readonly SettledEntryRow[] | undefined;
  /** The meters that the change rests on; not judged when absent. */
  readonly meters?: MetersRead | undefined;
}

/** Conditions of a list of requests; null sets no condition. */
export interface RequestFilter {
  readonly agentId: string | null;
  readonly actionKey: string | null;
  /** The status at `nowMs`. */
  readonly status: FilterStatus | null;
  /** The outcome of the first decision. */
  readonly outcome: string | null;
  readonly policy: string | null;
  readonly riskMin: number | null;
  readonly riskMax: number | null;
  /** Compared with the number `amount` of the payload, whatever its currency. */
  readonly amountMin: number | null;
  readonly amountMax: number | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
  /** The words that a request must hold; null sets no condition, and an empty text fits no request. */
  readonly text: WantedText | null;
  /**
   * Only requests of agents whose control owner is `owner`, requests that ask `asked`, and requests that use a
   * standing approval of the person with the id `giver`; null for all requests.
   */
  readonly seenBy: {
    readonly owner: ApproverIdentity['owner'];
    readonly asked: ApproverIdentity;
    readonly giver: string | null;
  } | null;
  readonly nowMs: number;
}

/** The filter that every request meets. */
export const anyRequest: Omit<RequestFilter, 'nowMs'> = {
  agentId: null,
  actionKey: null,
  status: null,
  outcome: null,
  policy: null,
  riskMin: null,
  riskMax: null,
  amountMin: null,
  amountMax: null,
  fromMs: null,
  untilMs: null,
  text: null,
  seenBy: null,
};

/** The number of a request's record, as a place in a list. */
export interface RequestPosition {
  readonly sequence: number;
}

export interface RequestPage extends RequestFilter {
  readonly after: RequestPosition | null;
  readonly countMax: number;
}

export interface FoundRequests {
  readonly items: readonly (RequestHistory & RequestPosition)[];
  /**
   * Where the next page begins; null when this page is the last. A page looks through a fixed number of
   * requests, so a page of a rare filter may hold few requests or none.
   */
  readonly next: RequestPosition | null;
  /** The most record numbers that the search index does not hold yet; 0 when the filter has no text. */
  readonly unsearched: number;
}

export interface WaitingCount extends Pick<WaitingPage, 'identity' | 'nowMs'> {
  /** The person's id and address, to tell whose agents are theirs. */
  readonly person: ApproverIdentity['owner'] & object;
}

export interface PendingGroup {
  readonly group: string;
  readonly count: number;
  /** When the first of the requests expires. */
  readonly nearestMs: number;
}

export interface PendingCounts {
  /**
   * The requests that wait and are not in `touched`, by agent, action and enforcement point: their number, and one of
   * them.
   */
  readonly untouched: readonly { readonly count: number; readonly first: RequestHistory }[];
  /**
   * The waiting requests that somebody has approved or asked a question about, those that leave somebody out, and
   * those of agents whose control owner the person is.
   */
  readonly touched: readonly RequestHistory[];
}

export interface WaitingPage {
  readonly identity: ApproverIdentity;
  readonly nowMs: number;
  readonly after: { readonly expiresAtMs: number; readonly id: string } | null;
  readonly countMax: number;
}

export interface AppendLimits {
  readonly openMax: number;
  /** What the decision rests on; not judged when absent. */
  readonly precondition?: GrantPrecondition | undefined;
}

export type RequestChangeResult = 'changed' | 'unknown-request' | 'state-differs' | 'precondition-failed';

export type AppendResult =
  | 'stored'
  | 'duplicate-key'
  | 'too-many-open'
  | 'precondition-failed'
  | 'nonce-used';

export interface IdempotencyQuery {
  readonly agentId: string;
  readonly key: string;
  readonly nowMs: number;
}

export interface HeldQuery {
  readonly agentId: string;
  readonly actionKey: string;
  /** The taker named by the event `taken`; null when the caller can have taken none. */
  readonly taker: string | null;
  readonly nowMs: number;
  readonly countMax: number;
}

export interface PlantStore {
  /** `used`: a plant with this id exists and stays unchanged. Throws RangeError for an id beyond 64 bits. */
  add(plant: PlantRow): Promise<'added' | 'used'>;
  find(id: bigint): Promise<PlantRow | null>;
}

export interface SettingStore {
  get(name: string): Promise<string | null>;
  /** Returns the value that is stored afterwards: the one that was there before, or else `value`. */
  putIfAbsent(name: string, value: string): Promise<string>;
}

export interface NonceStore {
  /** The uses that are still kept, the oldest first. */
  list(): Promise<readonly NonceUse[]>;
  /** Uses of signatures from before this moment may have been forgotten; null when none were. */
  validFromMs(): Promise<number | null>;
  /**
   * Remembers the use of a nonce. It is durable before any write that is asked for later resolves, so before
   * the record of the request that used it. While the store is open the write is never given up, so nobody
   * has to wait for it.
   */
  note(use: NonceUse): void;
}

/** The records as one chain, numbered from 1: requests and their events, refusals, changes of management. */
export interface ChainStore {
  /**
   * The records with the `countMax` numbers after `afterSequence`, or after the place where the chain begins
   * if that is later. A chain of several lanes is read up to `lastSequence`: no record before it is still
   * being written.
   */
  segment(afterSequence: number, countMax: number): Promise<ChainSegment>;
  /** Changes of management, the latest first. */
  changes(page: ChangePage): Promise<readonly ChangeRow[]>;
  /** Votes of people on requests, the latest first. */
  votes(page: VotePage): Promise<readonly VoteRow[]>;
  /** The numbers of the records of a request: its own and those of its events. `requestId` is a UUID. */
  sequencesOf(requestId: string): Promise<readonly number[]>;
  /** All checkpoints, by number; the caller has to check which of them are genuine. */
  checkpoints(): Promise<readonly SignedCheckpoint[]>;
  /** When the latest record of any kind was made; null when there are none. */
  latestAtMs(): Promise<number | null>;
  addCheckpoint(checkpoint: SignedCheckpoint): Promise<void>;
  /** Stores a knot if a lane has moved since the last knot; does nothing in a store of one lane. */
  tie(): Promise<void>;
  /**
   * Deletes all records up to a checkpoint whose purpose is `pruned`, which becomes the place where the chain
   * begins, and records the change. `not-there`: the chain has no such record; nothing was changed.
   */
  prune(checkpoint: SignedCheckpoint): Promise<'pruned' | 'not-there'>;
}

export interface ChainSegment {
  /** Where the chain begins after records were deleted; null when it begins with record 1. */
  readonly pruning: SignedCheckpoint | null;
  /** By number. After tampering, numbers may be missing or occur twice. */
  readonly records: readonly ChainRecord[];
  /** The number of the first stored record; null when there are none. */
  readonly firstSequence: number | null;
  /** The number of the last record, even if that was deleted. */
  readonly lastSequence: number;
}

/** `end`: the chain had this record. `pruned`: the chain begins after this record. */
export type CheckpointPurpose = 'end' | 'pruned';

/** A place in the chain, signed by a holder of the master key. */
export interface SignedCheckpoint extends ChainPosition {
  readonly atMs: number;
  readonly purpose: CheckpointPurpose;
  /** The Ed25519 signature, in base64url. */
  readonly signature: string;
}
