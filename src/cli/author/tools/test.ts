// `test`: the results of the test files, as `writ test` has them, with what their cases leave open.

import { relative } from 'node:path';
import { findUntested } from '../../../testing/find-test-files.ts';
import { type Mutation, mutate, type Survivor } from '../../../testing/mutation/mutate.ts';
import { decidedAlikeText } from '../../../testing/mutation/report.ts';
import { mutantDiff } from '../../../testing/mutation/unified-diff.ts';
import { countRun, explainFailure } from '../../../testing/report.ts';
import { runTestFiles, type TestRun } from '../../../testing/run.ts';
import { many } from '../../output/many.ts';
import type { Entry } from '../tool/answer.ts';
import { testsInWorkspace } from '../tool/find-case.ts';
import { anyObject, count, flag, listOf, optional, orNull, text } from '../tool/schema.ts';
import { defineTool, pathField } from '../tool/tool.ts';
import { refuseOutside } from '../tool/workspace.ts';

export const test = defineTool({
  name: 'test',
  title: 'Run the tests',
  description:
    'Runs the `*.test.yaml` files beside the policies: failed cases with expected and actual values, and rules that no case made true or false. With `mutate` it also changes the policies in small ways, and shows the changes that no case notices. `reference` tests/the-format-of-tests has the format.',
  input: {
    path: optional(pathField),
    filter: optional(text('run only the cases whose name contains this text')),
    mutate: optional(flag('also try changed policies; takes seconds')),
  },
  output: {
    ok: flag('whether there are cases and all pass'),
    passed: count('number of cases that pass'),
    failed: count('number of cases that fail'),
    coverage_percent: orNull(
      count('the share of rules that were true in a case and false in another; null without rules'),
    ),
    mutation_score: orNull(count('the share of changes that a case notices; null without `mutate`')),
    failures: listOf(anyObject('file, line, name, text'), 'failed cases'),
    not_run: listOf(anyObject('file, text'), 'files with mistakes, whose cases did not run'),
    uncovered: listOf(anyObject('file, rule, never: true, false or both'), 'rules that the cases leave open'),
    survivors: listOf(
      anyObject('file, line, change, decided_alike, diff'),
      'changes that no case notices; `decided_alike`: none can, since no request is decided differently',
    ),
  },
  async run({ path, filter, mutate: wantsMutants = false }, onStage) {
    const place = testsInWorkspace(path);
    const run = await runTestFiles([place], {
      ...(filter === undefined ? {} : { filter }),
      onPolicies: refuseOutside,
    });
    const { passed, failed, broken } = countRun(run);
    const isGood = passed > 0 && failed + broken === 0;
    const mutation =
      isGood && wantsMutants
        ? await mutate(run.tested, { onProgress: (done, all) => onStage(`${done} of ${all} changes tried`) })
        : null;
    const untested = await findUntested([place]);
    return {
      lead: leadOf(run, { mutation, isUntested: untested.length > 0, wantsMutants, filter }),
      data: {
        ok: isGood,
        passed,
        failed,
        coverage_percent: run.coverage.percent === null ? null : Math.floor(run.coverage.percent),
        mutation_score: mutation === null ? null : mutation.score,
      },
      lists: ['failures', 'not_run', 'uncovered', 'survivors'],
      entries: [...entriesOf(run), ...survivorsOf(mutation)],
      next:
        broken > 0
          ? ['`check` shows errors of policies with their paths in the workspace.']
          : isGood && !wantsMutants
            ? ['Now `prove`; `mutate: true` finds what the cases leave open.']
            : [],
    };
  },
});

interface RunView {
  readonly mutation: Mutation | null;
  readonly isUntested: boolean;
  readonly wantsMutants: boolean;
  readonly filter: string | undefined;
}

function leadOf(run: TestRun, { mutation, isUntested, wantsMutants, filter }: RunView): string {
  if (isUntested)
    return 'There is no `*.test.yaml` file here: write one beside the policies (`reference` tests/the-format-of-tests).';
  const { passed, failed, broken } = countRun(run);
  if (passed + failed + broken === 0)
    return filter === undefined ? 'The test files have no cases.' : `No case has a name with \`${filter}\`.`;
  const notRun = broken === 0 ? '' : `, ${many(broken, 'file')} not run`;
  const coverage = run.coverage.percent === null ? '' : `; coverage ${run.coverage.percent} %`;
  const score = mutation === null ? '' : `; mutation score ${mutation.score} %`;
  const note = wantsMutants && mutation === null ? '\nChanges are tried only when every case passes.' : '';
  return `${passed} passed, ${failed} failed${notRun}${coverage}${score}${note}`;
}

function entriesOf({ files, coverage }: TestRun): readonly Entry[] {
  const failures = files.flatMap(({ path, cases }) =>
    cases
      .filter(({ outcome }) => outcome !== 'passed')
      .map((one): Entry => {
        const shown = explainFailure(one).join('\n');
        return {
          list: 'failures',
          text: `✗ ${one.name} (${path}:${one.line})\n${shown}`,
          data: { file: path, line: one.line, name: one.name, text: shown },
        };
      }),
  );
  const notRun = files.flatMap(({ path, failure }): readonly Entry[] =>
    failure === null
      ? []
      : [{ list: 'not_run', text: `✗ ${path} did not run\n${failure}`, data: { file: path, text: failure } }],
  );
  const open = coverage.rules.filter(({ lacks }) => lacks.length > 0);
  const uncovered = open.map(({ file, rule, lacks }): Entry => {
    const shown = relative('', file);
    return {
      list: 'uncovered',
      text: `not covered: ${rule} (${shown}) was never ${lacks.join(', never ')}`,
      data: { file: shown, rule, never: lacks },
    };
  });
  return [...notRun, ...failures, ...uncovered];
}

/** The mutants that a case can notice come first. */
function lastIfAlike(a: Survivor, b: Survivor): number {
  return Number(a.isDecidedAlike) - Number(b.isDecidedAlike);
}

function survivorsOf(mutation: Mutation | null): readonly Entry[] {
  return (mutation?.files ?? []).flatMap(({ path, survivors }) =>
    survivors.toSorted(lastIfAlike).map(({ line, subject, change, hunk, isDecidedAlike }): Entry => {
      const diff = mutantDiff(path, hunk);
      const note = isDecidedAlike ? `: ${decidedAlikeText}` : '';
      return {
        list: 'survivors',
        text: `no case notices: ${subject}: ${change} (${path}:${line})${note}\n${diff}`,
        data: {
          file: path,
          line,
          change: `${subject}: ${change}`,
          decided_alike: isDecidedAlike,
          diff,
        },
      };
    }),
  );
}
