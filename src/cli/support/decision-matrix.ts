// Turns the program of a policy set into a matrix: the rules that can apply to each action, and the actions
// that nothing can allow. Conditions on the action itself are evaluated: a rule that they exclude from an
// action does not appear beside it.

import { codeSpan } from '../../analysis/diff/diff-text.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import type { Effect } from '../../language/model/policy.ts';
import type { ActionProgram, PlannedRule, Program } from '../../language/program/program.ts';
import { createMarks } from '../output/output.ts';

// Renders the matrix of actions and rules: as an aligned table for terminals, and in Markdown for reviews.

const legend =
  '● always  ○ conditional  (approval), (reauth): required before the grant  (shadow): recorded, never enforced';

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
  const end = closed.length === 0 ? [] : ['', 'Never allowed:', '', ...closed];
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
  return lines.length === 0 ? '' : `\nnever allowed:\n${lines.join('')}`;
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

const effectOrder: readonly Effect[] = ['allow', 'escalate', 'reauth', 'deny', 'risk'];

export interface MatrixRow {
  readonly action: string;
  /** The rules that can apply to the action, sorted by id. */
  readonly rules: readonly MatrixRule[];
  /** Why nothing can allow the action; null when something can. */
  readonly closed: string | null;
}

export interface MatrixRule {
  /** The rule as `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly name: string;
  readonly effect: Effect;
  /** Whether the rule is true for every request for this action. */
  readonly isUnconditional: boolean;
  /** What an `allow` rule requires before it grants; null when it requires nothing. */
  readonly after: 'approval' | 'reauth' | null;
  readonly isShadow: boolean;
  /** The points that the rule adds to the risk. */
  readonly points: number;
}

/** A row for each action, sorted by key. */
export function matrixOf({ actions }: Program): readonly MatrixRow[] {
  return [...actions.values()].map(toRow);
}

function toRow({ action, rules: planned }: ActionProgram): MatrixRow {
  const rules = planned.filter(canMeet).map(toRule);
  return { action, rules, closed: whyClosed(rules) };
}

function canMeet({ condition }: PlannedRule): boolean {
  return condition.kind !== 'constant' || condition.truth !== 'false';
}

function toRule({ id, policy, effect, condition, requirement, isShadow, points }: PlannedRule): MatrixRule {
  return {
    id,
    policy,
    name: id.slice(policy.length + 1),
    effect,
    isUnconditional: condition.kind === 'constant' && condition.truth === 'true',
    after: effect === 'allow' ? (requirement?.kind ?? null) : null,
    isShadow,
    points,
  };
}

function whyClosed(rules: readonly MatrixRule[]): string | null {
  const enforced = rules.filter(({ isShadow }) => !isShadow);
  const denial = enforced.find(({ effect, isUnconditional }) => effect === 'deny' && isUnconditional);
  if (denial !== undefined) return `${denial.id} always denies it`;
  return enforced.some(({ effect }) => effect === 'allow') ? null : 'no rule allows it';
}
