// Finds the token of a workload in `Authorization`, and the text by which a caller is looked up again. INVARIANT: a
// key in `X-Agent-API-Key` takes precedence, so a request has one caller.

import type { IncomingHttpHeaders } from 'node:http';

export interface SentToken {
  readonly scheme: 'bearer' | 'dpop';
  /** The token, in the form of a JWT. */
  readonly text: string;
}

const tokenHeader = /^(bearer|dpop) +([\w-]+\.[\w-]+\.[\w-]*) *$/i;

/** The token of a workload; null when the request carries a key, or no such token. */
export function sentToken(headers: IncomingHttpHeaders): SentToken | null {
  const { authorization } = headers;
  if (authorization === undefined || headers['x-agent-api-key'] !== undefined) return null;
  const [, scheme, text] = tokenHeader.exec(authorization) ?? [];
  if (scheme === undefined || text === undefined) return null;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', text };
}

/** The key or token of a caller that has been identified. */
export function callerText(headers: IncomingHttpHeaders): string {
  return String(headers['x-agent-api-key'] ?? sentToken(headers)?.text);
}
