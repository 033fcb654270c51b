// `writ import cedar`: reads the files, imports them, and prints what goes wrong. INVARIANT: null, with the requests on standard
// error, when the policies would grant what Cedar denies.

import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileError } from '../../output/file-error.ts';
import { many } from '../../output/many.ts';
import { printError, UsageError } from '../../output/output.ts';
import { SettingsError } from '../host-settings.ts';
import type { ImportFiles } from '../report.ts';
import type { CedarFile } from './cedar-policies.ts';
import { type CedarSchema, readCedarSchema } from './cedar-schema.ts';
import { type Cedar, loadCedar } from './cedar-wasm.ts';
import type { ComparedRequest } from './compare.ts';
import { importCedar } from './import-cedar.ts';
import type { PrincipalFact } from './write-cedar.ts';

export interface CedarOptions {
  readonly schema?: string;
  readonly point?: string;
  readonly principal?: PrincipalFact;
  readonly requests?: string;
}

const requestsDefault = 100_000;
const seed = 7;

export async function importCedarFolder(folder: string, options: CedarOptions): Promise<ImportFiles | null> {
  const { schema: schemaFile, point = 'gateway', principal = null } = options;
  if (schemaFile === undefined) throw new UsageError('name the schema of the policies with --schema FILE');
  const requests = requestsIn(options);
  const files = await cedarFilesIn(folder);
  const schemaText = await textOf(schemaFile);
  const cedar = await loadCedar(folder);
  const schema = schemaOf(cedar, schemaFile, schemaText);
  const result = await importedBy(folder, () =>
    importCedar(
      { cedar, schema, files, point, principal },
      { requests, seed, onProgress: progressTo(requests) },
    ),
  );
  if (result.kind === 'files') return result.files;
  printError(looserText(result.requests));
  return null;
}

function requestsIn({ requests }: CedarOptions): number {
  const number = requests === undefined ? requestsDefault : Number(requests);
  if (!Number.isSafeInteger(number) || number < 1)
    throw new UsageError(`\`--requests ${requests}\` is no number of requests`);
  return number;
}

async function cedarFilesIn(folder: string): Promise<readonly CedarFile[]> {
  let paths: readonly string[];
  try {
    paths = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.cedar')).toSorted();
  } catch (error) {
    throw new UsageError(`cannot read ${folder}: ${fileError(error)}`);
  }
  if (paths.length === 0) throw new UsageError(`${folder} has no \`.cedar\` files`);
  return await Promise.all(paths.map(async (path) => ({ path, text: await textOf(join(folder, path)) })));
}

async function textOf(file: string): Promise<string> {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(await readFile(file));
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(`${file} is not valid UTF-8`);
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  }
}

function schemaOf(cedar: Cedar, file: string, text: string): CedarSchema {
  try {
    return readCedarSchema(cedar, text);
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(`${file}: ${error.message}`);
    throw error;
  }
}

async function importedBy<T>(folder: string, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof SettingsError) throw new UsageError(`${folder}: ${error.message}`);
    throw error;
  }
}

/** Shows how many requests are decided, on a terminal. */
function progressTo(requests: number): (done: number) => void {
  if (process.stderr.isTTY !== true) return () => undefined;
  return (done) =>
    printError(
      `\r\u001b[K${done === requests ? '' : `${done.toLocaleString('en')}/${many(requests, 'request')} compared`}`,
    );
}

function looserText(requests: readonly ComparedRequest[]): string {
  const [first] = requests;
  if (first === undefined) return '';
  return [
    `The policies would decide ${first.decision} by ${first.rule} where Cedar denies; nothing was written. Please report this with the policies and this request:`,
    JSON.stringify({ action: first.key, payload: first.payload }),
    JSON.stringify(first.cedar),
    '',
  ].join('\n');
}
