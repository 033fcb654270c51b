// Turns the measurements of a policy set into text for people.

import { type Align, columns } from '../../analysis/columns.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { type Outcome, outcomes } from '../../language/model/decision.ts';
import { count, duration, type Figure, size, times } from '../../measure/figure.ts';
import { many } from '../output/many.ts';
import { createMarks } from '../output/output.ts';
import type { ActionResult, Result } from './result.ts';

const rowsMax = 20;

export function renderResult(result: Result): string {
  const sections = [
    `${describeSet(result)}\n${describeRequests(result.requests, result.checked)}`,
    renderFigures(result),
    renderActions(result.byAction),
    renderRules(result),
    renderUnfiled(result),
  ];
  return `${sections.filter((section) => section !== '').join('\n\n')}\n`;
}

/** One line that names the measured policies and their size. */
export function describeSet({ path, policies, rules, actions }: Result): string {
  const counts = `${many(policies, 'policy', 'policies')}, ${many(rules, 'rule')}, ${many(actions, 'action')}`;
  return `${escapeForTerminal(path)}: ${counts}`;
}

/** One line about the requests, and how many of them the language's definition has decided, too. */
export function describeRequests(requests: number, checked: number): string {
  const agreed = checked === requests ? 'all' : `${count(checked)}`;
  return `${many(requests, 'request')}, ${agreed} confirmed by the language definition`;
}

function renderFigures({ latency, each, ready, keptBytes, textBytes, used, outcomes: by }: Result): string {
  const { p50, p99, max } = used.perDecision;
  const rows = [
    ...(['p50', 'p90', 'p99', 'max'] as const).map((name) => [
      name,
      duration(latency[name].median),
      spread(latency[name], duration),
    ]),
    ['throughput', `${perSecond(each.median)}/s`, spread(inverse(each), (rate) => perSecond(1e9 / rate))],
    ['ready in', duration(ready.median * 1e6), spread(ready, (ms) => duration(ms * 1e6))],
    ['kept', size(keptBytes), `of ${size(textBytes)} of text`],
    ['rules tried', count(p50), `per decision (median), p99 ${count(p99)}, max ${count(max)}`],
    ...outcomes.filter((outcome) => by[outcome] > 0).map((outcome) => [outcome, count(by[outcome]), '']),
  ];
  return columns(rows, ['left', 'right', 'left']).join('\n');
}

function renderActions(all: readonly ActionResult[]): string {
  const rows = all
    .slice(0, rowsMax)
    .map((one) => [
      one.isDeclared ? one.action : `${one.action} (not declared)`,
      count(one.requests),
      duration(one.p50),
      duration(one.p99),
      `${count(one.triedMax)} of ${count(one.rules)}`,
      describeOutcomes(one.outcomes),
    ]);
  const head = ['action', 'requests', 'p50', 'p99', 'rules tried', 'decisions'];
  return benchTable([head, ...rows], ['left', 'right', 'right', 'right', 'right', 'left'], all.length);
}

function renderRules({ used: { rules } }: Result): string {
  const tried = rules.filter((rule) => rule.tried > 0);
  if (tried.length === 0) return '';
  const rows = tried
    .slice(0, rowsMax)
    .map((rule) => [
      rule.rule,
      rule.effect,
      count(rule.tried),
      count(rule.fired),
      count(rule.decided),
      rule.cost === null ? '-' : duration(rule.cost),
      rule.share === null ? '-' : `${Math.round(100 * rule.share)} %`,
    ]);
  const head = ['rule', 'effect', 'tried', 'fired', 'decided', 'cost', 'share'];
  const aligns: readonly Align[] = ['left', 'left', 'right', 'right', 'right', 'right', 'right'];
  const idle = rules.length - tried.length;
  const note = idle === 0 ? '' : `\n  ${createMarks().faint(`${many(idle, 'rule')} never tried`)}`;
  return benchTable([head, ...rows], aligns, tried.length) + note;
}

/** Lists the rules that an action's index always tries; these keep decisions from being faster. */
function renderUnfiled({ used: { unfiled } }: Result): string {
  if (unfiled.length === 0) return '';
  const rows = unfiled.slice(0, rowsMax).map(({ action, rule, why }) => [action, rule, why]);
  return benchTable([['always tried for', 'rule', 'why'], ...rows], ['left', 'left', 'left'], unfiled.length);
}

/** A table, with a last line that counts the rows that are left out of `all` rows. */
export function benchTable(
  rows: readonly (readonly string[])[],
  aligns: readonly Align[],
  all: number,
): string {
  const { faint } = createMarks();
  const [head, ...body] = columns(rows, aligns);
  const more = all - body.length;
  const rest = more <= 0 ? [] : [`  ${faint(`and ${count(more)} more, see --json`)}`];
  return [faint(head!), ...body, ...rest].join('\n');
}

/** The smallest and the largest round. */
function spread({ min, max }: Figure, show: (value: number) => string): string {
  return `${show(min)}..${show(max)}`;
}

export function ratio({ median, min, max }: Figure): string {
  return `${times(median)} (${times(min)}..${times(max)})`;
}

/** Turns nanoseconds a decision into decisions a second. */
export function perSecond(nanoseconds: number): string {
  return count(1e9 / nanoseconds);
}

/** Turns times into rates: the longest time gives the smallest rate. */
function inverse({ median, min, max }: Figure): Figure {
  return { median: 1e9 / median, min: 1e9 / max, max: 1e9 / min };
}

function describeOutcomes(by: Readonly<Record<Outcome, number>>): string {
  return outcomes
    .filter((outcome) => by[outcome] > 0)
    .map((outcome) => `${outcome} ${count(by[outcome])}`)
    .join(', ');
}
