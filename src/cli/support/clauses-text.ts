// Renders the results for a set's guarantees: a line for each claim, and below a refuted claim the request
// that refutes it.

import {
  type ClauseResult,
  undecidedLines,
  unknownConditionLines,
} from '../../analysis/findings/guarantee-results.ts';
import { escapeForTerminal, position, type SourceOf } from '../../language/diagnostic/render.ts';
import type { Span } from '../../language/diagnostic/span.ts';
import type { Facts } from '../../language/model/request.ts';
import { cut } from '../../language/value/text.ts';
import { isBarelyTried, type Trial } from '../../reasoning/guarantees/try.ts';
import { requestJson } from '../../reasoning/prove/report/request-json.ts';
import { clauseText } from '../../reasoning/prove/report/wording.ts';
import { createMarks } from '../output/output.ts';

/**
 * A line for each claim; below a refuted claim the request that refutes it, in the form that `writ decide`
 * takes.
 */
export function renderClauses(judged: readonly ClauseResult[], sourceOf: SourceOf): string {
  return judged.map((one) => renderClause(one, sourceOf)).join('');
}

function renderClause(judged: ClauseResult, sourceOf: SourceOf): string {
  const marks = createMarks();
  const { guarantee, claim, trial } = judged;
  const start = `${guarantee.name}: ${escapeForTerminal(clauseText(claim, sourceOf))}`;
  const location = lineText(claim.span, sourceOf);
  const tried = trial === null ? '' : `; ${trialText(trial)}`;
  switch (judged.kind) {
    case 'proved':
      return `${marks.good('✓')} ${start} ${marks.faint(`proved for all requests${tried}`)}\n`;
    case 'refuted': {
      const counterexample = judged.counterexample!;
      const { facts, decision, rule } = counterexample;
      const by = rule === null ? '' : ` (${lineText(rule, sourceOf)})`;
      const lines = [
        `${decision.outcome} by ${decision.by}${by}`,
        ...unknownConditionLines(counterexample),
        requestText(facts),
      ];
      return [`${marks.bad('✗')} ${start} ${marks.bad('refuted')} ${marks.faint(location)}`, ...lines]
        .join('\n    ')
        .concat('\n');
    }
    case 'undecided': {
      const reasons = undecidedLines(judged, sourceOf).map((line) => `    ${line}\n`);
      return `${marks.bad('?')} ${start} ${marks.bad('undecided')} ${marks.faint(location)}\n${reasons.join('')}${trial === null ? '' : `    ${trialText(trial)}\n`}    help: ${judged.undecidedHelp}\n`;
    }
  }
}

/** The longest request that is shown in full: huge requests refute some claims. */
const requestMax = 4_000;

function requestText(facts: Facts): string {
  const text = JSON.stringify(requestJson(facts));
  if (text.length <= requestMax) return text;
  const most = text.length.toLocaleString('en');
  return `${cut(text, requestMax)}… (${most} characters, the JSON output has all)`;
}

function lineText({ file, start }: Span, sourceOf: SourceOf): string {
  return `${file}:${position(sourceOf(file) ?? '', start).line}`;
}

function trialText(trial: Trial): string {
  const { tried, granted } = trial;
  if (tried === 0) return 'trials: none, because no generated request met its condition';
  const counted = `trials: not refuted by ${tried} requests`;
  return isBarelyTried(trial)
    ? `${counted}, of which ${granted === 0 ? 'none is' : `only ${granted} are`} allowed`
    : counted;
}
