// Finds headers that came twice where only one value has a meaning. Node keeps the first of some and joins the
// others, so that what is read would depend on the name. INVARIANT: a header that identifies the caller, or
// says what a request is, has one value or the request is refused.

import type { IncomingMessage } from 'node:http';

/**
 * Headers that may come once. Others are lists by their standards (`Prefer`, `Cookie`, `X-Forwarded-For`), or
 * are ignored when they are joined (`traceparent`, `X-Request-ID`).
 */
const singular: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-length',
  'content-type',
  'dpop',
  'host',
  'idempotency-key',
  'origin',
  'x-agent-api-key',
  'x-agent-session',
  'x-csrf-token',
  'x-on-behalf-of',
  'x-service-signature',
  'x-writ-agent',
]);

/** Whether the service reads one value of the header; `name` is in lower case. */
export function isSingular(name: string): boolean {
  return singular.has(name);
}

/**
 * The name of a header that came more than once although it may not, in lower case; null when none did.
 * `mayComeOnce` tells which headers these are.
 */
export function repeatedHeader(
  { rawHeaders, headers }: Pick<IncomingMessage, 'rawHeaders' | 'headers'>,
  mayComeOnce: (name: string) => boolean = isSingular,
): string | null {
  // Nearly all requests repeat nothing, and then there are as many names as lines.
  if (rawHeaders.length === 2 * Object.keys(headers).length) return null;
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!.toLowerCase();
    if (seen.has(name) && mayComeOnce(name)) return name;
    seen.add(name);
  }
  return null;
}
