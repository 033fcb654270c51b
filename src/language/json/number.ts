// Decides whether a JSON number's text survives as a double. A number that is accepted reads back as the very
// digits that were written, so no two readers of a request can differ on an amount.

export const significantDigitsMax = 15;

/**
 * Returns null when a double keeps the number exactly, else what is wrong with the number. `text` must follow
 * the JSON grammar.
 */
export function numberFault(text: string): string | null {
  const digits = significantDigits(text);
  if (digits.length > significantDigitsMax) {
    return `a number may have at most ${significantDigitsMax} significant digits`;
  }
  const value = Number(text);
  if (!Number.isFinite(value)) return 'the number is larger than a double can hold';
  if (value === 0 && digits !== '') return 'the number is smaller than a double can hold';
  // Close to zero a double has fewer digits than elsewhere.
  if (digits !== significantDigits(String(value))) return 'the number is too small to be kept exactly';
  return null;
}

/** Returns the digits without sign, point, exponent, and zeros at either end; an empty text for zero. */
function significantDigits(text: string): string {
  const mantissa = text.replace(/[eE].*$/, '').replace(/[-.]/g, '');
  return mantissa.replace(/^0+/, '').replace(/0+$/, '');
}
