// Reads the filters of the list of requests from the address, and turns them into words and into the
// service's query.

import type { Operations } from '../../../api/operations.ts';

export const filterNames = [
  'text',
  'decision',
  'status',
  'agent',
  'action',
  'policy',
  'risk_min',
  'risk_max',
  'amount_min',
  'amount_max',
  'from',
  'to',
] as const;
export type FilterName = (typeof filterNames)[number];

export type Filters = Readonly<Partial<Record<FilterName, string>>>;

export function readFilters(query: URLSearchParams): Filters {
  const entries = filterNames.flatMap((name) => {
    const value = query.get(name)?.trim() ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  return Object.fromEntries(entries);
}

/**
 * A value that the service does not know is passed on, so that the service refuses it with an explanation.
 */
export function filterQuery(filters: Filters): NonNullable<Operations['listRequests']['query']> {
  return filters as NonNullable<Operations['listRequests']['query']>;
}

/** A text that identifies a combination of filters. */
export function filterKey(filters: Filters): string {
  return JSON.stringify(filterNames.map((name) => filters[name] ?? ''));
}

export const decisionChoices = [
  ['ALLOW', 'Allow'],
  ['DENY', 'Deny'],
  ['ESCALATE', 'Escalate'],
  ['REAUTH_REQUIRED', 'Step-up'],
] as const;

export const statusChoices = [
  ['pending', 'Pending'],
  ['auto_approved', 'Approved by policy'],
  ['approved', 'Approved'],
  ['rejected', 'Rejected'],
  ['unanswered', 'Unanswered'],
  ['grant_over', 'Grant over'],
  ['consumed', 'Used'],
  ['withdrawn', 'Withdrawn'],
] as const;

const labels: Readonly<Record<FilterName, string>> = {
  text: 'Text',
  decision: 'Decision',
  status: 'Status',
  agent: 'Agent',
  action: 'Action',
  policy: 'Policy',
  risk_min: 'Risk at least',
  risk_max: 'Risk at most',
  amount_min: 'Amount at least',
  amount_max: 'Amount at most',
  from: 'From',
  to: 'Until',
};

export interface Chip {
  readonly name: FilterName;
  readonly label: string;
  readonly value: string;
}

/**
 * The filters that are set, each with words. Times are left as they are, because the caller knows the time
 * zone.
 */
export function chipsOf(filters: Filters): readonly Chip[] {
  const words = new Map<string, string>([...decisionChoices, ...statusChoices]);
  return filterNames.flatMap((name) => {
    const value = filters[name];
    if (value === undefined) return [];
    const isChoice = name === 'decision' || name === 'status';
    return [{ name, label: labels[name], value: isChoice ? (words.get(value) ?? value) : value }];
  });
}

/** Turns RFC 3339 into the value of a local-time input, to the minute; empty when the text is not a time. */
export function localTime(text: string | undefined): string {
  const ms = text === undefined ? Number.NaN : Date.parse(text);
  if (Number.isNaN(ms)) return '';
  const local = new Date(ms - new Date(ms).getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16);
}

/** Turns the value of a local-time input into RFC 3339, UTC; empty when the text is not a time. */
export function absoluteTime(local: string): string {
  const ms = local === '' ? Number.NaN : Date.parse(local);
  return Number.isNaN(ms) ? '' : new Date(ms).toISOString();
}
