// Files of a build as a browser takes them, compressed as it accepts. INVARIANT: only scripts of this service run
// in their pages (no inline script, no other origin), and no other page may frame them.

import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

export const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
};

const contentPolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
].join('; ');

export const staticHeaders = {
  'content-security-policy': contentPolicy,
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), microphone=(), geolocation=()',
} as const;

export type ContentEncoding = 'br' | 'gzip' | 'identity';

export interface StaticFile {
  readonly type: string;
  readonly bytes: (encoding: ContentEncoding) => Buffer;
  /** Whether the name holds a digest of the content, so that it may be kept for good. */
  readonly isKept: boolean;
  /** Whether there are compressed forms; pictures have none. */
  readonly isCompressed: boolean;
}

/** Whether a browser asks for a page, and not a script of a page or a program. */
export function asksForHtml({ headers: { accept = '' } }: FastifyRequest): boolean {
  return accept.includes('text/html');
}

export function sendFile(file: StaticFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const accepted = String(request.headers['accept-encoding'] ?? '');
  const encoding = file.isCompressed ? encodingFor(accepted) : 'identity';
  reply.headers({ ...staticHeaders, vary: 'accept-encoding' }).type(file.type);
  reply.header('cache-control', file.isKept ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (encoding !== 'identity') reply.header('content-encoding', encoding);
  return reply.send(file.bytes(encoding));
}

/** Files by path with `/`. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/**
 * Reads a built folder whole when its first file is asked for, so a service starts without it, and a later build of
 * the folder never mixes with this one. Nothing is kept while the folder has not been built: the first start of a
 * checkout serves before the build.
 */
export function readOnce(read: () => Promise<StaticFiles>): () => Promise<StaticFiles> {
  let reading: Promise<StaticFiles> | null = null;
  return async () => {
    reading ??= readIfBuilt(read);
    const files = await reading;
    if (files.size === 0) reading = null;
    return files;
  };
}

/** Empty when there is no folder, or when it is being removed at this moment. */
async function readIfBuilt(read: () => Promise<StaticFiles>): Promise<StaticFiles> {
  try {
    return await read();
  } catch (error) {
    // The service decides just as well without its pages.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}

/** Gzip is made when it is first needed, because nearly all browsers take brotli. */
export function packed(identity: () => Buffer, br: Buffer): StaticFile['bytes'] {
  let gzip: Buffer | null = null;
  return (encoding) => {
    if (encoding !== 'gzip') return encoding === 'br' ? br : identity();
    gzip ??= gzipSync(identity());
    return gzip;
  };
}

/**
 * The smallest encoding that is accepted. Browsers accept brotli only over `https:` and from this machine.
 */
function encodingFor(accepted: string): ContentEncoding {
  const taken = accepted
    .toLowerCase()
    .split(',')
    .map((part) => part.replaceAll(' ', '').split(';q='))
    .filter(([, weight = '1']) => Number(weight) > 0)
    .map(([name]) => name);
  return (['br', 'gzip'] as const).find((encoding) => taken.includes(encoding)) ?? 'identity';
}
