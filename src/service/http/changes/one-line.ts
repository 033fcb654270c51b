// Makes names that policies declare fit into one line.

/**
 * The text without line breaks and control characters, at most 100 characters long. Policies declare action
 * keys, but a key may be quoted and hold anything.
 */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 100);
}
