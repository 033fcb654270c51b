// `diff`: every kind of request that two revisions decide differently, as `writ diff` finds it, with the
// change in sentences.

import { remarkLines } from '../../../analysis/diff/diff-remarks.ts';
import { type DiffReport, reportOf } from '../../../analysis/diff/diff-report.ts';
import { changedSentences } from '../../../analysis/diff/diff-sentences.ts';
import { type LoadedSide, readSide, type SideSource } from '../../../analysis/diff/diff-side.ts';
import { countsText, findingTexts, proofLines } from '../../../analysis/diff/diff-text.ts';
import { RevisionError } from '../../../analysis/diff/git-revision.ts';
import type { JsonObject } from '../../../language/model/json.ts';
import { createCompileCache } from '../../../pipeline.ts';
import type { SentenceChange } from '../../../reasoning/summary/summary-diff.ts';
import { UsageError } from '../../output/output.ts';
import { changedActions, compareSides, sidesOfRevisions } from '../../support/compare-revisions.ts';
import type { Entry } from '../tool/answer.ts';
import { sideErrors } from '../tool/policies.ts';
import { anyObject, count, flag, listOf, optional, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { policiesInWorkspace } from '../tool/workspace.ts';
import { plainJson } from './check.ts';

export const diff = defineTool({
  name: 'diff',
  title: 'Compare two revisions',
  description:
    'Shows every kind of request that the files now decide differently than a revision in Git, the loosest change first, each with an example, and proves that there are no others. Show its answer to the person who reviews the change.',
  input: {
    path: optional(pathField),
    revision: optional(
      text('OLD, OLD..NEW or OLD...NEW; without NEW the files are compared as they are (default: HEAD)'),
    ),
  },
  output: {
    is_complete: flag('whether it is proved that nothing else changes'),
    loosened: count('number of findings that let more pass'),
    stricter: count('number of findings that let less pass'),
    undecided: count('number of findings and actions without a verdict'),
    findings: listOf(anyObject('direction, from, to, actions, when, causes, example'), 'the loosest first'),
    sentences: listOf(anyObject('subject, removed, added'), 'the change in plain sentences'),
    remarks: listOf(text('a line'), 'changes of rules that change no decision'),
    proof: listOf(text('a line'), 'guarantees on both sides, and what is proved'),
  },
  async run({ path, revision = 'HEAD' }, onStage) {
    const place = policiesInWorkspace(path);
    const sides = await sidesOfRevisions(revision, place).catch(withAdvice);
    const cache = createCompileCache();
    const load = async (source: SideSource): Promise<LoadedSide> => {
      const read = await readSide(source, cache).catch(withAdvice);
      if (read.side !== null) return read.side;
      throw sideErrors(read, source.path);
    };
    const loaded = { before: await load(sides.old), after: await load(sides.new) };
    onStage('comparing all requests');
    const comparison = await compareSides(loaded, sides.new.path);
    const report = reportOf({ ...comparison, log: null });
    const sentences = changedSentences(loaded, changedActions(report));
    const lines = proofLines(report);
    return {
      lead: [`${report.old.name}..${report.new.name}: ${countsText(report)}`, ...lines].join('\n'),
      data: {
        is_complete: report.limits.length === 0,
        loosened: report.loosened,
        stricter: report.stricter,
        undecided: report.undecided,
        proof: lines.slice(0, 20),
      },
      lists: ['findings', 'sentences', 'remarks'],
      entries: entriesOf(report, sentences),
    };
  },
});

/** Without an older revision there is nothing to compare with; other errors stay as they are. */
function withAdvice(error: unknown): never {
  if (!(error instanceof RevisionError)) throw error;
  const what = error.message.replace(/; --old and --new .*$/, '');
  throw new UsageError(`${what}. \`summary\` describes the files without an older revision.`);
}

function entriesOf(report: DiffReport, sentences: readonly SentenceChange[]): readonly Entry[] {
  const texts = findingTexts(report);
  return [
    ...report.findings.map((finding, at): Entry => {
      const { direction, from, to, actions, when, causes, example } = plainJson(finding) as JsonObject;
      return {
        list: 'findings',
        text: texts[at] ?? '',
        data: { direction, from, to, actions, when, causes, example } as JsonObject,
      };
    }),
    ...sentences.map(({ subject, removed, added }): Entry => {
      const lines = [...removed.map((one) => `- ${one}`), ...added.map((one) => `+ ${one}`)];
      return {
        list: 'sentences',
        text: `${subject}\n${lines.join('\n')}`,
        data: { subject, removed, added },
      };
    }),
    ...remarkLines(report.remarks).map((line): Entry => ({ list: 'remarks', text: line, data: line })),
  ];
}
