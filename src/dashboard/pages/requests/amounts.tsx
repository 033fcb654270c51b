// Shows amounts of money of a request as people write them, beside the values that were sent.

import { useResource } from '../../api/resource.ts';

/** Returns the text of the amount at a JSON Pointer, such as `4,200.00 USD`; null for any other value. */
export type AmountAt = (pointer: string) => string | null;

export function useAmounts(id: string): AmountAt {
  const { data } = useResource('listAmounts', { params: { id } });
  return (pointer) => data?.items.find((one) => one.pointer === pointer)?.text ?? null;
}

export function Amount({ text }: { readonly text: string | null }) {
  return text === null ? null : <strong class="json-amount">{text}</strong>;
}
