// Finds a recorded request in an export, by its id.

import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { exportLimits, exportLineOf, givenOf } from '../../../analysis/replay/export-line.ts';
import { readJson } from '../../../language/json/read-json.ts';
import { isJsonObject } from '../../../language/model/json.ts';
import { UsageError } from '../../output/output.ts';
import type { GivenFacts } from '../../support/read-facts.ts';
import { optional, text } from './schema.ts';
import { fileInWorkspace } from './workspace.ts';

/** The arguments that name a recorded request. */
export const recordedFields = {
  export: optional(text('a file of exported requests in the workspace (JSON Lines), with `id`')),
  id: optional(text('the id of a request in `export`')),
};

/** Throws a UsageError when the export has no such request. */
export async function recordedGiven(path: string, id: string): Promise<GivenFacts> {
  const file = fileInWorkspace(path);
  for await (const line of createInterface({
    input: createReadStream(file),
    crlfDelay: Number.POSITIVE_INFINITY,
  })) {
    if (!line.includes(id)) continue;
    const read = readJson(Buffer.from(line), exportLimits);
    const exported = read.ok && isJsonObject(read.value) ? exportLineOf(read.value) : null;
    if (exported === null) continue;
    const { record } = exported.kind === 'record' ? exported : { record: null };
    const own =
      exported.kind === 'request' ? exported.line.request_id : record?.kind === 'request' ? record.id : null;
    const given = own === id ? givenOf(exported) : null;
    if (given !== null) return { given, isRecorded: true };
  }
  throw new UsageError(`\`${file}\` has no recorded request \`${id}\``);
}
