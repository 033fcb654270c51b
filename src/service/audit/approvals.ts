// Who approved or rejected what, and when, from the records: each vote with the request and the agent that it was about,
// the latest first. INVARIANT: a vote is listed as it was recorded, whatever has become of its person or its request.

import type { Person } from '../people/person.ts';
import { recordTitle } from '../requests/record/record.ts';
import { requestStateOf } from '../requests/record/request-state.ts';
import type { VotePage, VoteRow } from '../store/contract/audit-log.ts';
import type { ChatAccount } from '../store/contract/chat-account.ts';
import { createCollection } from '../store/contract/collection.ts';
import type { Store } from '../store/contract/store.ts';
import { csvCell } from './export.ts';

export interface ListedApproval {
  /** The number of the record. */
  readonly sequence: number;
  readonly at: string;
  /** `taken_back`: the person has revoked an earlier approval. */
  readonly vote: 'approved' | 'rejected' | 'taken_back';
  readonly person: { readonly id: string; readonly name: string; readonly email: string };
  /** The e-mail address of the person in whose place a stand-in voted; null for the voter's own vote. */
  readonly stands_in_for: string | null;
  /** Null for the control owner. */
  readonly group: string | null;
  readonly comment: string;
  /** The account by which the person voted in a chat; null when they voted in Writ. */
  readonly chat: ChatAccount | null;
  readonly request_id: string;
  readonly action_key: string;
  readonly title: string;
  readonly agent: { readonly id: string; readonly name: string };
}

type ApprovalStore = Pick<Store, 'chain' | 'requests' | 'documents'>;

/** A page of votes; each is looked up with its request. */
export async function approvalsOf(store: ApprovalStore, page: VotePage): Promise<readonly ListedApproval[]> {
  const people = createCollection<Person>(store.documents, 'person', ({ email }) => ({ name: email }));
  const names = new Map<string, string>();
  const nameOf = async (id: string): Promise<string> => {
    const cached = names.get(id) ?? (await people.find(id))?.value.name ?? '';
    names.set(id, cached);
    return cached;
  };
  const listed: ListedApproval[] = [];
  for (const row of await store.chain.votes(page)) listed.push(await listedApproval(store, row, nameOf));
  return listed;
}

async function listedApproval(
  store: ApprovalStore,
  { sequence, atMs, who, what, requestId, detailJson }: VoteRow,
  nameOf: (id: string) => Promise<string>,
): Promise<ListedApproval> {
  const detail = (detailJson === null ? {} : JSON.parse(detailJson)) as Readonly<Record<string, unknown>>;
  const [, email = who, id = ''] = /^(.*) \(([^()]*)\)$/s.exec(who) ?? [];
  const history = await store.requests.history(requestId);
  const record = history === null ? null : requestStateOf(history).record;
  return {
    sequence,
    at: new Date(atMs).toISOString(),
    vote: what === 'taken-back' ? 'taken_back' : what,
    person: { id, name: await nameOf(id), email },
    stands_in_for: emailIn(detail.standsInFor),
    group: typeof detail.group === 'string' ? detail.group : null,
    comment: typeof detail.comment === 'string' ? detail.comment : '',
    // `voteEvent` has written it.
    chat: (detail.chat as ChatAccount | undefined) ?? null,
    request_id: requestId,
    action_key: record?.actionKey ?? '',
    title: record === null ? '' : recordTitle(record),
    agent: { id: record?.agent.id ?? '', name: record?.agent.name ?? '' },
  };
}

function emailIn(person: unknown): string | null {
  const { email } = Object(person) as { readonly email?: unknown };
  return typeof email === 'string' ? email : null;
}

const votesAtOnce = 50;

/** All votes of a time in pages, the latest first. */
export async function* approvalPages(
  store: ApprovalStore,
  times: Pick<VotePage, 'sinceMs' | 'untilMs'>,
): AsyncGenerator<readonly ListedApproval[]> {
  for (let beforeSequence: number | null = null; ; ) {
    const page = await approvalsOf(store, { ...times, beforeSequence, countMax: votesAtOnce });
    if (page.length > 0) yield page;
    if (page.length < votesAtOnce) return;
    beforeSequence = page.at(-1)?.sequence ?? null;
  }
}

const csvColumns = {
  at: (one) => one.at,
  person: (one) => one.person.name,
  email: (one) => one.person.email,
  vote: (one) => one.vote.replace('_', ' '),
  for: (one) => one.group ?? 'control owner',
  in_place_of: (one) => one.stands_in_for ?? '',
  request: (one) => one.title,
  action: (one) => one.action_key,
  agent: (one) => one.agent.name,
  comment: (one) => one.comment,
  chat: ({ chat }) => (chat === null ? '' : `${chat.service} ${chat.workspace} ${chat.user}`),
  request_id: (one) => one.request_id,
  record: (one) => String(one.sequence),
} as const satisfies Readonly<Record<string, (one: ListedApproval) => string>>;

export const approvalNames = `${Object.keys(csvColumns).join(',')}\r\n`;

export function approvalRow(one: ListedApproval): string {
  return `${Object.values(csvColumns)
    .map((cellOf) => csvCell(cellOf(one)))
    .join(',')}\r\n`;
}
