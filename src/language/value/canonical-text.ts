// The kinds of text that can be spelt in several ways, each with its one canonical form. INVARIANT: a
// canonical form is its own canonical form, so a text that has passed the payload check reads the same in
// every rule, policy, list file and meter.

import { canonicalEmail } from './email.ts';
import { canonicalHost } from './host-name.ts';
import { canonicalNetwork } from './ip.ts';
import { canonicalPath, canonicalPathIgnoringCase } from './path.ts';
import { canonicalUrl, canonicalWebAddress } from './url.ts';

/**
 * The canonical form of a text, by kind. Each function returns the text itself when it is canonical already,
 * and null when it is not of the kind.
 */
export const canonicalForms = {
  email: canonicalEmail,
  url: canonicalUrl,
  web_address: canonicalWebAddress,
  host: canonicalHost,
  network: canonicalNetwork,
  path: canonicalPath,
  'path ignoring case': canonicalPathIgnoringCase,
} as const satisfies Readonly<Record<string, (text: string) => string | null>>;

export type CanonicalKind = keyof typeof canonicalForms;
/** The kinds that a field can have. Networks occur only in lists. */
export type FieldKind = Exclude<CanonicalKind, 'network'>;

/**
 * Returns the canonical form of a text of any kind, or null when the text is not of the kind. Free text
 * (`string`) is always its own canonical form.
 */
export function canonicalText(kind: CanonicalKind | 'string', text: string): string | null {
  return kind === 'string' ? text : canonicalForms[kind](text);
}
