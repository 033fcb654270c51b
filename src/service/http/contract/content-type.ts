// Checks what a body claims to be: JSON in UTF-8, and nothing else.

import type { IncomingHttpHeaders } from 'node:http';

export const jsonType = /^application\/json\s*(?:;\s*charset\s*=\s*"?utf-8"?\s*)?;?\s*$/i;

/**
 * What is wrong with the type or encoding that a body claims to have; null when it claims to be plain JSON.
 */
export function contentTypeFault(headers: IncomingHttpHeaders): string | null {
  const type = headers['content-type'];
  // Nearly all bodies have this type, which needs no pattern.
  if (type !== 'application/json' && !jsonType.test(type ?? ''))
    return 'send `Content-Type: application/json`';
  const encoding = headers['content-encoding'];
  return encoding === undefined || encoding.toLowerCase() === 'identity'
    ? null
    : 'send the body without `Content-Encoding`';
}
