// Reads recorded requests for `writ infer`: an export, the records of a data directory, or lines with an action
// and a payload alone, as agents without Writ log them.

import { readFileSync, statSync } from 'node:fs';
import { noPolicies } from '../../analysis/infer/compare.ts';
import { type Sample, SampleLog } from '../../analysis/infer/sample.ts';
import { exportLimits, exportLineOf } from '../../analysis/replay/export-line.ts';
import { LogFaults } from '../../analysis/replay/log-source.ts';
import { otherFileText } from '../../analysis/replay/unsupported-file.ts';
import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { readRequestLines } from '../../measure/read-requests.ts';
import { toFacts, withDeclaredNames } from '../../testing/situation.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, UsageError } from '../output/output.ts';
import { withLog } from './open-log.ts';

export interface ReadSamples {
  readonly samples: readonly Sample[];
  readonly faults: LogFaults;
}

/** Null when there is no store in the data directory, which has been printed then. */
export async function readSamples(path: string, set: PolicySet | null): Promise<ReadSamples | null> {
  const isFolder = statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  if (!isFolder) {
    const bytes = bytesOf(path);
    if (isPlain(bytes)) return readPlain(bytes, path, set ?? noPolicies);
  }
  let read: ReadSamples | null = null;
  const named = { file: isFolder ? null : path, data: path, windowMs: 0 };
  await withLog(named, async (log): Promise<ExitCode> => {
    const collected = new SampleLog();
    for await (const { entries } of log.parts) for (const entry of entries) collected.take(entry);
    read = { samples: collected.samples(), faults: log.faults };
    return exitCodes.ok;
  });
  return read;
}

function bytesOf(path: string): Buffer {
  try {
    return readFileSync(path);
  } catch (error) {
    throw new UsageError(`cannot read \`${path}\`: ${fileError(error)}`);
  }
}

/** Whether the first line is a request without a recorded decision. */
function isPlain(bytes: Buffer): boolean {
  if (otherFileText(bytes) !== null) return false;
  let start = 0;
  while (start < bytes.length && /\s/.test(String.fromCharCode(bytes[start]!))) start += 1;
  const end = bytes.indexOf(0x0a, start);
  const read = readJson(bytes.subarray(start, end < 0 ? undefined : end), exportLimits);
  if (!read.ok || !isJsonObject(read.value)) return false;
  return exportLineOf(read.value) === null && ('action_key' in read.value || 'action' in read.value);
}

function readPlain(bytes: Buffer, path: string, set: PolicySet): ReadSamples {
  const { lines, mistakes } = readRequestLines(bytes, path);
  const faults = new LogFaults();
  for (const mistake of mistakes) {
    const [place] = /^.*?:\d+(?=[:]| )/.exec(mistake) ?? [path];
    faults.add(place, mistake.slice(place.length).replace(/^:(?:\d+:)? ?/, ''));
  }
  const samples = lines.flatMap(({ line, situation, isRecorded }): readonly Sample[] => {
    if (isRecorded) {
      faults.add(`${path}:${line}`, 'the line is of an export, and the first line is not');
      return [];
    }
    const facts = toFacts(withDeclaredNames(set, situation), set, () => {});
    if (facts === null) throw new Error(`line ${line} has no facts`);
    return [{ facts, holdsDigests: false, status: 'undecided', policies: null }];
  });
  return { samples, faults };
}
