/**
 * The kinds of text that may be spelt in several ways, each with its one canonical form. INVARIANT: a form is idempotent,
 * so that what has passed the gate is seen by every rule as it is written in the policy, in a list file and in a meter.
 */

import { canonicalEmail } from './email.ts';
import { canonicalHost } from './host-name.ts';
import { canonicalNetwork } from './ip.ts';
import { canonicalPath, canonicalPathIgnoringCase } from './path.ts';
import { canonicalUrl, canonicalWebAddress } from './url.ts';

/** The canonical form of a text by kind, the text itself where it is canonical; null where it is none of the kind. */
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
/** Networks stand in lists alone. */
export type FieldKind = Exclude<CanonicalKind, 'network'>;

/** The canonical form of a text of any kind; free text has but itself. */
export function canonicalText(kind: CanonicalKind | 'string', text: string): string | null {
  return kind === 'string' ? text : canonicalForms[kind](text);
}
