// A memory of used receipts for tests, as long-lived as the tool whose receipts it holds.

import { createUsedReceipts, type UsedReceipts } from '../../integrations/typescript/receipt.ts';

/** A memory that began before every receipt. */
export function keptReceipts(): UsedReceipts {
  const { putIfAbsent } = createUsedReceipts();
  return { putIfAbsent };
}
