// `writ audit witness`: a witness of transparency logs (C2SP tlog-witness) that keeps the last checkpoint of each log in
// a directory and cosigns what continues it. INVARIANT: the checkpoint is on the disk before its cosignature is
// sent; two processes with the same directory never run at the same time.

import { createHash, randomBytes } from 'node:crypto';
import { closeSync, fsyncSync, mkdirSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Command } from 'commander';
import { signingKeysOf } from '../../service/agents/signing-key.ts';
import { StoreError } from '../../service/store/contract/store-error.ts';
import type { ServingLock } from '../../service/store/sqlite/file/serving-lock.ts';
import {
  isKeyName,
  noteSignerOf,
  readVerifierKey,
  type VerifierKey,
  verifierKeyText,
} from '../../service/transparency-log/signed-note.ts';
import {
  type Contradiction,
  createWitness,
  type WitnessMemory,
  type WitnessServer,
} from '../../service/transparency-log/witness.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, UsageError } from '../output/output.ts';

interface Options {
  readonly name: string;
  readonly log: readonly string[];
  readonly directory: string;
  readonly host: string;
  readonly port: string;
}

export function defineWitness(command: Command, finish: (code: ExitCode) => void): void {
  command
    .command('witness')
    .description('cosign checkpoints of transparency logs, and refuse one that does not continue the last')
    .requiredOption('--name <name>', 'the name of this witness, such as witness.example.com')
    .requiredOption('--log <key...>', 'the verifier keys of the logs that it cosigns (GET /v1/log/key)')
    .option(
      '--directory <directory>',
      'where it keeps its key and the last checkpoint of each log',
      './witness',
    )
    .option('--host <address>', 'the address to listen on', '127.0.0.1')
    .option('--port <port>', 'the port to listen on; 0 takes any free port', '8282')
    .action(async (options: Options) => finish(await run(options)));
}

async function run({ name, log, directory, host, port }: Options): Promise<ExitCode> {
  if (!isKeyName(name)) throw new UsageError('--name must have no spaces and no plus signs');
  const logs = log.map(readLogKey);
  if (!/^\d{1,5}$/.test(port)) throw new UsageError('--port must be a number');
  const signer = noteSignerOf(name, 'cosignature', signingKeysOf(keyIn(directory), 'witness'));
  const lock = await lockIn(directory);
  const witness = createWitness({
    signer,
    logs,
    memory: memoryIn(directory),
    clock: () => Date.now(),
    onContradiction: printContradiction,
  });
  const server = createServer((request, reply) => {
    void answer(witness, request).then(({ status, contentType, body }) =>
      reply.writeHead(status, { 'content-type': contentType }).end(body),
    );
  });
  try {
    const { address, port: listening } = await listen(server, host, Number(port));
    print(`key of this witness: ${verifierKeyText(signer.key)}\n`);
    print(`listening on http://${address.includes(':') ? `[${address}]` : address}:${listening}\n`);
    await new Promise<void>((resolve) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => resolve());
    });
  } finally {
    server.close();
    server.closeAllConnections();
    lock.release();
  }
  return exitCodes.ok;
}

function readLogKey(text: string): VerifierKey {
  const key = readVerifierKey(text);
  if (key?.type !== 'note') throw new UsageError(`\`${text}\` is not the verifier key of a log`);
  return key;
}

function listen(server: Server, host: string, port: number): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    server.once('error', (error) =>
      reject(new UsageError(`cannot listen on ${host}:${port}: ${error.message}`)),
    );
    server.listen(port, host, () => resolve(server.address() as AddressInfo));
  });
}

const bodyBytesMax = 64 * 1024;

interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string;
}

const textType = 'text/plain; charset=utf-8';

async function answer(witness: WitnessServer, request: IncomingMessage): Promise<Answer> {
  if (request.method !== 'POST' || request.url !== '/add-checkpoint')
    return { status: 404, contentType: textType, body: 'a witness answers POST /add-checkpoint\n' };
  try {
    const body = await bodyOf(request);
    return body === null
      ? { status: 413, contentType: textType, body: 'the body is too large\n' }
      : await witness.addCheckpoint(body);
  } catch (error) {
    printError(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    return { status: 500, contentType: textType, body: 'the witness could not keep the checkpoint\n' };
  }
}

async function bodyOf(request: IncomingMessage): Promise<string | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of request as AsyncIterable<Buffer>) {
    length += part.length;
    if (length > bodyBytesMax) return null;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function printContradiction({ why, kept, submitted }: Contradiction): void {
  printError(
    `refused: ${why}\n--- the last checkpoint that was cosigned\n${kept}--- the refused checkpoint\n${submitted}---\n`,
  );
}

async function lockIn(directory: string): Promise<ServingLock> {
  // The package that it needs is installed with the service only.
  const { lockForServing } = await import('../../service/store/sqlite/file/serving-lock.ts');
  try {
    return lockForServing(join(directory, 'witness'));
  } catch (error) {
    if (error instanceof StoreError && error.code === 'already-served')
      throw new UsageError(`another witness uses ${directory}`);
    throw error;
  }
}

/** The secret of the directory, made at the first start. */
function keyIn(directory: string): Uint8Array {
  const path = join(directory, 'key');
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const present = read(path);
    const text = present ?? randomBytes(32).toString('base64');
    if (present === null) write(path, text);
    const key = Buffer.from(text, 'base64');
    if (key.length !== 32) throw new UsageError(`${path} is not the key of a witness`);
    return key;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`cannot use ${directory}: ${fileError(error)}`);
  }
}

function memoryIn(directory: string): WitnessMemory {
  const pathOf = (origin: string) =>
    join(directory, `${createHash('sha256').update(origin).digest('hex').slice(0, 16)}.checkpoint`);
  return {
    read: async (origin) => read(pathOf(origin)),
    keep: async (origin, checkpoint) => write(pathOf(origin), checkpoint),
  };
}

function read(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

/** Replaces the file; the text and its name are on the disk when this returns. */
function write(path: string, text: string): void {
  const next = `${path}.next`;
  const file = openSync(next, 'w', 0o600);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(next, path);
  const folder = openSync(join(path, '..'), 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
