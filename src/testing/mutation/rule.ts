// The ways in which a rule may have been written wrong: left out, another effect, a parameter one step away,
// a grant without its approval, and any mistake in its conditions.

import type { Edit } from '../../language/diagnostic/diagnostic.ts';
import type {
  ApproverNode,
  Clause,
  RuleNode,
  StandingClause,
  ThenClause,
} from '../../language/syntax/tree/tree.ts';
import { neighbours } from './constant.ts';
import { excerpt, type PolicyEdit, paragraphRemoval, removal, replacement } from './edit.ts';
import { conditionChanges, negatedExpression } from './expression.ts';

/** `text` is the whole file that contains the rule. */
export function ruleChanges(rule: RuleNode, text: string): readonly PolicyEdit[] {
  return [
    { edits: [paragraphRemoval(text, rule.span)], change: 'dropped the rule' },
    ...effectChanges(rule, text),
    ...rule.clauses.flatMap((clause) => clauseChanges(clause, text)),
  ];
}

/** The clauses that set who must approve, and how. */
const approvalClauses: readonly Clause['kind'][] = ['to', 'except', 'needs', 'standing'];
const conditionOfGrant: readonly Clause['kind'][] = [
  'after-approval',
  'after-reauth',
  'except',
  'needs',
  'within',
  'standing',
];

function effectChanges(rule: RuleNode, text: string): readonly PolicyEdit[] {
  switch (rule.effect) {
    case 'allow': {
      const isPlain = rule.clauses.every(({ kind }) => kind !== 'after-approval' && kind !== 'after-reauth');
      if (isPlain) return [];
      return [{ edits: without(rule, conditionOfGrant, text), change: 'allowed without asking first' }];
    }
    case 'deny':
      return [
        {
          edits: [effectEdit(rule, text, 'escalate'), askOwner(rule)],
          change: '`deny` became `escalate ... to owner`',
        },
      ];
    case 'escalate':
      return [
        {
          edits: [effectEdit(rule, text, 'reauth'), ...without(rule, approvalClauses, text)],
          change: '`escalate` became `reauth`',
        },
      ];
    case 'reauth':
      return [
        {
          edits: [effectEdit(rule, text, 'escalate'), askOwner(rule)],
          change: '`reauth` became `escalate ... to owner`',
        },
      ];
    case 'risk':
      return [];
  }
}

function effectEdit(rule: RuleNode, text: string, effect: string): Edit {
  const head = text.slice(rule.span.start, rule.name.span.start).trimEnd();
  const end = rule.span.start + head.length;
  return { span: { ...rule.span, start: end - rule.effect.length, end }, text: effect };
}

function askOwner({ name }: RuleNode): Edit {
  return { span: { ...name.span, start: name.span.end }, text: ' to owner' };
}

function without(rule: RuleNode, kinds: readonly Clause['kind'][], text: string): readonly Edit[] {
  return rule.clauses.filter(({ kind }) => kinds.includes(kind)).map(({ span }) => removal(text, span));
}

/** Drops one of the approvers that are asked. */
function withoutApprover(groups: readonly ApproverNode[], at: number, text: string): PolicyEdit {
  const { span } = groups[at]!;
  const start = at === 0 ? span.start : groups[at - 1]!.span.end;
  const end = at === 0 ? groups[1]!.span.start : span.end;
  return {
    edits: [{ span: { ...span, start, end }, text: '' }],
    change: `dropped \`${excerpt(text, span)}\``,
  };
}

/** Drops the clause, or moves its time or its count by one step. */
function standingChanges({ span, duration, times }: StandingClause, text: string): readonly PolicyEdit[] {
  const numbers = times === null ? [duration] : [duration, times];
  return [
    { edits: [removal(text, span)], change: `dropped \`${excerpt(text, span)}\`` },
    ...numbers.flatMap((one) => neighbours(one).map((put) => replacement(text, one.span, put))),
  ];
}

/** Drops the fallback, drops one of its approvers, or moves its time by one step. */
function fallbackChanges({ span, asked, duration }: ThenClause, text: string): readonly PolicyEdit[] {
  return [
    { edits: [removal(text, span)], change: `dropped \`${excerpt(text, span)}\`` },
    ...(asked.each.length === 1 ? [] : asked.each.map((_, at) => withoutApprover(asked.each, at, text))),
    ...(duration === null ? [] : neighbours(duration).map((put) => replacement(text, duration.span, put))),
  ];
}

function clauseChanges(clause: Clause, text: string): readonly PolicyEdit[] {
  switch (clause.kind) {
    case 'for':
    case 'within':
      return neighbours(clause.duration).map((put) => replacement(text, clause.duration.span, put));
    case 'needs':
      return neighbours(clause.people).map((put) => replacement(text, clause.people.span, put));
    case 'points':
      return neighbours(clause.points).map((put) => replacement(text, clause.points.span, put));
    case 'when':
    case 'unless':
      return [
        { edits: [removal(text, clause.span)], change: `dropped \`${excerpt(text, clause.span)}\`` },
        negatedExpression(clause.condition, text),
        ...conditionChanges(clause.condition, text),
      ];
    case 'after-approval':
    case 'to':
      return clause.asked.each.length === 1
        ? []
        : clause.asked.each.map((_, at) => withoutApprover(clause.asked.each, at, text));
    case 'then':
      return fallbackChanges(clause, text);
    case 'except':
      return [{ edits: [removal(text, clause.span)], change: `dropped \`${excerpt(text, clause.span)}\`` }];
    case 'standing':
      return standingChanges(clause, text);
    case 'after-reauth':
    case 'because':
      return [];
  }
}
