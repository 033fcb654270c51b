// Reads and changes the JSON configuration of another program. INVARIANT: comments and whatever the change leaves alone
// keep their text; a text that is not understood is not changed.

import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { CommentedJsonError, readCommentedJson, writeCommentedJson } from '../output/commented-json.ts';
import { fileError } from '../output/file-error.ts';
import { UsageError } from '../output/output.ts';

/** The text of a file; null when there is none. Throws a UsageError when it cannot be read. */
export async function readTextOrNull(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  }
}

/** The changed text; `before` is null when there is no file. Throws a UsageError when the text cannot be understood. */
export function changeConfiguration(
  file: string,
  before: string | null,
  change: (configuration: JsonObject) => JsonObject,
): string {
  if (before === null || before.replaceAll('\ufeff', '').trim() === '')
    return `${JSON.stringify(change({}), null, 2)}\n`;
  const changed = change(configurationIn(file, before));
  try {
    return writeCommentedJson(before, changed);
  } catch (error) {
    throw new UsageError(`${file} is unchanged: ${(error as Error).message}`);
  }
}

function configurationIn(file: string, text: string): JsonObject {
  try {
    const value = readCommentedJson(text);
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (!(error instanceof CommentedJsonError)) throw error;
    throw new UsageError(`${file} is not a JSON object: ${error.message}`);
  }
  throw new UsageError(`${file} is not a JSON object`);
}
