// Suggests changes of the active policies for a recorded request.

import { factsOfRecord, type RecordedRequest } from './records/recorded-request.ts';
import { createSuggester } from './suggest/suggest.ts';
import { type SuggestionReport, suggestionReport } from './suggest/suggestion-report.ts';
import type { Workspace } from './workspace.ts';

/** Each comparison takes proofs, so a person who waits gets the best of a few changes. */
const verifiedMax = 5;

export function suggestForRecord(workspace: Workspace, record: RecordedRequest): SuggestionReport {
  const suggester = createSuggester(workspace.sources());
  if (suggester === null) throw new Error('the active policies do not compile');
  const found = suggester.suggest(factsOfRecord(record), { verifiedMax });
  return suggestionReport(found, { base: suggester.base, shown: (path) => path, tests: null });
}
