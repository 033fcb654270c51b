// The mutants of one policy file for tests: each as a text that can be compiled, with its change.

import type { SourceText } from '../../src/language/diagnostic/span.ts';
import { type CompileResult, compile } from '../../src/pipeline.ts';
import { applyEdits } from '../../src/testing/mutation/edit.ts';
import { mutantsOf } from '../../src/testing/mutation/mutants.ts';

export interface MutatedText {
  /** The name in the form `subject: change`. */
  readonly name: string;
  /** The policy file, or the list file, after the change. */
  readonly file: SourceText;
}

const path = 'a.policy';

/** All mutants of the text, including those that do not compile; `lists` are list files by path. */
export function mutatedTexts(
  text: string,
  lists: Readonly<Record<string, string>> = {},
): readonly MutatedText[] {
  const { files } = compiled(text, lists);
  return files
    .flatMap((file) => mutantsOf(file, text, (list) => readList(lists, list)))
    .map(({ subject, change, edits }) => {
      const file = edits[0]!.span.file;
      const before = file === path ? text : lists[file]!;
      return { name: `${subject}: ${change}`, file: { path: file, text: applyEdits(before, edits) } };
    });
}

export function compiled(text: string, lists: Readonly<Record<string, string>> = {}): CompileResult {
  return compile({ files: [{ path, text }], readListFile: (list) => readList(lists, list) });
}

function readList(
  lists: Readonly<Record<string, string>>,
  list: string,
): { readonly text: string } | { readonly code: 'list-file-missing'; readonly message: string } {
  const text = lists[list];
  return text === undefined ? { code: 'list-file-missing', message: list } : { text };
}
