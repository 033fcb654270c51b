/**
 * Which texts are e-mail addresses, and their domains. Accepted is what mail systems hand out: one `@`, a local part
 * of ASCII atoms joined by dots (no quotes, no comments), and a DNS domain of at least two labels.
 */

import { isHostName } from './host-name.ts';

const localForm = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const localLengthMax = 64;
const emailLengthMax = 254;

/** Whether the text is an e-mail address. */
export function isEmail(text: string): boolean {
  if (text.length > emailLengthMax) return false;
  const [local = '', domainText = '', ...rest] = text.split('@');
  if (rest.length > 0 || local.length > localLengthMax || !localForm.test(local)) return false;
  return domainText.includes('.') && isHostName(domainText);
}

/** What follows the `@` of an e-mail address, in lower case. */
export function domain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1).toLowerCase();
}
