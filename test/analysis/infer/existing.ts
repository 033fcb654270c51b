// Existing policies for an inference, from the text of one file.

import type { InferOptions } from '../../../src/analysis/infer/infer.ts';
import { deciderOf } from '../../../src/analysis/infer/sample.ts';
import { checkSources } from '../../../src/pipeline.ts';
import { withLints } from '../../../src/reasoning/lints/lint.ts';

export function existingOf(text: string): NonNullable<InferOptions['existing']> {
  const sources = {
    files: [{ path: 'existing.policy', text: `${text}\n` }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }) as const,
  };
  const { set, files, diagnostics, silenced } = checkSources(sources);
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  const all = withLints({ set, files, diagnostics, silenced, texts: sources.files }).diagnostics;
  return { set, decide: deciderOf(set), sources, diagnostics: all };
}
