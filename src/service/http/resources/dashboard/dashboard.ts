// Serves the dashboard's files to browsers: its page at each address that the dashboard has, and under
// /assets what the page loads, which is named by its content and so may be kept for good. INVARIANT: only
// files of the build are served.

import { readdirSync, readFileSync } from 'node:fs';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../../contract/problem.ts';
import {
  asksForHtml,
  contentTypes,
  packed,
  type StaticFile,
  sendFile,
  staticHeaders,
} from './static-file.ts';

const builtFolder = join(import.meta.dirname, '../../../../dashboard/dist');

/** Addresses that the page is served at; the page itself decides what it shows at each. */
const pageAddresses = [
  '/',
  '/overview',
  '/requests',
  '/requests/:id',
  '/approvals',
  '/approvals/:id',
  '/plans/:id',
  '/standing-approvals',
  '/agents',
  '/agents/:id',
  '/policies',
  '/policies/file',
  '/diff',
  '/playground',
  '/enforcement-points',
  '/enforcement-points/:id',
  '/alerts',
  '/access',
  '/audit',
  '/account',
  '/welcome',
  '/setup',
  '/invitation',
  '/reset',
  '/apply',
];

const indexName = 'index.html';

/** The account that the sign-in page of a demo offers. */
export interface DemoAccount {
  readonly email: string;
  readonly password: string;
  /** The secret of its one-time codes, in base32, so that the page can show them; absent without codes. */
  readonly totp_secret?: string;
}

export interface DashboardRouteOptions {
  /**
   * The account that the page of a demo knows, with which the page names itself a demo on every screen; null
   * when the service is no demo.
   */
  readonly demo?: DemoAccount | null;
  /** The folder of the built dashboard; by default where the build puts it. */
  readonly folder?: string;
}

export async function dashboardRoutes(
  app: FastifyInstance,
  { folder = builtFolder, demo = null }: DashboardRouteOptions,
): Promise<void> {
  let files = readFiles(folder, demo);
  /** The first start of a checkout serves before the dashboard is built, so files may appear later. */
  const findFile = (name: string): StaticFile | undefined => {
    if (files.size === 0) files = readFiles(folder, demo);
    return files.get(name);
  };

  const send = (name: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const file = findFile(name);
    if (file === undefined && files.size === 0 && isBeingBuilt(folder) && asksForPage(request))
      return sendWaitPage(reply);
    if (file === undefined) throw missing(files);
    return sendFile(file, request, reply);
  };

  const config = { isDocumented: false };
  for (const address of pageAddresses) {
    app.get(address, { config }, (request, reply) => send(indexName, request, reply));
  }
  app.get<{ Params: { '*': string } }>('/assets/*', { config }, (request, reply) =>
    send(`assets/${request.params['*']}`, request, reply),
  );
  app.get<{ Params: { '*': string } }>('/*', { config }, (request, reply) => {
    const name = request.params['*'];
    if (name !== indexName && findFile(name) !== undefined) return send(name, request, reply);
    return asksForPage(request) && findFile(indexName) !== undefined
      ? send(indexName, request, reply.code(404))
      : reply.callNotFound();
  });
}

/** Whether a process is building the dashboard: it works in a folder beside the result, named after its id. */
function isBeingBuilt(folder: string): boolean {
  return filesBeside(folder).some((name) => {
    const [, id] = /^\.dist-(\d+)$/.exec(name) ?? [];
    return id !== undefined && isRunning(Number(id));
  });
}

function filesBeside(folder: string): readonly string[] {
  try {
    return readdirSync(dirname(folder));
  } catch {
    return [];
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Loads itself again until the dashboard is there. */
const waitPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<meta http-equiv="refresh" content="1">
<title>Writ</title>
<h1>The dashboard is being built</h1>
<p>This happens once and takes a few seconds. The page reloads by itself. Agents can already send requests.</p>
`;

function sendWaitPage(reply: FastifyReply): FastifyReply {
  reply.code(503).headers({ ...staticHeaders, 'cache-control': 'no-store', 'retry-after': '1' });
  return reply.type(contentTypes['.html'] ?? '').send(waitPage);
}

/**
 * Whether a browser asks for a page: then the page itself, with its menu, shows that nothing is there.
 * Programs get a problem.
 */
function asksForPage(request: FastifyRequest): boolean {
  return asksForHtml(request) && !/^\/(?:v1|assets)\//.test(request.url);
}

function missing(files: ReadonlyMap<string, StaticFile>): ProblemError {
  return files.size === 0
    ? new ProblemError('unknown_route', 'the dashboard has not been built: run `npm run build`')
    : new ProblemError('unknown_route', 'no such file');
}

/**
 * Files by path with `/`; empty when the dashboard has not been built, or is being removed at this moment.
 */
function readFiles(root: string, demo: DemoAccount | null): ReadonlyMap<string, StaticFile> {
  try {
    const files = readAll(root);
    return demo === null ? files : files.set(indexName, demoPage(join(root, indexName), demo));
  } catch (error) {
    // The service decides just as well without its dashboard.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}

function readAll(root: string): Map<string, StaticFile> {
  const files = new Map<string, StaticFile>();
  for (const entry of readdirSync(root, { recursive: true, encoding: 'utf8' })) {
    const type = contentTypes[extname(entry)];
    // The documentation, in a folder of its own, has its own routes.
    if (type === undefined || /^docs[\\/]/.test(entry)) continue;
    const bytes = readFileSync(join(root, entry));
    const br = readFileSync(join(root, `${entry}.br`));
    const name = entry.replaceAll('\\', '/');
    files.set(name, {
      type,
      bytes: packed(() => bytes, br),
      isKept: name.startsWith('assets/'),
      isCompressed: true,
    });
  }
  return files;
}

/** The page with the account in an attribute of its root element, where the page's own scripts read it. */
function demoPage(path: string, demo: DemoAccount): StaticFile {
  const value = JSON.stringify(demo).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const bytes = Buffer.from(
    readFileSync(path, 'utf8').replace('<html ', () => `<html data-demo="${value}" `),
  );
  const type = contentTypes['.html'] ?? '';
  return { type, bytes: packed(() => bytes, brotliCompressSync(bytes)), isKept: false, isCompressed: true };
}
