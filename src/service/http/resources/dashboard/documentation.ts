// Serves the documentation, which the build of the dashboard makes, to everybody: its pages say nothing about this
// installation. INVARIANT: only files of the build are served, with the headers of the dashboard's. Only their
// compressed forms are kept in memory.

import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { documentationPath } from '../../../../site/address.ts';
import { ProblemError } from '../../contract/problem.ts';
import {
  asksForHtml,
  contentTypes,
  packed,
  readOnce,
  type StaticFile,
  type StaticFiles,
  sendFile,
} from './static-file.ts';

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
  const takeFiles = readOnce(() => readFiles(folder));

  const send = async (path: string, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const files = await takeFiles();
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

async function readFiles(root: string): Promise<StaticFiles> {
  const names = await readdir(root, { recursive: true, encoding: 'utf8' });
  const files = names.flatMap((entry) => {
    const name = entry.replaceAll('\\', '/').replace(/\.br$/, '');
    const type = extname(name) === '.json' ? json : contentTypes[extname(name)];
    return type === undefined ? [] : [{ path: join(root, entry), type, name }];
  });
  return new Map(await Promise.all(files.map(async (file) => [file.name, await readOne(file)] as const)));
}

interface BuiltFile {
  readonly path: string;
  readonly type: string;
  readonly name: string;
}

async function readOne({ path, type, name }: BuiltFile): Promise<StaticFile> {
  const isKept = name.startsWith('assets/');
  const bytes = await readFile(path);
  if (extname(path) !== '.br') return { type, isKept, isCompressed: false, bytes: () => bytes };
  return { type, isKept, isCompressed: true, bytes: packed(() => brotliDecompressSync(bytes), bytes) };
}
