// Reads a request as JSON, from a file, standard input or options, and turns it into facts for a policy set.

import { readFile } from 'node:fs/promises';
import {
  type CameBy,
  cameByOf,
  exportLimits,
  exportLineOf,
  givenOf,
} from '../../analysis/replay/export-line.ts';
import { foreignText } from '../../analysis/replay/unsupported-file.ts';
import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Facts } from '../../language/model/request.ts';
import { readMap } from '../../testing/fields.ts';
import { readSituation, toFacts, withDeclaredNames } from '../../testing/situation.ts';
import { applyPart, changeKeys, factKeys } from '../../testing/watch-changes.ts';
import { fromJson, type Report } from '../../testing/yaml.ts';
import { fileError } from '../output/file-error.ts';
import { UsageError } from '../output/output.ts';

/** A request as JSON, and where it comes from. */
export interface GivenFacts {
  readonly given: JsonObject;
  /** Whether the request comes from an export; then it may name things that the set does not have. */
  readonly isRecorded: boolean;
  /** What a recorded request came by; absent for other requests. */
  readonly cameBy?: CameBy;
}

/**
 * Reads the facts of a test, the body of `POST /v1/authorize`, or a line of an export of requests. Throws a
 * UsageError for anything else.
 */
export async function readRequestFile(text: string, name: string): Promise<GivenFacts> {
  const bytes = await readBytes(text, name);
  const foreign = foreignText(bytes);
  if (foreign !== null) throw new UsageError(`cannot read ${name}: ${foreign}`);
  const value = jsonOf(oneLine(bytes, name), name);
  if (!isJsonObject(value)) {
    throw new UsageError(`${name} must be a JSON object`);
  }
  const recorded = recordedRequest(value as JsonObject, name);
  if (recorded !== null) return { ...recorded, isRecorded: true };
  return { given: bodyOf(value as JsonObject), isRecorded: false };
}

/** The body of `POST /v1/authorize` as facts: the body calls the action `action_key`. */
export function bodyOf({ action_key: action, ...rest }: JsonObject): JsonObject {
  return action === undefined ? rest : { action, ...rest };
}

/** Throws a UsageError for an empty text, and for several requests on lines of their own. */
function oneLine(bytes: Uint8Array, name: string): Uint8Array {
  const lines = Buffer.from(bytes)
    .toString('utf8')
    .split('\n')
    .filter((line) => line.trim() !== '');
  if (lines.length === 0) throw new UsageError(`${name} is empty: give a request as a JSON object`);
  const isLine = (line: string): boolean => /^\{".*\}\s*$/.test(line);
  if (lines.length > 1 && lines.every(isLine))
    throw new UsageError(`${name} has ${lines.length} lines: select one (\`sed -n 1p\`)`);
  return bytes;
}

function recordedRequest(
  value: JsonObject,
  name: string,
): Required<Pick<GivenFacts, 'given' | 'cameBy'>> | null {
  try {
    const line = exportLineOf(value);
    if (line === null) return null;
    const given = givenOf(line);
    if (given !== null) return { given, cameBy: cameByOf(line) };
  } catch (error) {
    throw new UsageError(`cannot read ${name}: ${error instanceof Error ? error.message : String(error)}`);
  }
  throw new UsageError(`${name} is not the record of a request`);
}

/** Reads JSON text, `@file`, or `-` for standard input. Throws a UsageError when the text is not JSON. */
export async function readFactValue(text: string, name: string): Promise<Json> {
  return jsonOf(await readBytes(text, name), name);
}

function jsonOf(bytes: Uint8Array, name: string): Json {
  const result = readJson(bytes, exportLimits);
  if (result.ok) return result.value;
  const { pointer, detail } = result.issue;
  throw new UsageError(`${name} is not JSON: ${detail}${pointer === '' ? '' : ` at ${pointer}`}`);
}

/** Turns a request into facts for the set. Throws a UsageError that lists every mistake. */
export function readFacts({ given, isRecorded }: GivenFacts, set: PolicySet): Facts {
  const mistakes: string[] = [];
  const report: Report = (_span, message, help) => {
    mistakes.push(help === undefined ? message : `${message} (${help})`);
  };
  const span = { file: '', start: 0, end: 0 };
  const map = readMap(
    fromJson(given, span),
    { name: 'the request', keys: [...factKeys, ...changeKeys] },
    report,
  );
  const facts = map && applyPart(new Map(), map, report);
  const situation = facts && readSituation(facts, span, report);
  const complete =
    situation && toFacts(isRecorded ? withDeclaredNames(set, situation) : situation, set, report);
  if (complete === null || mistakes.length > 0) throw new UsageError(mistakes.join('\n       '));
  return complete;
}

async function readBytes(text: string, name: string): Promise<Uint8Array> {
  if (text === '-') return readInput();
  if (!text.startsWith('@')) return Buffer.from(text);
  try {
    return await readFile(text.slice(1));
  } catch (error) {
    throw new UsageError(`cannot read ${text.slice(1)} (${name}): ${fileError(error)}`);
  }
}

async function readInput(): Promise<Uint8Array> {
  const chunks: Buffer[] = [];
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks);
}
