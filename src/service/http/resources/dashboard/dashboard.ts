// Serves the dashboard's files to browsers: its page at each address that the dashboard has, and under
// /assets what the page loads, which is named by its content and so may be kept for good. INVARIANT: only
// files of the build are served.

import { readdirSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { dirname, extname, join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ProblemError } from '../../contract/problem.ts';
import {
  asksForHtml,
  contentTypes,
  packed,
  readOnce,
  type StaticFile,
  type StaticFiles,
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
  '/plans',
  '/plans/:id',
  '/standing-approvals',
  '/agents',
  '/agents/:id',
  '/policies',
  '/policies/file',
  '/diff',
  '/playground',
  '/proposals',
  '/proposals/:id',
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
  const takeFiles = readOnce(() => readFiles(folder, demo));

  const send = async (name: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const files = await takeFiles();
    const file = files.get(name);
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
  app.get<{ Params: { '*': string } }>('/*', { config }, async (request, reply) => {
    const name = request.params['*'];
    const files = await takeFiles();
    if (name !== indexName && files.has(name)) return send(name, request, reply);
    if (asksForPage(request) && files.has(indexName)) return send(indexName, request, reply.code(404));
    reply.callNotFound();
    return reply;
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

function missing(files: StaticFiles): ProblemError {
  return files.size === 0
    ? new ProblemError('unknown_route', 'the dashboard has not been built: run `npm run build`')
    : new ProblemError('unknown_route', 'no such file');
}

async function readFiles(root: string, demo: DemoAccount | null): Promise<StaticFiles> {
  const names = await readdir(root, { recursive: true, encoding: 'utf8' });
  const files = new Map(
    await Promise.all(
      names.flatMap((entry) => {
        const type = contentTypes[extname(entry)];
        // The documentation, in a folder of its own, has its own routes.
        if (type === undefined || /^docs[\\/]/.test(entry)) return [];
        const name = entry.replaceAll('\\', '/');
        return [readPacked(join(root, entry), type, name).then((file) => [name, file] as const)];
      }),
    ),
  );
  return demo === null ? files : files.set(indexName, await demoPage(join(root, indexName), demo));
}

async function readPacked(path: string, type: string, name: string): Promise<StaticFile> {
  const [bytes, br] = await Promise.all([readFile(path), readFile(`${path}.br`)]);
  return { type, bytes: packed(() => bytes, br), isKept: name.startsWith('assets/'), isCompressed: true };
}

/** The page with the account in an attribute of its root element, where the page's own scripts read it. */
async function demoPage(path: string, demo: DemoAccount): Promise<StaticFile> {
  const value = JSON.stringify(demo).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const page = await readFile(path, 'utf8');
  const bytes = Buffer.from(page.replace('<html ', () => `<html data-demo="${value}" `));
  const type = contentTypes['.html'] ?? '';
  return { type, bytes: packed(() => bytes, brotliCompressSync(bytes)), isKept: false, isCompressed: true };
}
