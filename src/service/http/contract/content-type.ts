// What a body claims to be: JSON in UTF-8, and nothing else.

import type { IncomingHttpHeaders } from 'node:http';

export const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/** What is wrong with what the body claims to be; null where it claims to be JSON. */
export function contentTypeFault(headers: IncomingHttpHeaders): string | null {
  const type = headers['content-type'];
  // The one that nearly all send needs no pattern.
  if (type !== 'application/json' && !jsonType.test(type ?? ''))
    return 'send `Content-Type: application/json`';
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'identity'
    ? null
    : 'send the body without `Content-Encoding`';
}
