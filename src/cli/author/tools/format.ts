// `format`: the canonical form of policy files, as `writ fmt` writes it, shown as diffs and written nowhere.

import { unifiedDiff } from '../../../language/assist/unified-diff.ts';
import { diagnosticToJson } from '../../../language/diagnostic/render.ts';
import { many } from '../../output/many.ts';
import { UsageError } from '../../output/output.ts';
import {
  type FormatResult,
  formatPaths,
  formatText,
  isChanged,
  textsOf,
} from '../../support/format-files.ts';
import type { Answer, Entry } from '../tool/answer.ts';
import { diagnosticText } from '../tool/policies.ts';
import { anyObject, flag, listOf, optional, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { policiesInWorkspace } from '../tool/workspace.ts';

export const format = defineTool({
  name: 'format',
  title: 'Format policies',
  description:
    'Shows the one canonical form of policy files, and writes nothing: for files a unified diff to apply, for `text` the formatted text.',
  input: {
    path: optional(pathField),
    text: optional(text('the text of a policy file to format, instead of files')),
  },
  output: {
    ok: flag('whether every file has the canonical form and no syntax error'),
    files: listOf(
      anyObject('path, state (canonical, changed or broken), and the diff of a changed file'),
      'changed ones first',
    ),
    lines: listOf(text('a part of the text'), 'the formatted `text`; join the parts with line breaks'),
    diagnostics: listOf(
      anyObject('code, message, file, line'),
      'syntax errors; a file with one keeps its form',
    ),
  },
  async run({ path, text: source }) {
    if (source === undefined) return answerOf(await formatPaths([policiesInWorkspace(path)]));
    if (path !== undefined) throw new UsageError('name a `path` or give a `text`, not both');
    const file = formatText({ path: 'text', text: source });
    return file.after === null
      ? answerOf({ files: [file], diagnostics: [] })
      : textAnswer(file.after, source);
  },
});

const lists = ['files', 'lines', 'diagnostics'];

/** Parts of ten lines, so that a long text can be read on. */
function textAnswer(after: string, before: string): Answer {
  const lines = after.trimEnd().split('\n');
  const parts = Array.from({ length: Math.ceil(lines.length / 10) }, (_, at) =>
    lines.slice(at * 10, at * 10 + 10).join('\n'),
  );
  return {
    lead: after === before ? 'The text is formatted.' : 'The formatted text:',
    data: { ok: after === before },
    lists,
    entries: parts.map((part) => ({ list: 'lines', text: part, data: part })),
  };
}

function answerOf({ files, diagnostics }: Awaited<ReturnType<typeof formatPaths>>): Answer {
  const changed = files.filter(isChanged);
  const all = [...diagnostics, ...files.flatMap((file) => file.diagnostics)];
  const sources = { root: null, sourceOf: textsOf(files) };
  const rank = (file: FormatResult): number => (isChanged(file) ? 0 : file.after === null ? 1 : 2);
  return {
    lead: `${many(files.length, 'file')}, ${changed.length} not formatted, ${many(all.length, 'error')}`,
    data: { ok: changed.length === 0 && all.length === 0 },
    lists,
    entries: [
      ...all.map((one): Entry => {
        const { code, message, file, start } = diagnosticToJson(one, sources.sourceOf);
        return {
          list: 'diagnostics',
          text: diagnosticText(one, sources),
          data: { code, message, file, line: start?.line ?? null },
        };
      }),
      ...files.toSorted((a, b) => rank(a) - rank(b)).map(fileEntry),
    ],
  };
}

function fileEntry(file: FormatResult): Entry {
  const { path, before, after } = file;
  if (after === null) return entryOf(path, 'broken', 'has syntax errors and keeps its form');
  if (after === before) return entryOf(path, 'canonical', 'is formatted');
  const diff = unifiedDiff(path, before, after);
  return { list: 'files', text: diff.trimEnd(), data: { path, state: 'changed', diff } };
}

function entryOf(path: string, state: string, what: string): Entry {
  return { list: 'files', text: `${path} ${what}`, data: { path, state } };
}
