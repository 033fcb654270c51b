// Turns rules and claims into lines of canonical text: parameters on the line of the name, every other clause
// on a line of its own, in the order in which they were written.

import type {
  ApproverListNode,
  Clause,
  GuaranteeClauseNode,
  RuleNode,
  StandingClause,
  TemplateNode,
  ThenClause,
} from '../tree/tree.ts';
import { escapeText, printExpression } from './expression.ts';
import { expressionLines } from './expression-lines.ts';
import type { HoldsComment, PrintedLine } from './layout.ts';

export function ruleLines(
  rule: RuleNode,
  isFirst: boolean,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  const shadow = rule.isShadow ? 'shadow ' : '';
  const onHead = headLength(rule);
  const parameters = rule.clauses.slice(0, onHead).map((clause) => ` ${printParameter(clause, rule)}`);
  const text = `${shadow}${rule.effect} ${rule.name.text}${parameters.join('')}`;
  const head = { indent: 1, start: rule.span.start, text, doc: rule.doc, isBlankBefore: !isFirst };
  return [head, ...rule.clauses.slice(onHead).flatMap((clause) => clauseLines(clause, rule, holdsComment))];
}

/** How many clauses stand on the line of the name: the parameters before the first other clause. */
function headLength({ clauses, effect }: RuleNode): number {
  const end = clauses.findIndex((clause) => !isParameter(clause, effect));
  return end < 0 ? clauses.length : end;
}

const apart: ReadonlySet<Clause['kind']> = new Set(['standing', 'when', 'unless', 'because']);

function isParameter({ kind }: Clause, effect: RuleNode['effect']): boolean {
  return kind === 'points' ? effect === 'risk' : !apart.has(kind);
}

function clauseLines(clause: Clause, rule: RuleNode, holdsComment: HoldsComment): readonly PrintedLine[] {
  const { start } = clause.span;
  if (clause.kind === 'when' || clause.kind === 'unless') {
    return expressionLines(`${clause.kind} `, clause.condition, { indent: 2, start, holdsComment });
  }
  return [{ indent: 2, start, text: printParameter(clause, rule) }];
}

function printParameter(clause: Clause, { effect }: RuleNode): string {
  switch (clause.kind) {
    case 'for':
    case 'within':
      return `${clause.kind} ${clause.duration.text}`;
    case 'after-approval':
      return `after approval by ${printApproverList(clause.asked)}`;
    case 'after-reauth':
      return 'after reauth';
    case 'to':
      return `to ${printApproverList(clause.asked)}`;
    case 'except':
      return `except ${clause.people.map(printExpression).join(' and ')}`;
    case 'needs':
      return `needs ${clause.people.text}`;
    case 'then':
      return printThen(clause);
    case 'standing':
      return printStanding(clause);
    case 'points':
      return effect === 'risk' ? clause.points.text : `risk ${clause.points.text}`;
    case 'when':
    case 'unless':
      return `${clause.kind} ${printExpression(clause.condition)}`;
    case 'because':
      return `because ${printTemplate(clause.reason)}`;
  }
}

function printThen({ asked, duration }: ThenClause): string {
  const within = duration === null ? '' : ` within ${duration.text}`;
  return `then to ${printApproverList(asked)}${within}`;
}

function printStanding({ per, duration, times }: StandingClause): string {
  const limit = times === null ? '' : ` up to ${times.text} times`;
  return `standing per ${per.map(printExpression).join(', ')} for ${duration.text}${limit}`;
}

function printApproverList({ each, joints }: ApproverListNode): string {
  return each
    .map((one, at) => (at === 0 ? printExpression(one) : `${joints[at - 1]} ${printExpression(one)}`))
    .join(' ');
}

export function printTemplate({ parts }: TemplateNode): string {
  const texts = parts.map((part) =>
    part.kind === 'template-text'
      ? escapeText(part.text).replaceAll('{', '{{')
      : `{${escapeText(printExpression(part.value))}}`,
  );
  return `"${texts.join('')}"`;
}

export function clauseLinesOfGuarantee(
  claim: GuaranteeClauseNode,
  holdsComment: HoldsComment,
): readonly PrintedLine[] {
  const { span, doc, when } = claim;
  const text = printGuaranteeClause(claim);
  if (when === null) return [{ indent: 1, start: span.start, text, doc }];
  const [first, ...rest] = expressionLines(`${text} when `, when, {
    indent: 1,
    start: span.start,
    holdsComment,
  });
  return [{ ...first!, doc }, ...rest];
}

function printGuaranteeClause({ mode, effect, asked, people, isUnapproved }: GuaranteeClauseNode): string {
  const unapproved = isUnapproved ? ' unapproved' : '';
  if (mode === 'only') return `${effect}${unapproved} only`;
  const whom = asked === null ? '' : ` ${printApproverList(asked)}`;
  const needs = people === null ? '' : ` needs ${people.text}`;
  return `${mode} ${effect}${whom}${needs}${unapproved}`;
}
