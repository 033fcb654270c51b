// Finds the queue of requests that wait for a person: filtered and ordered as the query asks, with their
// number. INVARIANT: the queue holds only requests that the caller can decide now or has a question about; those that
// ask the caller, but that the caller cannot decide, are apart. A person who has approved is not asked again.

import { isControlOwner } from '../../../agents/agent-facts.ts';
import type { RequestSnapshot } from '../../../requests/approvals/change-request.ts';
import { hasApproved } from '../../../requests/approvals/effective-votes.ts';
import { approvalGroups, approvalsOf } from '../../../requests/approvals/rights.ts';
import { assignmentsAt } from '../../../requests/inbox/assignments.ts';
import { snoozesOf } from '../../../requests/inbox/snoozes.ts';
import { statusAt } from '../../../requests/record/lifecycle.ts';
import { requestRow } from '../../../requests/record/record.ts';
import type { UnansweredQuestion } from '../../../requests/record/reply.ts';
import { hasUnansweredQuestion, requestStateOf } from '../../../requests/record/request-state.ts';
import { answers } from '../../../requests/record/vote-scope.ts';
import type { RequestChanges } from '../../../requests/request-changes.ts';
import type { ApproverIdentity } from '../../../store/contract/control-owner-group.ts';
import { holdsText, searchTermsOfRequest, type WantedText } from '../../../store/contract/search-text.ts';
import type { PendingCounts, Store } from '../../../store/contract/store.ts';
import type { Parameter } from '../../contract/operation.ts';
import { collect, type PageCursor, type PageQuery } from '../../contract/page.ts';
import { ProblemError } from '../../contract/problem.ts';
import { assignedTo, type InboxMarks, isSnoozed } from './inbox-marks.ts';
import { filterParameter, readSearchText } from './request-filter.ts';

const queueOrders = ['deadline', 'oldest', 'risk'] as const;
type QueueOrder = (typeof queueOrders)[number];

const queueKinds = ['approval', 'step_up'] as const;

const assignees = ['me', 'others', 'nobody'] as const;

/** The order and filters of the queue; null for a filter that is not set. */
export interface InboxQuery {
  readonly order: QueueOrder;
  readonly kind: (typeof queueKinds)[number] | null;
  /** The id or name of the agent. */
  readonly agent: string | null;
  readonly action: string | null;
  readonly group: string | null;
  readonly waitsForMs: number | null;
  /** To whom the requests are assigned. */
  readonly assigned: (typeof assignees)[number] | null;
  /** True for only the requests that the person has put off; null leaves them out. */
  readonly snoozed: true | null;
  /** False for only the requests that ask the person, but that the person cannot decide; null leaves them out. */
  readonly decidable: false | null;
  readonly text: WantedText | null;
}

export function readInboxQuery(query: Readonly<Record<string, string>>): InboxQuery {
  return {
    order: queueOrders.find((order) => order === query.order) ?? 'deadline',
    kind: queueKinds.find((kind) => kind === query.kind) ?? null,
    agent: query.agent ?? null,
    action: query.action ?? null,
    group: query.group ?? null,
    waitsForMs: query.older_than === undefined ? null : readSeconds(query.older_than) * 1000,
    assigned: assignees.find((one) => one === query.assigned) ?? null,
    snoozed: query.snoozed === 'yes' ? true : null,
    decidable: query.decidable === 'no' ? false : null,
    text: query.text === undefined ? null : readSearchText(query.text),
  };
}

interface QueueDeps {
  readonly store: Pick<Store, 'requests' | 'documents'>;
  readonly requestChanges: Pick<RequestChanges, 'snapshots'>;
}

interface QueuePerson {
  readonly id: string;
  readonly email: string;
  readonly identity: ApproverIdentity;
  /** Whether the person can approve the request or step up for it. */
  readonly canDecide: (seen: RequestSnapshot) => boolean;
  readonly nowMs: number;
}

/** The person, with the requests that they have put off. */
type Reader = QueuePerson & Pick<InboxMarks, 'snoozes'>;

interface QueuePage {
  readonly shown: readonly RequestSnapshot[];
  /** The place of the last request that is shown; null when no more follow. */
  readonly next: PageCursor | null;
  /** The number of requests on all pages. */
  readonly count: number;
  readonly marks: InboxMarks;
}

/** One page of the requests that wait for the person and pass the filters, in order. */
export async function readQueue(
  deps: QueueDeps,
  inboxQuery: InboxQuery,
  person: QueuePerson,
  page: PageQuery,
): Promise<QueuePage> {
  const { order, ...narrowing } = inboxQuery;
  const { documents } = deps.store;
  const marks = {
    assignments: await assignmentsAt(documents, person.nowMs),
    snoozes: await snoozesOf(documents, person.id, person.nowMs),
  };
  const reader = { ...person, snoozes: marks.snoozes };
  const isPlain = order === 'deadline' && Object.values(narrowing).every((value) => value === null);
  const queuePage = isPlain
    ? await startOfQueue(deps, reader, page)
    : await wholeQueue(deps, inboxQuery, { reader, page, marks });
  return { ...queuePage, marks };
}

type FoundPage = Omit<QueuePage, 'marks'>;

interface WholeOptions {
  readonly reader: Reader;
  readonly page: PageQuery;
  readonly marks: InboxMarks;
}

/** Reads the whole queue, which is short, because an agent has few open requests. */
async function wholeQueue(
  deps: QueueDeps,
  inboxQuery: InboxQuery,
  { reader, page, marks }: WholeOptions,
): Promise<FoundPage> {
  const isWanted = (seen: RequestSnapshot): boolean =>
    isForThem(reader, seen) === (inboxQuery.decidable === null) &&
    isSnoozed(reader, seen) === (inboxQuery.snoozed === true) &&
    isAssignedAs(inboxQuery.assigned, seen, { marks, person: reader }) &&
    fits(seen, inboxQuery, reader.nowMs);
  const matching = await walkQueue(deps, reader, {
    page: { countMax: Number.POSITIVE_INFINITY, after: null },
    matches: isWanted,
  });
  return { ...pageIn(matching, placeFor(inboxQuery.order, reader.identity), page), count: matching.length };
}

function isAssignedAs(
  assigned: InboxQuery['assigned'],
  seen: RequestSnapshot,
  { marks, person }: { readonly marks: InboxMarks; readonly person: QueuePerson },
): boolean {
  if (assigned === null) return true;
  const toId = assignedTo(marks, seen)?.toId ?? null;
  return assigned === (toId === null ? 'nobody' : toId === person.id ? 'me' : 'others');
}

/**
 * Reads the requests of one page. Of the others it reads only those that were approved once or put off, that have a
 * question, or that the person may not decide, in order to count them.
 */
async function startOfQueue(deps: QueueDeps, person: Reader, page: PageQuery): Promise<FoundPage> {
  const { identity, nowMs, id, email } = person;
  const { untouched, touched } = await deps.store.requests.countWaiting({
    identity,
    nowMs,
    person: { id, email },
  });
  const seen = await deps.requestChanges.snapshots(touched.map(requestStateOf));
  const open = seen.filter(
    (one) => !hasApproved(one.state, id) && isForThem(person, one) && !isSnoozed(person, one),
  );
  const isTouched = new Set(touched.map(({ row }) => row.id));
  const hidden = await countHidden(deps, person, isTouched);
  const isQuestion = (one: RequestSnapshot): boolean => unansweredQuestion(one, identity) === 'yours';
  const isPastQuestions = page.after !== null && page.after.createdAtMs >= behindQuestions;
  const questions = isPastQuestions ? [] : open.filter(isQuestion);
  const after = isPastQuestions
    ? { ...page.after, createdAtMs: page.after.createdAtMs - behindQuestions }
    : null;
  const others = await walkQueue(deps, person, {
    page: { countMax: page.countMax + 1, after },
    matches: (one) => !isQuestion(one) && isForThem(person, one) && !isSnoozed(person, one),
  });
  const ordered = [...questions, ...others];
  const count = (await countUntouched(deps, person, untouched)) - hidden + open.length;
  return { ...pageIn(ordered, placeFor('deadline', identity), page), count };
}

/** Counts the untouched requests; whether they can be decided depends on their agent, action and point only. */
async function countUntouched(
  { requestChanges }: QueueDeps,
  person: Reader,
  untouched: PendingCounts['untouched'],
): Promise<number> {
  const seen = await requestChanges.snapshots(untouched.map(({ first }) => requestStateOf(first)));
  const decidable = new Set(seen.filter(person.canDecide).map(({ state }) => state.record.id));
  return untouched.reduce((sum, { count, first }) => sum + (decidable.has(first.row.id) ? count : 0), 0);
}

/** Whether the person can decide the request, or has to answer a question about it. */
function isForThem({ canDecide, identity: asked }: QueuePerson, seen: RequestSnapshot): boolean {
  return canDecide(seen) || unansweredQuestion(seen, asked) === 'yours';
}

/** How many requests the person has put off among those that are counted without being read. */
async function countHidden(
  { store, requestChanges }: QueueDeps,
  person: Reader,
  isTouched: ReadonlySet<string>,
): Promise<number> {
  const ids = [...person.snoozes.keys()].filter((id) => !isTouched.has(id));
  const histories = await Promise.all(ids.map((id) => store.requests.history(id)));
  const states = histories.flatMap((history) => (history === null ? [] : [requestStateOf(history)]));
  const seen = await requestChanges.snapshots(states);
  return seen.filter((one) => isSnoozed(person, one) && waitsFor(person, one) && person.canDecide(one))
    .length;
}

/** Whether the request waits for the person, by the same conditions as in the store. */
function waitsFor(
  { identity: { groups, owner }, nowMs }: QueuePerson,
  { state, agent }: RequestSnapshot,
): boolean {
  if (statusAt(state, nowMs) !== 'pending') return false;
  const isOwner = owner !== null && isControlOwner(owner, agent.controlOwner);
  const standing = { id: '', email: '', ...owner, groups, inPerson: owner !== null, isOwner };
  const isAsked = approvalsOf(state.decision).some((asked) => answers(asked, standing));
  return isAsked || (isOwner && state.decision.requires?.reauth != null);
}

const walkedMin = 8;
const walkedMax = 200;

/** Walks through the queue by deadline, and collects the requests that match. */
function walkQueue(
  { store, requestChanges }: QueueDeps,
  person: QueuePerson,
  { page, matches }: { readonly page: PageQuery; readonly matches: (seen: RequestSnapshot) => boolean },
): Promise<readonly RequestSnapshot[]> {
  return collect(page, {
    next: async (cursor, countMax) => {
      const after = cursor === null ? null : { expiresAtMs: cursor.createdAtMs, id: cursor.id };
      const { identity: asked, nowMs } = person;
      const waiting = await store.requests.waiting({ identity: asked, nowMs, after, countMax });
      return await requestChanges.snapshots(waiting.map(requestStateOf));
    },
    positionOf: positionIn('deadline'),
    matches: (seen) => !hasApproved(seen.state, person.id) && matches(seen),
    atOnce: Math.min(walkedMax, Math.max(walkedMin, page.countMax)),
  });
}

/** The first `countMax` requests after a place, in order. */
function pageIn(
  snapshots: readonly RequestSnapshot[],
  positionOf: (seen: RequestSnapshot) => PageCursor,
  { after, countMax }: PageQuery,
): Omit<FoundPage, 'count'> {
  const rest = snapshots
    .filter((seen) => after === null || comparePositions(positionOf(seen), after) > 0)
    .sort((one, other) => comparePositions(positionOf(one), positionOf(other)));
  const shown = rest.slice(0, countMax);
  const last = shown.at(-1);
  return { shown, next: rest.length > countMax && last !== undefined ? positionOf(last) : null };
}

function fits({ state, agent }: RequestSnapshot, asked: InboxQuery, nowMs: number): boolean {
  const { record, decision } = state;
  const asksStepUp = decision.requires?.reauth != null;
  return (
    (asked.kind === null || (asked.kind === 'step_up') === asksStepUp) &&
    (asked.agent === null || [agent.id, agent.name.toLowerCase()].includes(asked.agent.toLowerCase())) &&
    (asked.action === null || record.actionKey === asked.action) &&
    (asked.group === null || isGroupAsked(decision, asked.group)) &&
    (asked.waitsForMs === null || nowMs - record.createdAtMs >= asked.waitsForMs) &&
    (asked.text === null || holdsText(searchTermsOfRequest(requestRow(record)), asked.text))
  );
}

/** Whether the decision asks the group, alone or in a choice that may also be named whole. */
function isGroupAsked(decision: RequestSnapshot['state']['decision'], group: string): boolean {
  return approvalGroups(decision).includes(group) || approvalsOf(decision).some((one) => one.group === group);
}

/** The place of a request in an order: a number, then its id among equal numbers. */
function positionIn(order: QueueOrder): (seen: Pick<RequestSnapshot, 'state'>) => PageCursor {
  return ({ state: { expiresAtMs, record, decision } }) => {
    const keys = {
      deadline: expiresAtMs,
      oldest: record.createdAtMs,
      risk: 100 - decision.risk.high,
    } satisfies Record<QueueOrder, number>;
    return { createdAtMs: keys[order], id: record.id };
  };
}

/** Added to the places of requests behind the questions; larger than any time in milliseconds. */
const behindQuestions = 100_000_000_000_000;

/** The place in the queue. In the order by deadline, requests with a question for the person come first. */
function placeFor(order: QueueOrder, asked: ApproverIdentity): (seen: RequestSnapshot) => PageCursor {
  const positionOf = positionIn(order);
  if (order !== 'deadline') return positionOf;
  return (seen) => {
    const { createdAtMs, id } = positionOf(seen);
    return {
      createdAtMs: createdAtMs + (unansweredQuestion(seen, asked) === 'yours' ? 0 : behindQuestions),
      id,
    };
  };
}

export function unansweredQuestion(
  { state, agent }: Pick<RequestSnapshot, 'state' | 'agent'>,
  { owner }: ApproverIdentity,
): UnansweredQuestion | null {
  if (!hasUnansweredQuestion(state)) return null;
  return owner !== null && isControlOwner(owner, agent.controlOwner) ? 'yours' : 'others';
}

function comparePositions(one: PageCursor, other: PageCursor): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

function readSeconds(text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw new ProblemError('invalid_query', '`older_than` must be a whole number of seconds');
}

export const queueParameters: readonly Parameter[] = [
  filterParameter(
    'order',
    'The sort order: nearest deadline, oldest, or highest risk first.',
    'risk',
    queueOrders,
  ),
  filterParameter(
    'kind',
    '`step_up`: needs a step-up first; `approval`: needs only approvals.',
    'approval',
    queueKinds,
  ),
  filterParameter('agent', 'The id or name of the agent.', 'buyer-1'),
  filterParameter('action', 'The complete key of the action.', 'payment.create'),
  filterParameter('group', 'A group whose approval is needed; `owner` for the control owner.', 'finance'),
  filterParameter('older_than', 'Pending for at least this number of seconds.', '3600'),
  filterParameter('assigned', 'Assigned to the caller, to someone else, or to nobody.', 'me', assignees),
  filterParameter('snoozed', '`yes` lists only snoozed requests; otherwise they are left out.', 'yes', [
    'yes',
  ]),
  filterParameter(
    'decidable',
    '`no` lists only requests that ask the caller, but that the caller can neither approve nor step up for; otherwise they are left out.',
    'no',
    ['no'],
  ),
  filterParameter(
    'text',
    'Words in the id, action, agent, first reason or recorded payload, as in the list of requests.',
    'Staples',
  ),
];
