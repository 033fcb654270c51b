// /v1/audit: what people changed, and whether the chain of records is as it was written. INVARIANT: a walk
// over any number of records gives way to other work after every few of them, and ends after a moment, to be
// continued by the next call.

import { setImmediate as pause } from 'node:timers/promises';
import { isoTime } from '../../../../language/value/iso-time.ts';
import {
  approvalNames,
  approvalPages,
  approvalRow,
  approvalsOf,
  type ListedApproval,
} from '../../../audit/approvals.ts';
import * as chainExport from '../../../audit/export.ts';
import { type ChainBreak, verifyChain } from '../../../audit/verify.ts';
import type { Person } from '../../../people/person.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import type { ChangeRow } from '../../../store/contract/audit-log.ts';
import type { Collection } from '../../../store/contract/collection.ts';
import { type ChainPosition, type LaneEnd, laneTuples, readLanes } from '../../../store/contract/lanes.ts';
import { nameOfDifference } from '../../../store/contract/state.ts';
import type { Store } from '../../../store/contract/store.ts';
import { type JsonSchema, type Parameter, queryParameter } from '../../contract/operation.ts';
import {
  collect,
  type PageCursor,
  pageOf,
  pageParameters,
  pageReply,
  readPage,
} from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { chatAccountOrNull, objectSchema, text, textOrNull, time } from '../../contract/schemas.ts';
import type { Downloads } from '../../routing/downloads.ts';
import { type Route, route } from '../../routing/route.ts';

interface AuditDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  /** A clock in milliseconds from any beginning, which never goes back. */
  readonly steadyMs: () => number;
  readonly downloads: Downloads;
}

const times: readonly Parameter[] = [
  queryParameter('from', 'At or after this time.', time, '2026-03-02T00:00:00Z'),
  queryParameter('to', 'Before this time.', time, '2026-03-03T00:00:00Z'),
];

const filters: readonly Parameter[] = [
  queryParameter('who', 'Words in the name of the author, not case-sensitive.', text(300), 'ann@example.com'),
  queryParameter('what', 'The kind of change.', text(100), 'agent-revoked'),
  queryParameter('subject', 'The id of the changed item.', text(200), 'b3f1c2d4-0000-4000-8000-000000000000'),
  ...times,
];

const timeForm = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d))?$/;

/** The value before or after a change, in whatever form its kind of change has. */
const anything: JsonSchema = {};

const changeSchema = objectSchema({
  sequence: { type: 'integer', minimum: 1 },
  at: time,
  who: text(400),
  what: text(100),
  subject: text(400),
  before: anything,
  after: anything,
  names: {
    type: 'object',
    additionalProperties: { type: 'string' },
    description:
      'The names of the people and agents whose ids are in `who`, `subject`, `before` or `after`, by id.',
  },
});

const changeExample = {
  sequence: 42,
  at: '2026-03-02T10:00:00.000Z',
  who: 'ann@example.com (b3f1c2d4-0000-4000-8000-000000000000)',
  what: 'agent-disabled',
  subject: 'a9e27000-0000-4000-8000-000000000000',
  before: { status: 'active' },
  after: { status: 'disabled' },
  names: {
    'b3f1c2d4-0000-4000-8000-000000000000': 'Ann',
    'a9e27000-0000-4000-8000-000000000000': 'buyer',
  },
};

const exportExample =
  '{"sequence":1,"at":"2026-03-02T10:00:00.000Z","previous":"00","hash":"9f","entry":{"kind":"change"}}\n';

/** Records that are checked in one step, so few that no other work is held up. */
const recordsAtOnce = 8;
const walkMs = 1_000;

const count: JsonSchema = { type: 'integer', minimum: 0 };

const walkSchema = objectSchema({
  status: { type: 'string', enum: ['in_progress', 'intact', 'broken'] },
  checked: { ...count, description: 'The number of intact records in this call.' },
  last_sequence: { ...count, description: 'The sequence number of the last record.' },
  cursor: textOrNull,
  break: {
    type: ['object', 'null'],
    required: ['sequence', 'name', 'difference', 'message'],
    additionalProperties: false,
    properties: { sequence: count, name: textOrNull, difference: text(40), message: { type: 'string' } },
  },
});

const walkExample = { status: 'intact', checked: 1_200, last_sequence: 1_200, cursor: null, break: null };

const listAuditLog = route<AuditDeps>({
  method: 'GET',
  url: '/v1/audit',
  access: 'audit.view',
  operation: {
    id: 'listAuditLog',
    summary: 'The audit log: changes with their authors and the values before and after, newest first',
    parameters: [...pageParameters, ...filters],
    replies: { 200: pageReply('A page of the audit log', changeSchema, changeExample) },
  },
  handle: async ({ store, signInDeps }, { query }) => {
    const { countMax, after } = readPage(query);
    const matches = readFilters(query);
    const nameOf = createNames(store, signInDeps.directory.people);
    const changes = await collect(
      { countMax: countMax + 1, after },
      {
        next: (cursor, count) => store.chain.changes({ beforeSequence: sequenceOf(cursor), countMax: count }),
        positionOf,
        matches,
      },
    );
    const read = changes.map((change) => ({ value: { ...positionOf(change), change }, version: 0 }));
    const named = new Map<ChangeRow, Readonly<Record<string, string>>>();
    for (const change of changes.slice(0, countMax)) named.set(change, await namesIn(change, nameOf));
    return pageOf(read, countMax, ({ change }) => ({
      ...shownChange(change),
      names: named.get(change) ?? {},
    }));
  },
});

const exportRecords = route<AuditDeps>({
  method: 'GET',
  url: '/v1/audit/export',
  access: 'audit.view',
  operation: {
    id: 'exportRecords',
    summary: 'All records in order, one JSON line per record, as in `writ audit export`',
    description:
      'Each line is `{sequence, at, previous, hash, entry}`. `hash` is SHA-256 of the string `previous` followed by `entry` as canonical JSON (RFC 8785). If the final line feed is missing, the export is incomplete.',
    parameters: times,
    replies: {
      200: {
        description: 'The records',
        contentType: 'application/jsonl',
        schema: { description: 'JSON Lines.' },
        example: exportExample,
        headers: ['Content-Disposition'],
      },
    },
  },
  handle: async ({ store, downloads, signInDeps }, { query, reply }) => {
    const { from, to } = query;
    const [sinceMs, untilMs] = [readTime('from', from, -Infinity), readTime('to', to, Infinity)];
    const lines = chainExport.exportRecords(store, { format: 'jsonl', sinceMs, untilMs, recordsAtOnce });
    return downloads.send(reply, {
      subject: 'records',
      format: 'jsonl',
      atMs: signInDeps.directory.clock(),
      lines: inTurns(lines),
    });
  },
});

const verifyRecords = route<AuditDeps, { cursor?: string }>({
  method: 'POST',
  url: '/v1/audit/verify',
  access: 'audit.view',
  operation: {
    id: 'verifyRecords',
    summary: 'Verifies part of the record chain; pass the cursor to continue',
    description:
      'Starts at the first record, or at the `cursor` of the previous call, and takes at most one second. `status` is `in_progress` until the end of the chain or until the first changed record. At the end, the stored state is compared with the seal of the service; any difference is a `break` with the `difference` `stored`. Keep the cursor: it contains the hash with which the next part has to continue.',
    body: {
      description: 'Empty to start; the cursor of the previous call to continue.',
      schema: objectSchema({}, { cursor: text(16_384) }),
      examples: { first: {} },
    },
    replies: { 200: { description: 'The progress', schema: walkSchema, example: walkExample } },
  },
  handle: async ({ store, steadyMs }, { body }) => walk(store, steadyMs, readCursor(body.cursor)),
});

const who = queryParameter('who', 'Words in the name or address of the person.', text(300), 'ann');

const approvalSchema = objectSchema({
  sequence: { type: 'integer', minimum: 1 },
  at: time,
  vote: { type: 'string', enum: ['approved', 'rejected', 'taken_back'] },
  person: objectSchema({ id: text(200), name: text(200), email: text(400) }),
  stands_in_for: {
    ...textOrNull,
    description:
      "The e-mail address of the person in whose place a stand-in voted; null for the voter's own vote.",
  },
  group: { ...textOrNull, description: 'Null for the control owner.' },
  comment: { type: 'string' },
  chat: chatAccountOrNull,
  request_id: text(100),
  action_key: { type: 'string' },
  title: { type: 'string' },
  agent: objectSchema({ id: text(100), name: { type: 'string' } }),
});

const approvalExample: ListedApproval = {
  sequence: 43,
  at: '2026-03-02T10:04:00.000Z',
  vote: 'approved',
  person: { id: 'b3f1c2d4-0000-4000-8000-000000000000', name: 'Ann', email: 'ann@example.com' },
  stands_in_for: null,
  group: 'finance',
  comment: 'The invoice is right.',
  chat: null,
  request_id: '0195a3f0-0000-7000-8000-000000000000',
  action_key: 'payment.create',
  title: 'Pay 6,420.00 USD to Grainger',
  agent: { id: 'a9e27000-0000-4000-8000-000000000000', name: 'buyer' },
};

const listApprovalLog = route<AuditDeps>({
  method: 'GET',
  url: '/v1/audit/approvals',
  access: 'audit.view',
  operation: {
    id: 'listApprovalLog',
    summary: 'Who approved or rejected what: all votes of people on requests, newest first',
    parameters: [...pageParameters, who, ...times],
    replies: { 200: pageReply('A page of votes', approvalSchema, approvalExample) },
  },
  handle: async ({ store }, { query }) => {
    const { countMax, after } = readPage(query);
    const range = readVoteTimes(query);
    const votes = await collect(
      { countMax: countMax + 1, after },
      {
        next: (place, count) =>
          approvalsOf(store, { ...range, beforeSequence: sequenceOf(place), countMax: count }),
        positionOf: (one) => positionOf({ atMs: Date.parse(one.at), sequence: one.sequence }),
        matches: isBy(query.who ?? ''),
        atOnce: votesAtOnce,
      },
    );
    const read = votes.map((vote) => ({
      value: { ...positionOf({ atMs: Date.parse(vote.at), sequence: vote.sequence }), vote },
      version: 0,
    }));
    return pageOf(read, countMax, ({ vote }) => vote);
  },
});

const exportApprovalLog = route<AuditDeps>({
  method: 'GET',
  url: '/v1/audit/approvals/export',
  access: 'audit.view',
  operation: {
    id: 'exportApprovalLog',
    summary: 'Who approved or rejected what, as CSV with a column for each part of a vote, newest first',
    parameters: [who, ...times],
    replies: {
      200: {
        description: 'The votes',
        contentType: 'text/csv',
        schema: { description: 'CSV.' },
        example: approvalNames,
        headers: ['Content-Disposition'],
      },
    },
  },
  handle: async ({ store, downloads, signInDeps }, { query, reply }) =>
    downloads.send(reply, {
      subject: 'approvals',
      format: 'csv',
      atMs: signInDeps.directory.clock(),
      lines: approvalLines(store, readVoteTimes(query), query.who ?? ''),
    }),
});

/** Each vote is looked up with its request. */
const votesAtOnce = 20;

function isBy(words: string): (one: ListedApproval) => boolean {
  const searchText = words.toLowerCase();
  return ({ person }) => `${person.name} ${person.email}`.toLowerCase().includes(searchText);
}

async function* approvalLines(
  store: Store,
  times: ReturnType<typeof readVoteTimes>,
  words: string,
): AsyncGenerator<string> {
  yield approvalNames;
  for await (const page of approvalPages(store, times)) {
    const lines = page.filter(isBy(words)).map(approvalRow);
    if (lines.length > 0) yield lines.join('');
    await pause();
  }
}

function readVoteTimes({ from, to }: Readonly<Record<string, string>>) {
  return {
    sinceMs: readTime('from', from, 0),
    untilMs: readTime('to', to, Number.MAX_SAFE_INTEGER),
  };
}

export const auditRoutes: readonly Route<AuditDeps>[] = [
  listAuditLog,
  listApprovalLog,
  exportApprovalLog,
  exportRecords,
  verifyRecords,
];

function readFilters(query: Readonly<Record<string, string>>): (change: ChangeRow) => boolean {
  const { who = '', what, subject, from, to } = query;
  const [fromMs, toMs] = [readTime('from', from, -Infinity), readTime('to', to, Infinity)];
  return (change) =>
    change.who.toLowerCase().includes(who.toLowerCase()) &&
    (what === undefined || change.what === what) &&
    (subject === undefined || change.subject === subject) &&
    change.atMs >= fromMs &&
    change.atMs < toMs;
}

function readTime(name: string, value: string | undefined, otherwise: number): number {
  if (value === undefined) return otherwise;
  const ms = timeForm.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ProblemError(
    'invalid_query',
    `\`${name}\` must be a date or a time such as 2026-03-02T10:00:00Z`,
  );
}

function positionOf({ atMs, sequence }: Pick<ChangeRow, 'atMs' | 'sequence'>): PageCursor {
  return { createdAtMs: Math.max(0, atMs), id: String(sequence) };
}

function sequenceOf(cursor: PageCursor | null): number | null {
  if (cursor === null) return null;
  if (/^\d{1,15}$/.test(cursor.id)) return Number(cursor.id);
  throw new ProblemError('invalid_query', '`cursor` is not from a reply of this list');
}

type NameOf = (id: string) => Promise<string | null>;

/** Looks up the name of an agent or a person, once for each id. */
function createNames(store: Pick<Store, 'agents'>, people: Collection<Person>): NameOf {
  const names = new Map<string, Promise<string | null>>();
  const find: NameOf = async (id) =>
    (await people.find(id))?.value.name ?? (await store.agents.find(id))?.name ?? null;
  return (id) => {
    const name = names.get(id) ?? find(id);
    names.set(id, name);
    return name;
  };
}

const idForm = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
/** More ids than a change has names for people. */
const namedMax = 20;

async function namesIn(
  { who, subject, beforeJson, afterJson }: ChangeRow,
  nameOf: NameOf,
): Promise<Readonly<Record<string, string>>> {
  const text = `${subject} ${beforeJson ?? ''} ${afterJson ?? ''}`;
  // A person is `ann@example.com (id)`, and an agent `agent id`.
  const [, person, agent] = /(?: \(([^()]*)\)|^agent (\S+))$/.exec(who) ?? [];
  const author = person ?? agent ?? '';
  const ids = [...new Set([author, ...(text.match(idForm) ?? [])])].filter((id) => id !== '');
  const named = await Promise.all(ids.slice(0, namedMax).map(async (id) => [id, await nameOf(id)] as const));
  return Object.fromEntries(named.flatMap(([id, name]) => (name === null ? [] : [[id, name] as const])));
}

function shownChange({ sequence, atMs, who, what, subject, beforeJson, afterJson }: ChangeRow) {
  const read = (json: string | null): unknown => (json === null ? null : JSON.parse(json));
  return {
    sequence,
    at: isoTime(atMs),
    who,
    what,
    subject,
    before: read(beforeJson),
    after: read(afterJson),
  };
}

/** The lines, with a pause for other work after every few of them. */
async function* inTurns(lines: AsyncIterable<string>): AsyncGenerator<string> {
  let count = 0;
  for await (const line of lines) {
    yield line;
    if (++count % recordsAtOnce === 0) await pause();
  }
}

async function walk(store: Store, steadyMs: () => number, after: ChainPosition | null) {
  const endMs = steadyMs() + walkMs;
  let count = 0;
  let last = after?.sequence ?? 0;
  const verification = await verifyChain(store, {
    ...(after === null ? {} : { after }),
    recordsAtOnce,
    onSegment: async (records, { lastSequence }) => {
      count += records.length;
      last = lastSequence;
      await pause();
      return steadyMs() < endMs ? 'go on' : 'stop';
    },
  });
  if (verification.kind === 'broken') {
    return {
      status: 'broken',
      checked: count,
      last_sequence: last,
      cursor: null,
      break: chainBreakView(verification.break),
    };
  }
  const { end } = verification;
  const isWhole = end.sequence >= last;
  const [difference] = isWhole ? await store.state.differences({ isQuick: true }) : [];
  if (difference !== undefined) {
    const { message } = difference;
    const stored = {
      sequence: end.sequence,
      name: nameOfDifference(difference),
      difference: 'stored',
      message,
    };
    return { status: 'broken', checked: count, last_sequence: last, cursor: null, break: stored };
  }
  const cursor = isWhole ? null : cursorOf(end);
  return {
    status: isWhole ? 'intact' : 'in_progress',
    checked: count,
    last_sequence: last,
    cursor,
    break: null,
  };
}

function chainBreakView({ sequence, name, difference, message }: ChainBreak) {
  return { sequence, name, difference, message };
}

function cursorOf({ sequence, hash, lanes }: ChainPosition): string {
  const cursor = lanes === undefined ? [sequence, hash] : [sequence, hash, laneTuples(lanes)];
  return Buffer.from(JSON.stringify(cursor)).toString('base64url');
}

function readCursor(cursor: string | undefined): ChainPosition | null {
  if (cursor === undefined) return null;
  const place = placeIn(Buffer.from(cursor, 'base64url').toString('utf8'));
  if (place !== null) return place;
  const errors = [{ pointer: '/cursor', detail: 'is not a cursor of an earlier reply' }];
  throw new ProblemError('invalid_body', '`cursor` is not from a previous reply', { errors });
}

function placeIn(text: string): ChainPosition | null {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return null;
  }
  if (!Array.isArray(value)) return null;
  const [sequence, hash, tuples] = value as readonly unknown[];
  // Sequence and hash of the last record have the form of a lane's end, too.
  const [end] = readLanes([[0, sequence, hash]]) ?? [];
  const lanes = tuples === undefined ? undefined : readLanes(tuples);
  if (end === undefined || lanes === null || !isWalkable([end, ...(lanes ?? [])])) return null;
  return { sequence: end.sequence, hash: end.hash, ...(lanes === undefined ? {} : { lanes }) };
}

function isWalkable(ends: readonly LaneEnd[]): boolean {
  return ends.every(({ lane, sequence, hash }) => lane >= 0 && sequence >= 0 && /^[0-9a-f]{64}$/.test(hash));
}
