// Reports a mutation run as text for people, each survivor with its changed lines, and as plain JSON.

import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import type { Marks } from '../report.ts';
import type { FileMutation, Mutation, Survivor } from './mutate.ts';
import { mutantDiff } from './unified-diff.ts';

/** Survivors, one line per file, and the score. Ends with a line break. */
export function reportMutation(mutation: Mutation, marks: Marks): string {
  const { killed, survived, score, files } = mutation;
  if (killed + survived === 0) return '\nmutation: these policies have no mutants\n';
  const survivors = files.flatMap((file) => file.survivors.map((one) => reportSurvivor(file, one, marks)));
  const table = files.map((file) => reportFile(file, marks));
  const left = survived === 0 ? '' : `, ${marks.bad(`${survived} survived`)}`;
  return `\n${[...survivors, ...table].join('\n')}\nmutation score ${score} %: ${marks.good(`${killed} killed`)}${left}\n`;
}

/** Plain data; `diff` is a unified diff of the policy file. */
export function mutationToJson({ killed, survived, score, files }: Mutation): object {
  return {
    killed,
    survived,
    score,
    files: files.map((file) => ({
      ...file,
      survivors: file.survivors.map(({ hunk, isDecidedAlike, ...one }) => ({
        ...one,
        decided_alike: isDecidedAlike,
        diff: mutantDiff(file.path, hunk),
      })),
    })),
  };
}

/** Said of a survivor that no expected decision can kill. */
export const decidedAlikeText = 'no request is decided differently, so no expected decision can notice it';

function reportSurvivor({ path }: FileMutation, survivor: Survivor, marks: Marks): string {
  const { line, subject, change, hunk, isDecidedAlike } = survivor;
  const head = `${marks.bad('survived')} ${escapeForTerminal(`${subject}: ${change}`)} ${marks.faint(`${escapeForTerminal(path)}:${line}`)}`;
  const mark = (text: string): string => {
    if (text.startsWith('-')) return marks.bad(text);
    return text.startsWith('+') ? marks.good(text) : marks.faint(text);
  };
  const lines = hunk.lines
    .flatMap((text) => text.split('\n'))
    .map((text) => `  ${mark(escapeForTerminal(text))}`);
  const note = isDecidedAlike ? [`  ${decidedAlikeText}`] : [];
  return [head, ...note, `  ${marks.faint(hunk.head)}`, ...lines, ''].join('\n');
}

function reportFile({ path, killed, survived, score }: FileMutation, marks: Marks): string {
  const share = `${killed}/${killed + survived}`;
  const sign = survived === 0 ? marks.good('✓') : marks.bad('✗');
  return `${sign} ${escapeForTerminal(path)} ${marks.faint(`${share} killed, ${score} %`)}`;
}
