// What people ask of a list of requests, out of the query of its address, and the requests that fit it. INVARIANT: what
// is looked through at a time does not grow with the records; what is not for the caller is never among it.

import { setImmediate as pause } from 'node:timers/promises';
import { requestDetail } from '../../requests/record/reply.ts';
import { type RequestState, requestStateOf } from '../../requests/record/request-state.ts';
import { requestStatuses } from '../../store/contract/records.ts';
import type { RequestFilter, RequestPlace, Store } from '../../store/contract/store.ts';
import { actorOf, type ManagedCall } from '../calls/route.ts';
import type { Parameter } from '../contract/operation.ts';
import { ProblemError } from '../contract/problem.ts';
import { viewDecisions } from './request.ts';

/** What a caller asks for, of what they may see. */
export interface AskedRequests {
  readonly filter: RequestFilter;
  /** In lower case; null asks nothing. */
  readonly text: string | null;
}

export async function readAskedRequests(
  store: Store,
  call: ManagedCall<unknown>,
  nowMs: number,
): Promise<AskedRequests> {
  const { query } = call;
  const filter: RequestFilter = {
    agentId: query.agent === undefined ? null : await agentIdOf(store, query.agent),
    actionKey: query.action ?? null,
    status: requestStatuses.find((status) => status === query.status) ?? null,
    outcome: query.decision ?? null,
    policy: query.policy ?? null,
    riskMin: query.risk_min === undefined ? null : readRisk('risk_min', query.risk_min),
    riskMax: query.risk_max === undefined ? null : readRisk('risk_max', query.risk_max),
    fromMs: query.from === undefined ? null : readTime('from', query.from),
    untilMs: query.to === undefined ? null : readTime('to', query.to),
    seenBy: seenBy(call),
    nowMs: Math.trunc(nowMs),
  };
  return { filter, text: query.text === undefined ? null : readSearchText(query.text) };
}

export interface RequestsShown {
  readonly found: readonly RequestState[];
  /** Where the next page goes on; null where there is none. */
  readonly next: RequestPlace | null;
}

/** So many are read at once where a text is looked for in them, and so many for one page. */
const readAtOnce = 50;
const readMax = 1_000;

/** The next that fit, the latest first; a text is looked for in what clients see, so in the requests themselves. */
export async function nextRequests(
  { requests }: Pick<Store, 'requests'>,
  { filter, text }: AskedRequests,
  page: { readonly after: RequestPlace | null; readonly countMax: number },
): Promise<RequestsShown> {
  if (text === null) {
    const { found, next } = await requests.list({ ...filter, ...page });
    return { found: found.map(requestStateOf), next };
  }
  const shown: RequestState[] = [];
  let { after } = page;
  for (let read = 0; read < readMax; read += readAtOnce) {
    const { found, next } = await requests.list({ ...filter, after, countMax: readAtOnce });
    for (const history of found) {
      after = { sequence: history.sequence };
      const state = requestStateOf(history);
      if (!holdsText(state, text, filter.nowMs)) continue;
      shown.push(state);
      if (shown.length === page.countMax) return { found: shown, next: after };
    }
    // Fewer than asked for: as many were looked through as are for one page.
    if (next === null || found.length < readAtOnce) return { found: shown, next };
    after = next;
    await pause();
  }
  return { found: shown, next: after };
}

/** In whatever case: in its id, action, reason, message, or payload as it is recorded. */
export function holdsText(state: RequestState, text: string, nowMs: number): boolean {
  const { request_id, action_key, reason, message, payload } = requestDetail(state, nowMs);
  if ([request_id, action_key, reason, message].some((one) => one.toLowerCase().includes(text))) return true;
  const written = JSON.stringify(payload).toLowerCase();
  // As somebody reads it, and as JSON writes it.
  return written.includes(text) || written.includes(JSON.stringify(text).slice(1, -1));
}

function seenBy(call: ManagedCall<unknown>): RequestFilter['seenBy'] {
  const { reach } = call;
  if (reach.all) return null;
  const { id, email, groups } = actorOf(call).person;
  const person = { id, email };
  return {
    owner: reach.own ? person : null,
    asked: { groups: reach.asked ? groups : [], owner: reach.asOwner ? person : null },
  };
}

/** An agent is named by id or name; one that is not there has made no request. */
async function agentIdOf({ agents }: Store, named: string): Promise<string> {
  return (await agents.find(named))?.id ?? named;
}

function readRisk(name: string, text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new ProblemError('invalid_query', `\`${name}\` is a whole number from 0 to 100`);
}

const textLengthMax = 200;

export function readSearchText(text: string): string {
  if (text.length <= textLengthMax) return text.toLowerCase();
  throw new ProblemError('invalid_query', `\`text\` has at most ${textLengthMax} characters`);
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function readTime(name: string, text: string): number {
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ProblemError('invalid_query', `\`${name}\` is a time such as 2026-03-02T10:00:00Z`);
}

export function filterParameter(
  name: string,
  description: string,
  example: string,
  values?: readonly string[],
): Parameter {
  const schema = values === undefined ? { type: 'string' } : { type: 'string', enum: values };
  return { name, in: 'query', isRequired: false, description, schema, example };
}

export const requestFilters: readonly Parameter[] = [
  filterParameter('decision', 'The first decision, before people had their say.', 'ESCALATE', viewDecisions),
  filterParameter('status', 'How it stands now.', 'pending', requestStatuses),
  filterParameter('agent', 'The id or name of the agent.', 'buyer-1'),
  filterParameter('action', 'The whole key of the action.', 'payment.create'),
  filterParameter('policy', 'The policy of the first decision.', 'vendor_payments'),
  filterParameter('from', 'Made at this time or later; RFC 3339.', '2026-03-02T10:00:00Z'),
  filterParameter('to', 'Made at this time or earlier; RFC 3339.', '2026-03-03T10:00:00Z'),
  filterParameter('risk_min', 'The least risk of the first decision, 0 to 100.', '50'),
  filterParameter('risk_max', 'The most risk of the first decision, 0 to 100.', '80'),
  filterParameter(
    'text',
    'A text in its id, action, reason, message or recorded payload, in whatever case.',
    'Staples',
  ),
];
