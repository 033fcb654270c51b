// Finds the token of a workload in `Authorization`, and the text by which a caller is looked up again. INVARIANT: a
// key in `X-Agent-API-Key` takes precedence, so a request has one caller.

import type { IncomingHttpHeaders } from 'node:http';

export interface SentToken {
  readonly scheme: 'bearer' | 'dpop';
  /** The token, in the form of a JWT. */
  readonly text: string;
}

const schemeForm = /^(bearer|dpop) +/i;
const schemeLengthMax = 12;

/**
 * The token of a workload; null when the request carries a key, or no such token. Only the number of its parts is
 * looked at: whatever is not known already is checked in full.
 */
export function sentToken(headers: IncomingHttpHeaders): SentToken | null {
  const { authorization } = headers;
  if (authorization === undefined || headers['x-agent-api-key'] !== undefined) return null;
  const [start, scheme] = schemeForm.exec(authorization.slice(0, schemeLengthMax)) ?? [];
  if (start === undefined || scheme === undefined) return null;
  const text = authorization.slice(start.length).trim();
  if (!hasThreeParts(text)) return null;
  return { scheme: scheme.toLowerCase() === 'dpop' ? 'dpop' : 'bearer', text };
}

function hasThreeParts(text: string): boolean {
  const first = text.indexOf('.');
  const second = text.indexOf('.', first + 1);
  return first > 0 && second > first && !text.includes('.', second + 1);
}

/** The key or token of a caller that has been identified. */
export function callerText(headers: IncomingHttpHeaders): string {
  return String(headers['x-agent-api-key'] ?? sentToken(headers)?.text);
}
