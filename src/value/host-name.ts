/**
 * Which texts are DNS host names. INVARIANT: no accepted name can be taken for a numeric address, so a name that ends
 * in digits, or in the hexadecimal form that browsers read as a number, is none.
 */

const labelForm = /^[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?$/;
const numericLabelForm = /^(?:\d+|0[xX][0-9A-Fa-f]*)$/;
const nameLengthMax = 253;

/** Whether the text is a DNS name of one or more labels, in ASCII, without a dot at its end. */
export function isHostName(text: string): boolean {
  if (text.length > nameLengthMax) return false;
  const labels = text.split('.');
  return labels.every((label) => labelForm.test(label)) && !numericLabelForm.test(labels.at(-1) ?? '');
}
