// Turns the query of an address into the filter of a list of requests. INVARIANT: the list never holds a
// request that the caller may not see.

import { filterStatuses } from '../../../store/contract/records.ts';
import { type WantedText, wantedText } from '../../../store/contract/search-text.ts';
import type { RequestFilter, Store } from '../../../store/contract/store.ts';
import { callerOf } from '../../auth/request-rights.ts';
import { type Parameter, queryParameter } from '../../contract/operation.ts';
import { ProblemError } from '../../contract/problem.ts';
import { actorOf, type ManagedCall } from '../../routing/route.ts';
import { viewDecisions } from './request-view.ts';

/** The filter that the caller asks for, limited to the requests that they may see. */
export async function readRequestFilter(
  store: Store,
  call: ManagedCall<unknown>,
  nowMs: number,
): Promise<RequestFilter> {
  const { query } = call;
  return {
    agentId: query.agent === undefined ? null : await agentIdOf(store, query.agent),
    actionKey: query.action ?? null,
    status: filterStatuses.find((status) => status === query.status) ?? null,
    outcome: query.decision ?? null,
    policy: query.policy ?? null,
    riskMin: query.risk_min === undefined ? null : readRisk('risk_min', query.risk_min),
    riskMax: query.risk_max === undefined ? null : readRisk('risk_max', query.risk_max),
    amountMin: query.amount_min === undefined ? null : readAmount('amount_min', query.amount_min),
    amountMax: query.amount_max === undefined ? null : readAmount('amount_max', query.amount_max),
    fromMs: query.from === undefined ? null : readTime('from', query.from),
    untilMs: query.to === undefined ? null : readTime('to', query.to),
    text: query.text === undefined ? null : readSearchText(query.text),
    seenBy: seenBy(call),
    nowMs: Math.trunc(nowMs),
  };
}

function seenBy(call: ManagedCall<unknown>): RequestFilter['seenBy'] {
  const { scope } = call;
  if (scope.all) return null;
  const { groups } = callerOf(actorOf(call)).view;
  const { id, email } = actorOf(call).person;
  const person = { id, email };
  return {
    owner: scope.own ? person : null,
    asked: { groups, owner: scope.asOwner ? person : null },
    giver: scope.asked ? id : null,
  };
}

/** The id of an agent that is named by id or name; an unknown name stays as it is, and finds no request. */
async function agentIdOf({ agents }: Store, named: string): Promise<string> {
  return (await agents.find(named))?.id ?? named;
}

function readRisk(name: string, text: string): number {
  if (/^\d{1,3}$/.test(text) && Number(text) <= 100) return Number(text);
  throw new ProblemError('invalid_query', `\`${name}\` must be a whole number from 0 to 100`);
}

function readAmount(name: string, text: string): number {
  if (/^-?\d{1,15}(?:\.\d{1,15})?$/.test(text)) return Number(text);
  throw new ProblemError('invalid_query', `\`${name}\` must be a number such as 1500 or 99.5`);
}

const textLengthMax = 200;

/**
 * The text to search for; null when the text is empty. Throws a ProblemError when the text is too long, or
 * has no letter or digit.
 */
export function readSearchText(text: string): WantedText | null {
  if (text.length > textLengthMax)
    throw new ProblemError('invalid_query', `\`text\` must have at most ${textLengthMax} characters`);
  const terms = wantedText(text);
  if (terms.length > 0) return terms;
  if (text.trim() === '') return null;
  throw new ProblemError('invalid_query', '`text` must have at least one letter or digit');
}

const timeForm = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

function readTime(name: string, text: string): number {
  const ms = timeForm.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new ProblemError('invalid_query', `\`${name}\` must be a time such as 2026-03-02T10:00:00Z`);
}

export function filterParameter(
  name: string,
  description: string,
  example: string,
  values?: readonly string[],
): Parameter {
  const schema = values === undefined ? { type: 'string' } : { type: 'string', enum: values };
  return queryParameter(name, description, schema, example);
}

export const requestFilters: readonly Parameter[] = [
  filterParameter('decision', 'The first decision, before any approval.', 'ESCALATE', viewDecisions),
  filterParameter(
    'status',
    'The current status. `unanswered` and `grant_over` are parts of `expired`: a pending request that nobody answered in time, and a grant that has expired.',
    'pending',
    filterStatuses,
  ),
  filterParameter('agent', 'The id or name of the agent.', 'buyer-1'),
  filterParameter('action', 'The complete key of the action.', 'payment.create'),
  filterParameter('policy', 'The policy of the first decision.', 'vendor_payments'),
  filterParameter('from', 'Created at or after this time; RFC 3339.', '2026-03-02T10:00:00Z'),
  filterParameter('to', 'Created at or before this time; RFC 3339.', '2026-03-03T10:00:00Z'),
  filterParameter('risk_min', 'The minimum risk score of the first decision, 0 to 100.', '50'),
  filterParameter('risk_max', 'The maximum risk score of the first decision, 0 to 100.', '80'),
  filterParameter(
    'amount_min',
    'The minimum of the number `amount` in the recorded payload, whatever its currency. A payload without such a number does not match.',
    '500',
  ),
  filterParameter(
    'amount_max',
    'The maximum of the number `amount` in the recorded payload, whatever its currency. A payload without such a number does not match.',
    '1000',
  ),
  filterParameter(
    'text',
    'Words in the id, action, agent, first reason or recorded payload, not case-sensitive. Each word matches as a prefix; `"words in quotes"` match exactly and in this order.',
    'Staples',
  ),
];
