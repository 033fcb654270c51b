// Serves the documentation, which the build of the dashboard makes, to everybody: its pages say nothing about this
// installation. INVARIANT: only files of the build are served, with the headers of the dashboard's. Only their
// compressed forms are kept in memory.

import { readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { documentationPath } from '../../../../site/address.ts';
import { ProblemError } from '../../contract/problem.ts';
import { asksForHtml, contentTypes, packed, type StaticFile, sendFile } from './static-file.ts';

const builtFolder = join(import.meta.dirname, '../../../../dashboard/dist/docs');
const missingName = '404.html';

/** The texts of the search. */
const json = 'application/json; charset=utf-8';

export interface DocumentationRouteOptions {
  /** The folder of the built documentation; by default where the build puts it. */
  readonly folder?: string;
}

export async function documentationRoutes(
  app: FastifyInstance,
  { folder = builtFolder }: DocumentationRouteOptions,
): Promise<void> {
  let files = readFiles(folder);

  const send = (path: string, request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    // The first start of a checkout serves before the build, so files may appear later.
    if (files.size === 0) files = readFiles(folder);
    const pagePath = path.replace(/\/$/, '');
    const page = pagePath === '' ? 'index' : pagePath;
    const file = files.get(page) ?? files.get(`${page}.html`) ?? files.get(`${page}/index.html`);
    if (file !== undefined) return sendFile(file, request, reply);
    const missing = files.get(missingName);
    if (missing !== undefined && asksForHtml(request)) return sendFile(missing, request, reply.code(404));
    throw files.size === 0
      ? new ProblemError('unknown_route', 'the documentation has not been built: run `npm run build`')
      : new ProblemError('unknown_route', 'no such page');
  };

  const config = { isDocumented: false };
  app.get(documentationPath, { config }, (request, reply) => send('', request, reply));
  app.get<{ Params: { '*': string } }>(`${documentationPath}/*`, { config }, (request, reply) =>
    send(request.params['*'], request, reply),
  );
}

/** Files by path with `/`; empty when the documentation has not been built. */
function readFiles(root: string): ReadonlyMap<string, StaticFile> {
  try {
    const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).flatMap((entry) => {
      const name = entry.replaceAll('\\', '/').replace(/\.br$/, '');
      const type = extname(name) === '.json' ? json : contentTypes[extname(name)];
      return type === undefined ? [] : [[name, readFile(join(root, entry), type, name)] as const];
    });
    return new Map(files);
  } catch (error) {
    // The service decides just as well without its documentation.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return new Map();
    throw error;
  }
}

function readFile(path: string, type: string, name: string): StaticFile {
  const isKept = name.startsWith('assets/');
  const bytes = readFileSync(path);
  if (extname(path) !== '.br') return { type, isKept, isCompressed: false, bytes: () => bytes };
  return { type, isKept, isCompressed: true, bytes: packed(() => brotliDecompressSync(bytes), bytes) };
}
