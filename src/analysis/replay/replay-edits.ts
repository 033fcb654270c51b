// Tries files laid over the active policies on the records of a store. Returns what `writ replay` reports
// about the two sets, and the example of each finding as a request that can be tried.

import { diffPolicies } from '../../reasoning/diff/diff.ts';
import type { SetTexts } from '../../service/policies/texts.ts';
import type { RecordsLocation } from '../../service/store/contract/log.ts';
import { openRecords } from '../../service/store/open.ts';
import { comparedSideOf } from '../compare-with-active.ts';
import { reportOf } from '../diff/diff-report.ts';
import { locateDiagnostics } from '../located-diagnostics.ts';
import type { DiffResult, TextFile } from '../playground-questions.ts';
import { givenRequestOf } from '../request-input.ts';
import { createWorkspace } from '../workspace.ts';
import { readingFor } from './engine/replay-log.ts';
import { replayFindings } from './finding-counts.ts';
import { openStoredLog } from './read-store.ts';
import { replayJson } from './replay-json.ts';
import { replayLog, windowMsOf } from './replay-log.ts';
import { candidateOf } from './service-rules.ts';

export interface ReplayInput {
  /** Texts of the active policies. */
  readonly texts: SetTexts;
  readonly files: readonly TextFile[];
  readonly records: RecordsLocation;
  /** Requests from this moment on are replayed; milliseconds since 1970. */
  readonly sinceMs: number;
}

export interface EditReplay extends Pick<DiffResult, 'diagnostics' | 'requests'> {
  /** What `writ replay --json` prints; null when the policies have errors. */
  readonly replay: object | null;
}

/**
 * Rejects when the records cannot be read. `onProgress` is called with the share of records read so far, from
 * 0 to 1.
 */
export async function replayEdits(
  { texts, files, records, sinceMs }: ReplayInput,
  onProgress: (share: number) => void,
): Promise<EditReplay> {
  const workspace = createWorkspace();
  workspace.take(texts);
  const active = workspace.compileWith([]);
  const laid = workspace.compileWith(files);
  const diagnostics = locateDiagnostics(laid.diagnostics, laid.sourceOf);
  if (laid.policies === null) return { diagnostics, replay: null, requests: [] };
  const { set, engine } = laid.policies;
  const sides = { before: comparedSideOf('active', active), after: comparedSideOf('files', laid) };
  const diff = diffPolicies(sides.before.set, set);
  const candidate = candidateOf(set, engine);
  onProgress(0);
  const reader = await openRecords(records);
  try {
    const log = await openStoredLog(reader, { sinceMs, windowMs: windowMsOf(candidate) });
    const result = await replayLog(log, {
      candidate,
      reading: readingFor(candidate),
      sinceMs,
      findings: replayFindings({ diff, sides }),
      onProgress,
    });
    const report = reportOf({ sides, diff, guarantees: [], log: result });
    const filed = { decided: result.decidedBy.get(sides.before.digest) ?? 0, report };
    const { faults } = log;
    const replay = replayJson(result, { path: 'files', digest: sides.after.digest, sinceMs, faults, filed });
    const requests = diff.findings.map(({ example }) =>
      example === null ? null : givenRequestOf(example.facts.after, set),
    );
    return { diagnostics, replay, requests };
  } finally {
    await reader.close();
  }
}
