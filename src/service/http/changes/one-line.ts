// Names that policies declare, as a part of one line.

/** Action keys are declared, but may be quoted and hold anything. */
export function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 100);
}
