// Amounts of money of a request as people write them, beside what was sent.

import { useResource } from '../../api/resource.ts';

/** By the JSON Pointer of an amount its text: `4,200.00 USD`; null for all else. */
export type AmountAt = (pointer: string) => string | null;

export function useAmounts(id: string): AmountAt {
  const { data } = useResource('listAmounts', { params: { id } });
  return (pointer) => data?.items.find((one) => one.pointer === pointer)?.text ?? null;
}

export function Amount({ text }: { readonly text: string | null }) {
  return text === null ? null : <strong class="json-amount">{text}</strong>;
}
