// What the service asks of a store, whatever keeps the rows. Every promise of a write resolves only when the write is
// durable, and rejects with a StoreError when nothing of it was stored. INVARIANT: a read after a resolved write sees
// it, and sees what other processes have committed to the same store.

import type { ActivityStore } from './agent-activity.ts';
import type { AskedPerson } from './asked-owner.ts';
import type { ChainRecord } from './chain.ts';
import type { ChangePage, ChangeRow } from './changes.ts';
import type { DocumentStore } from './documents.ts';
import type { GrantBasis } from './grant-basis.ts';
import type { ChainPlace } from './lanes.ts';
import type { RecordsPlace } from './log.ts';
import type { MeterEntryRow, MeterStore, MetersRead, SettledEntryRow } from './metering.ts';
import type {
  AgentRow,
  AgentStatus,
  AgentWithKey,
  AskedStatus,
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

export interface Store {
  readonly agents: AgentStore;
  readonly requests: RequestStore;
  readonly plants: PlantStore;
  readonly settings: SettingStore;
  readonly nonces: NonceStore;
  readonly chain: ChainStore;
  readonly documents: DocumentStore;
  readonly meters: MeterStore;
  readonly statistics: StatisticsStore;
  readonly activity: ActivityStore;
  readonly state: StateStore;
  /**
   * From now on this process serves the store, until it closes it. Rejects with `already-served` where another one does, and
   * `replicas` is null: each would count meters for itself.
   */
  serve(): Promise<void>;
  /** What processes that serve the same store agree on; null where there is one at a time. */
  readonly replicas: ReplicaStore | null;
  /**
   * Resolves when what was read before the call can be relied on: `settled`, or `nonce-used` where another process has
   * taken the nonce before.
   */
  settle(nonce?: string): Promise<'settled' | 'nonce-used'>;
  /** 32 bytes, kept beside the database and never in it. */
  readonly masterKey: Uint8Array;
  readonly records: RecordsPlace;
  /**
   * Copies one snapshot of the store, with its master key, to `path` and `<path>.key`, for their owner alone;
   * writes go on meanwhile. Rejects where there is something at either place.
   */
  copyTo(path: string): Promise<void>;
  /** False for a few seconds after a write has failed, and for ever once the writer is lost. */
  isWritable(): boolean;
  /** What has to be changed before anything is stored, for the operator; null where the store knows of nothing. */
  fault(): string | null;
  /**
   * The time of the server that several processes share, in milliseconds since 1970-01-01T00:00Z, not rounded; null where this machine's
   * clock is the only one. It may go back.
   */
  serverNow(): number | null;
  /** How many writes wait for the disk now. */
  queueDepth(): number;
  /** Finishes the writes under way, then lets go of all files. Calling it again changes nothing. */
  close(): Promise<void>;
}

/** The most keys of one agent that are good at the same time. */
export const liveKeysMax = 2;

/** Who makes a change of management, as the record names them; the store's own actor where nobody is named. */
export interface Named {
  readonly who?: string | undefined;
}

export interface AgentStore {
  add(agent: AgentRow, key: KeyRow, by?: Named): Promise<'added' | 'name-taken'>;
  /** By name, code point by code point. */
  list(): Promise<readonly AgentRow[]>;
  /** The latest first, those after `after`. */
  page(page: AgentPage): Promise<readonly AgentRow[]>;
  find(idOrName: string): Promise<AgentRow | null>;
  findByKeyId(keyId: string): Promise<AgentWithKey | null>;
  /** The oldest first. */
  keys(agentId: string): Promise<readonly KeyRow[]>;
  /** Changes what is known of an agent; one that is revoked stays as it is. */
  describe(change: AgentDescription): Promise<AgentDescriptionResult>;
  setStatus(change: StatusChange): Promise<StatusChangeResult>;
  setSigning(change: SigningChange): Promise<SigningChangeResult>;
  /** Adds a key and gives the agent's other live keys an end, at the latest `othersNotAfterMs`. */
  rotateKey(rotation: KeyRotation): Promise<'added' | 'too-many-keys' | 'unknown-agent'>;
  /** Notes that a key was used. Costs no write of its own: the minute reaches the disk with a later batch. */
  noteUse(key: KeyRow, nowMs: number): void;
  /**
   * Grows whenever a change of an agent or a key is asked for through this store, and again when it is done: what was
   * found before may be out of date. Changes of other processes do not show here.
   */
  changesHere(): number;
}

export interface AgentPage {
  readonly after: Pick<AgentRow, 'createdAtMs' | 'id'> | null;
  readonly countMax: number;
}

/** What is said of an agent, and may be changed. */
export type DescribedAgent = Pick<
  AgentRow,
  'name' | 'riskTier' | 'controlOwner' | 'tags' | 'ratePerMinute' | 'burst' | 'tellsChange'
>;

export interface AgentDescription extends Named, DescribedAgent {
  readonly agentId: string;
  readonly atMs: number;
}

export type AgentDescriptionResult =
  | 'changed'
  | 'unchanged'
  | 'unknown-agent'
  | 'already-revoked'
  | 'name-taken';

export interface StatusChange extends Named {
  readonly agentId: string;
  readonly status: AgentStatus;
  readonly atMs: number;
}

/** `already-revoked`: revocation is final, nothing was changed. */
export type StatusChangeResult = 'changed' | 'unchanged' | 'unknown-agent' | 'already-revoked';

export interface SigningChange extends Named {
  readonly agentId: string;
  /** `off` forgets the secret. */
  readonly signing: SigningMode;
  /** Takes the place of the secret; null leaves it as it is. */
  readonly newSealedSecret: string | null;
  readonly atMs: number;
}

/** `no-secret`: the agent has none that could be left as it is; nothing was changed. */
export type SigningChangeResult = 'changed' | 'no-secret' | 'unknown-agent';

export interface KeyRotation extends Named {
  readonly key: KeyRow;
  readonly othersNotAfterMs: number;
}

export interface RequestStore {
  /**
   * Stores a decided request. `duplicate-key`: the agent's idempotency key still means another request.
   * `too-many-open`: the request is pending and the agent has `openMax` pending ones already. `basis-changed`: agent, key,
   * switches, people or policies are not as the decision saw them. `nonce-used`: another process has taken the nonce of its
   * signature. All are judged in the transaction of the write, so no two
   * requests can pass together where one alone may; nothing is stored then.
   */
  append(
    row: RequestRow,
    limits: AppendLimits,
    /** What the request adds to meters. */
    entries?: readonly MeterEntryRow[],
  ): Promise<AppendResult>;
  find(id: string): Promise<RequestRow | null>;
  /** The request that the key means at `nowMs`. */
  findByIdempotencyKey(query: IdempotencyQuery): Promise<RequestRow | null>;
  /** How many requests of the agent are pending and not past their deadline. */
  countOpen(agentId: string, nowMs: number): Promise<number>;
  /** A request with all that became of it, the earliest first, both from one snapshot. */
  history(id: string): Promise<RequestHistory | null>;
  /** What became of a request, the earliest first. */
  events(id: string): Promise<readonly RequestEvent[]>;
  /** The latest first. */
  list(page: RequestPage): Promise<RequestsFound>;
  /** How many there are, as far as can be counted in a moment. */
  count(filter: RequestFilter): Promise<RequestCount>;
  /** Pending requests that ask a person for an approval or a step-up, the nearest deadline first. */
  waiting(page: WaitingPage): Promise<readonly RequestHistory[]>;
  /** Counts the same without reading most of them. */
  countWaiting(query: WaitingCount): Promise<CountedWaiting>;
  /**
   * Requests of the agent for the action that wait or are approved by people and not over, and the one that was taken by
   * `taker`: the latest first, the latter before all.
   */
  heldOf(query: HeldQuery): Promise<readonly RequestHistory[]>;
  /** Ids of the agent's pending requests. */
  openOf(agentId: string, countMax: number): Promise<readonly string[]>;
  /**
   * Records what became of a request, and lets it stand as the last event says. `state-differs`: its status is not
   * one of `from`, or more has become of it than was seen. `basis-changed`: what the change rests on, meters included, is
   * not as it was seen. Both are judged in the transaction of the write, so of two changes that exclude each other one is made.
   */
  change(change: RequestChange): Promise<RequestChangeResult>;
  /** Records the end of pending requests whose deadline is at `atMs` or before; yields their ids. */
  expireDue(atMs: number, countMax: number): Promise<readonly string[]>;
  appendRefusal(record: RefusalRecord): Promise<void>;
  /** The latest first. */
  refusals(agentId: string, countMax: number): Promise<readonly RefusalRecord[]>;
}

export interface RequestHistory {
  readonly row: RequestRow;
  readonly events: readonly RequestEvent[];
}

export interface RequestChange {
  readonly requestId: string;
  /** All or none are recorded, in this order. */
  readonly events: readonly Omit<RequestEvent, 'requestId'>[];
  readonly from: readonly RequestStatus[];
  /** How many events had been seen; null where it does not matter what else has become of the request. */
  readonly seen: number | null;
  /** What the change rests on; not judged where it is absent. */
  readonly basis?: GrantBasis | undefined;
  /** How the entries of the request in some meters stand from now on. */
  readonly entries?: readonly SettledEntryRow[] | undefined;
  /** The meters that the change rests on; not judged where they are absent. */
  readonly meters?: MetersRead | undefined;
}

/** What is asked of a list of requests; null asks nothing. */
export interface RequestFilter {
  readonly agentId: string | null;
  readonly actionKey: string | null;
  /** Its status at `nowMs`. */
  readonly status: AskedStatus | null;
  /** The first decision's. */
  readonly outcome: string | null;
  readonly policy: string | null;
  readonly riskMin: number | null;
  readonly riskMax: number | null;
  readonly fromMs: number | null;
  readonly untilMs: number | null;
  /** What its words are to hold; null asks nothing, and nothing holds an empty one. */
  readonly text: WantedText | null;
  /** Only what agents ask whose control owner is `owner`, and what asks `asked`. */
  readonly seenBy: { readonly owner: AskedPerson['owner']; readonly asked: AskedPerson } | null;
  readonly nowMs: number;
}

/** The number of a request's record. */
export interface RequestPlace {
  readonly sequence: number;
}

export interface RequestPage extends RequestFilter {
  readonly after: RequestPlace | null;
  readonly countMax: number;
}

export interface RequestsFound {
  readonly found: readonly (RequestHistory & RequestPlace)[];
  /**
   * Where the next page goes on; null where there is none. So many requests are looked through for a page and no more,
   * so one of a rare filter may hold few, or none.
   */
  readonly next: RequestPlace | null;
  /** Numbers of records that are not in the search index yet, at most; 0 where no text is asked. */
  readonly unsearched: number;
}

export interface WaitingCount extends Pick<WaitingPage, 'asked' | 'nowMs'> {
  /** The id of a person who may have approved some. */
  readonly person: string;
}

export interface CountedWaiting {
  /** Of those that are not among `touched`. */
  readonly untouched: number;
  /** Those that the person has approved once, and those about which a question was asked. */
  readonly touched: readonly RequestHistory[];
}

export interface WaitingPage {
  readonly asked: AskedPerson;
  readonly nowMs: number;
  readonly after: { readonly expiresAtMs: number; readonly id: string } | null;
  readonly countMax: number;
}

export interface AppendLimits {
  readonly openMax: number;
  /** What the decision rests on; not judged where it is absent. */
  readonly basis?: GrantBasis | undefined;
}

export type RequestChangeResult = 'changed' | 'unknown-request' | 'state-differs' | 'basis-changed';

export type AppendResult = 'stored' | 'duplicate-key' | 'too-many-open' | 'basis-changed' | 'nonce-used';

export interface IdempotencyQuery {
  readonly agentId: string;
  readonly key: string;
  readonly nowMs: number;
}

export interface HeldQuery {
  readonly agentId: string;
  readonly actionKey: string;
  /** As the event `taken` has it; null where nobody has taken one. */
  readonly taker: string | null;
  readonly nowMs: number;
  readonly countMax: number;
}

export interface PlantStore {
  /** `used`: there is a plant with this id, and it stays as it is. Throws RangeError beyond 64 bits. */
  add(plant: PlantRow): Promise<'added' | 'used'>;
  find(id: bigint): Promise<PlantRow | null>;
}

export interface SettingStore {
  get(name: string): Promise<string | null>;
  /** The value that counts afterwards: the one that was there before, or else `value`. */
  putIfAbsent(name: string, value: string): Promise<string>;
}

export interface NonceStore {
  /** Uses that are still kept, the oldest first. */
  kept(): Promise<readonly NonceUse[]>;
  /** Uses with a signature from before this moment may have been forgotten; null where none was. */
  validFromMs(): Promise<number | null>;
  /**
   * Remembers a use. It is durable before any write that is asked for later resolves, so before the record of the
   * request that used it, and is never given up while the store is open: nobody waits for it.
   */
  note(use: NonceUse): void;
}

/** The records as one chain: requests and what became of them, refusals, changes of management, numbered from 1. */
export interface ChainStore {
  /**
   * The records with the `countMax` numbers after `afterSequence`, or after the place where the chain begins; of several lanes those
   * up to `lastSequence`, before which no record is missing that is still being written.
   */
  stretch(afterSequence: number, countMax: number): Promise<ChainStretch>;
  /** Changes of management, the latest first. */
  changes(page: ChangePage): Promise<readonly ChangeRow[]>;
  /** By number; which of them are genuine is for the reader to see. */
  checkpoints(): Promise<readonly SignedCheckpoint[]>;
  /** When the last record of each kind was made, whichever is the latest; null where there are none. */
  latestAtMs(): Promise<number | null>;
  addCheckpoint(checkpoint: SignedCheckpoint): Promise<void>;
  /** Stores a knot where a lane has moved since the last one; does nothing where there is one lane. */
  tie(): Promise<void>;
  /**
   * Deletes all records up to a checkpoint whose purpose is `pruned`, which becomes the place where the chain begins,
   * and records the change. `not-there`: the chain has no such record there, nothing was changed.
   */
  prune(checkpoint: SignedCheckpoint): Promise<'pruned' | 'not-there'>;
}

export interface ChainStretch {
  /** Where the chain begins, for records were deleted; null where it begins with record 1. */
  readonly pruning: SignedCheckpoint | null;
  /** By number. Where the store was tampered with, numbers may be missing, or be there twice. */
  readonly records: readonly ChainRecord[];
  /** Of all records that are stored; null where there are none. */
  readonly firstSequence: number | null;
  /** The number of the last record, also where that is deleted. */
  readonly lastSequence: number;
}

/** `end`: the chain had this record. `pruned`: it begins after this record. */
export type CheckpointPurpose = 'end' | 'pruned';

/** A place in the chain to which someone who holds the master key has put a signature. */
export interface SignedCheckpoint extends ChainPlace {
  readonly atMs: number;
  readonly purpose: CheckpointPurpose;
  /** Base64url. */
  readonly signature: string;
}
