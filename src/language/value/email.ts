// Decides which texts are e-mail addresses, and gives their canonical form and their domain. Only addresses
// as mail systems issue them are accepted: one `@`, a local part of ASCII atoms joined by dots (no quotes, no
// comments), and a DNS domain of at least two labels.

import { canonicalHostName } from './host-name.ts';

const localForm = /^[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*$/;
const localLengthMax = 64;
const emailLengthMax = 254;

/**
 * Returns the address with its domain in canonical form, or null when the text is no address. The local part
 * stays unchanged, because only its domain knows how to read it.
 */
export function canonicalEmail(text: string): string | null {
  if (text.length > emailLengthMax) return null;
  const [local = '', domainText = '', ...rest] = text.split('@');
  if (rest.length > 0 || local.length > localLengthMax || !localForm.test(local)) return null;
  const name = canonicalHostName(domainText);
  if (name === null || !name.includes('.')) return null;
  const email = name === domainText ? text : `${local}@${name}`;
  return email.length > emailLengthMax ? null : email;
}

/** Returns the part after the `@` of an e-mail address in canonical form. */
export function domain(email: string): string {
  return email.slice(email.lastIndexOf('@') + 1);
}
