// Turns the address of a webhook, as a person gave it, into the form that is stored and called, or into the
// reason why it is refused. INVARIANT: the stored address means the same to every reader: nothing in it is
// skipped, folded or taken for something else.

import { isIP } from 'node:net';
import { isPublicAddress, PrivateAddress } from './public-address.ts';

export interface TargetOptions {
  /** Allows private addresses, and `http:` to them; only the operator's configuration may set this. */
  readonly arePrivateAddressesAllowed: boolean;
}

export type Target =
  | { readonly kind: 'target'; readonly url: string }
  /** `detail`: one sentence in lower case without a final period. */
  | { readonly kind: 'problem'; readonly detail: string };

const lengthMax = 2_000;

/** Invisible characters: readers of addresses drop them or take them for something else. */
const unseen = /[\p{C}\p{Z}]/u;

export function readTarget(text: string, options: TargetOptions): Target {
  const detail = formProblem(text, options) ?? hostProblem(text, options);
  return detail === null ? { kind: 'target', url: new URL(text).href } : { kind: 'problem', detail };
}

function formProblem(text: string, { arePrivateAddressesAllowed }: TargetOptions): string | null {
  if (text.length > lengthMax) return `the address has more than ${lengthMax} characters`;
  if (unseen.test(text)) return 'the address must not contain spaces, line breaks or invisible characters';
  if (text.includes('\\')) return 'the address must not contain a backslash';
  if (text.includes('#')) return 'the address must not have a fragment: what follows `#` is not sent';
  if (!/^https:\/\//i.test(text) && !(arePrivateAddressesAllowed && /^http:\/\//i.test(text)))
    return 'the address must begin with `https://`';
  const [authority = ''] = text.replace(/^\w+:\/\//, '').split(/[/?]/, 1);
  if (authority.includes('@')) return 'the address must not contain user information';
  return authority !== '' && URL.canParse(text) ? null : 'the address is not a URL';
}

function hostProblem(text: string, { arePrivateAddressesAllowed }: TargetOptions): string | null {
  const host = new URL(text).hostname.replace(/^\[|\]$/g, '');
  if (arePrivateAddressesAllowed || isIP(host) === 0 || isPublicAddress(host)) return null;
  return new PrivateAddress(host).message;
}
