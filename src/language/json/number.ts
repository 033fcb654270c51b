// Decides whether a JSON number's text survives as a double. A number that is accepted has the very digits of
// the shortest text that reads back as its double, so it stands for one decimal, and no two readers of a
// request can differ on an amount.

/**
 * Returns null when a double keeps the number exactly, else what is wrong with the number. `text` must follow
 * the JSON grammar.
 */
export function numberFault(text: string): string | null {
  const value = Number(text);
  const digits = significantDigits(text);
  if (!Number.isFinite(value)) return 'the number is larger than a double can hold';
  if (value === 0 && digits !== '') return 'the number is smaller than a double can hold';
  if (digits === significantDigits(String(value))) return null;
  return 'a double would change the number: send fewer digits, or send it as text';
}

/**
 * Returns the digits without sign, point, exponent, and zeros at either end; an empty text for zero. The time
 * is linear in the text, which anybody may have written.
 */
function significantDigits(text: string): string {
  const digits = text.split(/[eE]/, 1)[0]!.replace(/[-.]/g, '');
  let [first, last] = [0, digits.length];
  while (first < last && digits[first] === '0') first += 1;
  while (last > first && digits[last - 1] === '0') last -= 1;
  return digits.slice(first, last);
}
