// Renders the matrix of actions and rules: as an aligned table for terminals, and in Markdown for reviews.

import { codeSpan } from '../../analysis/diff/code-span.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { createMarks } from '../output/output.ts';
import { effectOrder, type MatrixRow, type MatrixRule } from './decision-matrix.ts';

const legend =
  '● always  ○ under a condition  (approval), (reauth): grants after that  (shadow): recorded, never enforced';

/** A line for each rule, with its policy; columns without a rule are left out. */
export function matrixToText(rows: readonly MatrixRow[]): string {
  const columns = columnsOf(rows);
  const marks = createMarks();
  const body = rows.flatMap(({ action, rules }) => {
    const lines = policiesOf(rules).flatMap((policy) => policyLines(policy, rules, columns));
    return (lines.length === 0 ? [['', marks.faint('no rule')]] : lines).map(
      ([policy = '', ...cells], index) => [index === 0 ? escapeForTerminal(action) : '', policy, ...cells],
    );
  });
  const head = ['action', 'policy', ...columns];
  const widths = head.map((_, column) =>
    Math.max(...[head, ...body].map((line) => widthOf(line[column] ?? ''))),
  );
  const draw = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell + ' '.repeat(widths[column]! - widthOf(cell)))
      .join('  ')
      .trimEnd();
  const table = [marks.faint(draw(head)), ...body.map(draw), '', marks.faint(legend)];
  return `${table.join('\n')}\n${closedToText(rows)}`;
}

/** A row for each action. */
export function matrixToMarkdown(rows: readonly MatrixRow[]): string {
  const columns = columnsOf(rows);
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const body = rows.map(({ action, rules }) => [
    code(action),
    ...columns.map((effect) =>
      rules
        .filter((rule) => rule.effect === effect)
        .map((rule) => `${signOf(rule)} ${code(rule.id)}${notesOf(rule)}`)
        .join('<br>'),
    ),
  ]);
  const table = [line(['action', ...columns]), line(['---', ...columns.map(() => '---')]), ...body.map(line)];
  const closed = rows.flatMap(({ action, closed }) =>
    closed === null ? [] : [`- ${code(action)}: ${closed}`],
  );
  const end = closed.length === 0 ? [] : ['', 'Nothing can allow:', '', ...closed];
  return `${[...table, '', legend, ...end].join('\n')}\n`;
}

function columnsOf(rows: readonly MatrixRow[]): readonly MatrixRule['effect'][] {
  return effectOrder.filter((effect) =>
    rows.some(({ rules }) => rules.some((rule) => rule.effect === effect)),
  );
}

function policiesOf(rules: readonly MatrixRule[]): readonly string[] {
  return [...new Set(rules.map(({ policy }) => policy))];
}

/** The lines for the rules of one policy; rules of the same effect stand one below the other. */
function policyLines(
  policy: string,
  rules: readonly MatrixRule[],
  columns: readonly MatrixRule['effect'][],
): readonly (readonly string[])[] {
  const cells = columns.map((effect) =>
    rules.filter((rule) => rule.policy === policy && rule.effect === effect).map(describe),
  );
  const height = Math.max(...cells.map((lines) => lines.length));
  return Array.from({ length: height }, (_, index) => [
    index === 0 ? policy : '',
    ...cells.map((lines) => lines[index] ?? ''),
  ]);
}

function describe(rule: MatrixRule): string {
  return `${signOf(rule)} ${rule.name}${notesOf(rule)}`;
}

function signOf({ isUnconditional }: MatrixRule): string {
  return isUnconditional ? '●' : '○';
}

/** The points and notes of a rule, such as ` +30 (shadow)`. */
function notesOf({ points, after, isShadow }: MatrixRule): string {
  const risk = points === 0 ? '' : ` ${points > 0 ? '+' : ''}${points}`;
  const notes = [...(after === null ? [] : [after]), ...(isShadow ? ['shadow'] : [])];
  return notes.length === 0 ? risk : `${risk} (${notes.join(', ')})`;
}

function closedToText(rows: readonly MatrixRow[]): string {
  const marks = createMarks();
  const lines = rows.flatMap(({ action, closed }) =>
    closed === null ? [] : [`  ${marks.bad(escapeForTerminal(action))}: ${closed}\n`],
  );
  return lines.length === 0 ? '' : `\nnothing can allow:\n${lines.join('')}`;
}

/** The width of a cell; colour codes take no room. */
function widthOf(cell: string): number {
  return [...cell.replace(colour, '')].length;
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is what a colour begins with.
const colour = /\u001b\[\d+m/g;

/** A key as a code span within a table. Quoted keys may hold any character. */
function code(text: string): string {
  return codeSpan(text).replaceAll('|', '\\|');
}
