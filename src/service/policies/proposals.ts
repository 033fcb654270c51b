// Proposals: changes of the active policies that somebody asks for, as stored. The summary of a proposal and its
// content, which may be large, are two documents. INVARIANT: a proposal is settled once, in one write with the record of
// who did it and with the versions of everything that allowed it.

import type { CanonicalValue } from '../store/contract/canonical-json.ts';
import { type Collection, createCollection, type ReadDocument } from '../store/contract/collection.ts';
import type { DocumentStore, DocumentWrite, ManagementChange } from '../store/contract/documents.ts';
import type { FileChange } from './change-files.ts';

export const proposalStatuses = ['pending', 'accepted', 'rejected', 'withdrawn'] as const;
export type ProposalStatus = (typeof proposalStatuses)[number];

/** Who proposes or settles; `system` for what a setting lets happen by itself. */
export interface ProposalActor {
  readonly kind: 'person' | 'agent' | 'point' | 'system';
  readonly id: string;
  readonly name: string;
  /** The name in records. */
  readonly who: string;
}

/** What a proposal means for one active set. */
export interface Judgement {
  /** The digest of the active set. */
  readonly active: string;
  /** The digest of the proposed set; null when the change does not apply or has errors. */
  readonly proposed: string | null;
  readonly classification: string;
  /** Why the change does not apply, or its first error; null when there is a proposed set. */
  readonly problem: string | null;
  readonly broken: readonly string[];
  readonly notes: readonly string[];
  readonly counts: {
    readonly loosened: number;
    readonly stricter: number;
    readonly reworded: number;
    readonly undecided: number;
  };
  /** Null when no tests were run. */
  readonly tests: { readonly passed: number; readonly failed: number; readonly newly_failed: number } | null;
  readonly atMs: number;
}

export interface Proposal {
  readonly id: string;
  readonly proposer: ProposalActor;
  readonly reason: string;
  /** The request that the proposal is about; null for none. */
  readonly requestId: string | null;
  readonly paths: readonly string[];
  readonly status: ProposalStatus;
  readonly judgement: Judgement;
  readonly settled: Settlement | null;
  /** How an accepted proposal takes effect: the service writes the files, or somebody applies the patch. */
  readonly delivery: 'files' | 'patch' | null;
  /** When the proposed set became active; null until then. */
  readonly activeAtMs: number | null;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

interface Settlement {
  readonly atMs: number;
  readonly by: ProposalActor;
  readonly comment: string;
}

/** What a proposal changes, and the latest comparison. */
export interface ProposalContent {
  readonly files: readonly FileChange[];
  readonly patch: string;
  /** The comparison as plain JSON, which only people read; null for a change that does not apply. */
  readonly report: unknown;
}

interface StoredContent extends ProposalContent {
  readonly id: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

export type ReadProposal = ReadDocument<Proposal>;

/** A pending proposal ends after this many days. */
export const pendingDays = 30;
/** A settled proposal is deleted after this many days. */
export const settledDays = 90;
const dayMs = 86_400_000;

/** The most pending proposals, of all and of one proposer, and the most new ones of a day. */
export const proposalLimits = { pending: 100, pendingOfOne: 10, daily: 300, dailyOfOne: 50 } as const;

export interface NewProposal
  extends Pick<Proposal, 'id' | 'proposer' | 'reason' | 'requestId' | 'judgement'> {
  readonly content: ProposalContent;
}

/** A change of a proposal that was read, with what else is written with it. */
export interface SettleInput {
  readonly status: Exclude<ProposalStatus, 'pending'>;
  readonly by: ProposalActor;
  readonly comment: string;
  readonly delivery: Proposal['delivery'];
  /** Documents that must be as they were seen, and messages that go out. */
  readonly along: readonly DocumentWrite[];
}

export interface Proposals {
  find(id: string): Promise<ReadProposal | null>;
  content(id: string): Promise<ProposalContent | null>;
  /** The latest first. */
  list(page: {
    readonly state: 'pending' | 'settled' | null;
    readonly after: { readonly createdAtMs: number; readonly id: string } | null;
    readonly countMax: number;
  }): Promise<readonly ReadProposal[]>;
  /** Why the proposer may not propose anything more now, as a sentence in lower case; null when they may. */
  refusal(proposer: ProposalActor): Promise<string | null>;
  create(draft: NewProposal, along: readonly DocumentWrite[]): Promise<ReadProposal | null>;
  /** Stores a later judgement of a pending proposal; null when it has changed in the meantime. */
  judgeAgain(
    read: ReadProposal,
    latest: { readonly judgement: Judgement; readonly content: ProposalContent | null },
  ): Promise<ReadProposal | null>;
  /** Null when the proposal, or a document along with it, has changed in the meantime. */
  settle(read: ReadProposal, input: SettleInput): Promise<ReadProposal | null>;
  /** Notes that the proposed set is active. */
  noteActive(read: ReadProposal): Promise<ReadProposal | null>;
  /** Makes an accepted proposal pending again, because its files could not be written. */
  reopen(read: ReadProposal, why: string): Promise<ReadProposal | null>;
}

export function createProposals(documents: DocumentStore, clock: () => number): Proposals {
  return new StoredProposals(documents, clock);
}

/** A class because its methods share two collections. */
class StoredProposals implements Proposals {
  readonly #documents: DocumentStore;
  readonly #clock: () => number;
  readonly #proposals: Collection<Proposal>;
  readonly #contents: Collection<StoredContent>;

  constructor(documents: DocumentStore, clock: () => number) {
    this.#documents = documents;
    this.#clock = clock;
    this.#proposals = createCollection(documents, 'policy-proposal', ({ status, endsAtMs }) => ({
      parent: status === 'pending' ? 'pending' : 'settled',
      endsAtMs,
    }));
    this.#contents = createCollection(documents, 'policy-proposal-content', ({ endsAtMs }) => ({ endsAtMs }));
  }

  async find(id: string): Promise<ReadProposal | null> {
    const read = await this.#proposals.find(id);
    return read === null || this.#hasEnded(read) ? null : read;
  }

  async content(id: string): Promise<ProposalContent | null> {
    return (await this.#contents.find(id))?.value ?? null;
  }

  async list({ state, ...page }: Parameters<Proposals['list']>[0]): Promise<readonly ReadProposal[]> {
    const all = await this.#proposals.list(state === null ? page : { ...page, parent: state });
    return all.filter((read) => !this.#hasEnded(read));
  }

  async refusal(proposer: ProposalActor): Promise<string | null> {
    const { pending, pendingOfOne, daily, dailyOfOne } = proposalLimits;
    const open = await this.list({ state: 'pending', after: null, countMax: pending });
    const own = (all: readonly ReadProposal[]): number =>
      all.filter((one) => isBy(one.value, proposer)).length;
    if (own(open) >= pendingOfOne) return `at most ${pendingOfOne} of your proposals can be pending`;
    if (open.length >= pending) return `at most ${pending} proposals can be pending`;
    const since = this.#clock() - dayMs;
    const recent = (await this.list({ state: null, after: null, countMax: daily })).filter(
      ({ value }) => value.createdAtMs > since,
    );
    if (own(recent) >= dailyOfOne) return `you can make at most ${dailyOfOne} proposals a day`;
    return recent.length >= daily ? `at most ${daily} proposals can be made a day` : null;
  }

  async create(
    { content, ...draft }: NewProposal,
    along: readonly DocumentWrite[],
  ): Promise<ReadProposal | null> {
    const createdAtMs = Math.trunc(this.#clock());
    const value: Proposal = {
      ...draft,
      paths: content.files.map(({ path }) => path),
      status: 'pending',
      settled: null,
      delivery: null,
      activeAtMs: null,
      createdAtMs,
      endsAtMs: createdAtMs + pendingDays * dayMs,
    };
    const writes = [this.#proposals.put(value, 0), this.#contentPut(value, content, 0), ...along];
    return await this.#write({ value, version: 0 }, writes, {
      who: draft.proposer.who,
      what: 'proposal-made',
      before: null,
      after: { ...recorded(value), reason: draft.reason, request_id: draft.requestId },
    });
  }

  async judgeAgain(
    { value: old, version }: ReadProposal,
    { judgement, content }: { readonly judgement: Judgement; readonly content: ProposalContent | null },
  ): Promise<ReadProposal | null> {
    const value = { ...old, judgement };
    const stored = content === null ? null : await this.#contents.find(old.id);
    const writes = [
      this.#proposals.put(value, version),
      ...(content === null || stored === null ? [] : [this.#contentPut(value, content, stored.version)]),
    ];
    // A judgement changes nothing, so no record tells of it; whoever accepts is bound to its digests.
    return await this.#write({ value, version }, writes, null);
  }

  async settle(
    read: ReadProposal,
    { status, by, comment, delivery, along }: SettleInput,
  ): Promise<ReadProposal | null> {
    const { value: old, version } = read;
    const atMs = Math.trunc(this.#clock());
    const value: Proposal = {
      ...old,
      status,
      delivery,
      settled: { atMs, by, comment },
      endsAtMs: atMs + settledDays * dayMs,
    };
    const kept = await this.#settledContent(value);
    const writes = [this.#proposals.put(value, version), ...kept, ...along];
    return await this.#write({ value, version }, writes, {
      who: by.who,
      what: `proposal-${status}`,
      before: { status: old.status },
      after: { ...recorded(value), comment },
    });
  }

  async noteActive({ value: old, version }: ReadProposal): Promise<ReadProposal | null> {
    const value = { ...old, activeAtMs: Math.trunc(this.#clock()) };
    return await this.#write({ value, version }, [this.#proposals.put(value, version)], null);
  }

  async reopen({ value: old, version }: ReadProposal, why: string): Promise<ReadProposal | null> {
    const endsAtMs = Math.trunc(this.#clock()) + pendingDays * dayMs;
    const value: Proposal = { ...old, status: 'pending', settled: null, delivery: null, endsAtMs };
    return await this.#write({ value, version }, [this.#proposals.put(value, version)], {
      who: 'system',
      what: 'proposal-not-written',
      before: { status: old.status },
      after: { ...recorded(value), problem: why },
    });
  }

  /** The content with its new end; that of a withdrawn proposal, which nobody has looked at, is deleted. */
  async #settledContent(value: Proposal): Promise<readonly DocumentWrite[]> {
    const stored = await this.#contents.find(value.id);
    if (stored === null) return [];
    return value.status === 'withdrawn'
      ? [this.#contents.remove(stored.value, stored.version)]
      : [this.#contentPut(value, stored.value, stored.version)];
  }

  #contentPut(
    { id, createdAtMs, endsAtMs }: Proposal,
    { files, patch, report }: ProposalContent,
    seen: number,
  ) {
    return this.#contents.put({ id, createdAtMs, endsAtMs, files, patch, report }, seen);
  }

  async #write(
    { value, version }: ReadProposal,
    writes: readonly DocumentWrite[],
    change: Pick<ManagementChange, 'who' | 'what' | 'before' | 'after'> | null,
  ): Promise<ReadProposal | null> {
    const record = change === null ? null : { ...change, subject: value.id, atMs: Math.trunc(this.#clock()) };
    const result = await this.#documents.write(writes, record);
    return result === 'changed' ? { value, version: version + 1 } : null;
  }

  #hasEnded({ value }: ReadProposal): boolean {
    return value.endsAtMs <= this.#clock();
  }
}

/** What records say of a proposal. */
function recorded({
  status,
  judgement,
  paths,
  proposer,
}: Proposal): Readonly<Record<string, CanonicalValue>> {
  const { active, proposed, classification } = judgement;
  return { status, active, proposed, classification, files: [...paths], proposer: proposer.who };
}

export function isBy({ proposer }: Pick<Proposal, 'proposer'>, { kind, id }: ProposalActor): boolean {
  return proposer.kind === kind && proposer.id === id;
}
