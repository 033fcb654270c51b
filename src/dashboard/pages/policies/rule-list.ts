// Chooses the rules that a list shows, and their order.

import type { Reply } from '../../../api/operations.ts';

export type RuleHits = Reply<'getPolicyHits'>['items'][number];

const shows = ['all', 'unused', 'shadow'] as const;
export type Show = (typeof shows)[number];

const orders = ['policy', 'decided', 'last'] as const;
export type Order = (typeof orders)[number];

export interface RuleFilter {
  /** Text to find within `policy/rule`, ignoring case. */
  readonly text: string;
  readonly show: Show;
  readonly order: Order;
}

export function chooseRules(
  rules: readonly RuleHits[],
  { text, show, order }: RuleFilter,
): readonly RuleHits[] {
  const searchText = text.trim().toLowerCase();
  const chosen = rules.filter(
    ({ policy, rule, met, decided, shadow_changed: changed }) =>
      `${policy}/${rule}`.toLowerCase().includes(searchText) &&
      (show !== 'unused' || (met === 0 && decided === 0)) &&
      (show !== 'shadow' || changed !== null),
  );
  if (order === 'policy') return chosen;
  return chosen.toSorted((a, b) =>
    order === 'decided'
      ? b.decided - a.decided || b.met - a.met
      : Date.parse(b.last_at ?? '1970-01-01') - Date.parse(a.last_at ?? '1970-01-01'),
  );
}

/** The filter in the address; a missing or unknown value counts as the first choice. */
export function readFilter(query: URLSearchParams): RuleFilter {
  return {
    text: query.get('text') ?? '',
    show: shows.find((one) => one === query.get('show')) ?? 'all',
    order: orders.find((one) => one === query.get('order')) ?? 'policy',
  };
}
