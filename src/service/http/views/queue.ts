// The queue of what waits for a person: what the query of its address asks of it, in which order, and how many there are.
// INVARIANT: only what waits for the caller is in it, and one who has approved is not asked again.

import { isControlOwner } from '../../agents/control-owner.ts';
import type { Seen } from '../../requests/approvals/change-request.ts';
import { askedGroups } from '../../requests/approvals/rights.ts';
import { hasApproved } from '../../requests/approvals/votes-now.ts';
import type { Decisions } from '../../requests/decisions.ts';
import { requestRow } from '../../requests/record/record.ts';
import type { OpenQuestion } from '../../requests/record/reply.ts';
import { requestStateOf, waitsForAnswer } from '../../requests/record/request-state.ts';
import type { AskedPerson } from '../../store/contract/asked-owner.ts';
import { holdsText, type WantedText, wordsOfRequest } from '../../store/contract/search-text.ts';
import type { Store } from '../../store/contract/store.ts';
import type { Parameter } from '../contract/operation.ts';
import { collect, type PagePlace } from '../contract/page.ts';
import { ProblemError } from '../contract/problem.ts';
import { filterParameter, readSearchText } from './request-filter.ts';

const queueOrders = ['deadline', 'oldest', 'risk'] as const;
type QueueOrder = (typeof queueOrders)[number];

const queueKinds = ['approval', 'step_up'] as const;

/** What is asked of the queue; null asks nothing. */
export interface AskedQueue {
  readonly order: QueueOrder;
  readonly kind: (typeof queueKinds)[number] | null;
  /** An id or name. */
  readonly agent: string | null;
  readonly action: string | null;
  readonly group: string | null;
  readonly waitsForMs: number | null;
  readonly text: WantedText | null;
}

export function readAskedQueue(query: Readonly<Record<string, string>>): AskedQueue {
  return {
    order: queueOrders.find((order) => order === query.order) ?? 'deadline',
    kind: queueKinds.find((kind) => kind === query.kind) ?? null,
    agent: query.agent ?? null,
    action: query.action ?? null,
    group: query.group ?? null,
    waitsForMs: query.older_than === undefined ? null : readSeconds(query.older_than) * 1000,
    text: query.text === undefined ? null : readSearchText(query.text),
  };
}

interface QueueDeps {
  readonly store: Pick<Store, 'requests'>;
  readonly decisions: Pick<Decisions, 'lookAll'>;
}

/** All that waits for the person and fits, in order. An agent has few open requests, so a queue is short. */
export async function readQueue(
  { store, decisions }: QueueDeps,
  asked: AskedQueue,
  person: { readonly id: string; readonly asked: AskedPerson; readonly nowMs: number },
): Promise<readonly Seen[]> {
  const { nowMs } = person;
  const found = await collect(
    { countMax: Number.POSITIVE_INFINITY, after: null },
    {
      next: async (place, countMax) => {
        const after = place === null ? null : { expiresAtMs: place.createdAtMs, id: place.id };
        const waiting = await store.requests.waiting({ asked: person.asked, nowMs, after, countMax });
        return await decisions.lookAll(waiting.map(requestStateOf));
      },
      placeOf: placeIn('deadline'),
      matches: (seen) => !hasApproved(seen.state, person.id) && fits(seen, asked, nowMs),
    },
  );
  const placeOf = placeFor(asked.order, person.asked);
  return [...found].sort((one, other) => comparePlaces(placeOf(one), placeOf(other)));
}

/** The first `countMax` after a place of the same order. */
export function queuePage(
  found: readonly Seen[],
  placeOf: (seen: Seen) => PagePlace,
  { after, countMax }: { readonly after: PagePlace | null; readonly countMax: number },
): { readonly shown: readonly Seen[]; readonly next: PagePlace | null } {
  const rest = after === null ? found : found.filter((seen) => comparePlaces(placeOf(seen), after) > 0);
  const shown = rest.slice(0, countMax);
  const last = shown.at(-1);
  return { shown, next: rest.length > countMax && last !== undefined ? placeOf(last) : null };
}

function fits({ state, agent }: Seen, asked: AskedQueue, nowMs: number): boolean {
  const { record, decision } = state;
  const asksStepUp = decision.requires?.reauth != null;
  return (
    (asked.kind === null || (asked.kind === 'step_up') === asksStepUp) &&
    (asked.agent === null || [agent.id, agent.name.toLowerCase()].includes(asked.agent.toLowerCase())) &&
    (asked.action === null || record.actionKey === asked.action) &&
    (asked.group === null || askedGroups(decision).includes(asked.group)) &&
    (asked.waitsForMs === null || nowMs - record.createdAtMs >= asked.waitsForMs) &&
    (asked.text === null || holdsText(wordsOfRequest(requestRow(record)), asked.text))
  );
}

/** Where a request is in an order: a number, and its id where the number is the same. */
function placeIn(order: QueueOrder): (seen: Pick<Seen, 'state'>) => PagePlace {
  return ({ state: { expiresAtMs, record, decision } }) => {
    const keys = {
      deadline: expiresAtMs,
      oldest: record.createdAtMs,
      risk: 100 - decision.risk.high,
    } satisfies Record<QueueOrder, number>;
    return { createdAtMs: keys[order], id: record.id };
  };
}

/** More than any time in milliseconds. */
const behindQuestions = 100_000_000_000_000;

/** The same with the questions that wait for the person first, unless they ask for another order. */
export function placeFor(order: QueueOrder, asked: AskedPerson): (seen: Seen) => PagePlace {
  const placeOf = placeIn(order);
  if (order !== 'deadline') return placeOf;
  return (seen) => {
    const { createdAtMs, id } = placeOf(seen);
    return { createdAtMs: createdAtMs + (openQuestion(seen, asked) === 'yours' ? 0 : behindQuestions), id };
  };
}

export function openQuestion(
  { state, agent }: Pick<Seen, 'state' | 'agent'>,
  { owner }: AskedPerson,
): OpenQuestion | null {
  if (!waitsForAnswer(state)) return null;
  return owner !== null && isControlOwner(owner, agent.controlOwner) ? 'yours' : 'others';
}

function comparePlaces(one: PagePlace, other: PagePlace): number {
  if (one.createdAtMs !== other.createdAtMs) return one.createdAtMs - other.createdAtMs;
  return one.id < other.id ? -1 : Number(one.id > other.id);
}

function readSeconds(text: string): number {
  if (/^\d{1,8}$/.test(text)) return Number(text);
  throw new ProblemError('invalid_query', '`older_than` is a whole number of seconds');
}

export const queueParameters: readonly Parameter[] = [
  filterParameter(
    'order',
    'The nearest deadline, the oldest or the highest risk first.',
    'risk',
    queueOrders,
  ),
  filterParameter(
    'kind',
    '`step_up`: waits for a step-up first; `approval`: for approvals alone.',
    'approval',
    queueKinds,
  ),
  filterParameter('agent', 'The id or name of the agent.', 'buyer-1'),
  filterParameter('action', 'The whole key of the action.', 'payment.create'),
  filterParameter('group', 'A group that is asked; `owner` for the control owner.', 'finance'),
  filterParameter('older_than', 'Has waited for so many seconds at least.', '3600'),
  filterParameter(
    'text',
    'Words of its id, action, agent, first reason or recorded payload, as in the list of requests.',
    'Staples',
  ),
];
