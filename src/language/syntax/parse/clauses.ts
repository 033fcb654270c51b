// Checks the clauses of a rule against the table of effects: each clause at most once, only clauses that the
// effect takes, all clauses that it needs, and in the usual order. The order is a matter of taste, so a wrong
// order is only a warning, with a fix.

import type { Span } from '../../diagnostic/span.ts';
import type { Clause, EffectWord } from '../tree/tree.ts';
import { type Reader, syntaxError, withFix } from './context.ts';

const common = ['when', 'unless', 'risk', 'because'] as const;
/**
 * Names of clauses in the usual order. Two clauses of the same name are reported as one clause written twice.
 */
const order = [
  'bare points',
  'for',
  'after',
  'to',
  'except',
  'needs',
  'within',
  'then',
  'standing',
  ...common,
] as const;
type ClauseName = (typeof order)[number];

const allowed: Readonly<Record<EffectWord, readonly ClauseName[]>> = {
  allow: ['for', 'after', 'except', 'needs', 'within', 'then', 'standing', ...common],
  deny: common,
  escalate: ['to', 'except', 'needs', 'within', 'then', 'standing', ...common],
  reauth: ['within', ...common],
  risk: ['bare points', 'when', 'unless', 'because'],
};

export function checkClauses(
  effect: EffectWord,
  ruleName: Span,
  clauses: readonly Clause[],
  ctx: Reader,
): void {
  const names = clauses.map(clauseName);
  let isSound = true;
  for (const [index, clause] of clauses.entries()) {
    const first = clauses[names.indexOf(names[index]!)]!;
    const isRepeatable = first === clause || clause.kind === 'then';
    if (isRepeatable && allowed[effect].includes(names[index]!)) continue;
    isSound = false;
    if (isRepeatable) reportNotAllowed(effect, clause, ctx);
    else reportTwice(clause, first.span, ctx);
  }
  const timeless = isSound ? timelessFallback(clauses) : null;
  if (timeless !== null) {
    const message = 'nothing says how long the approvers before this `then` have to answer';
    ctx.report(syntaxError('clause-missing', timeless.span, message, 'write such as `within 2h` before it'));
    return;
  }
  const needed = neededClause(effect, names);
  if (needed !== null) ctx.report(syntaxError('clause-missing', ruleName, needed.message, needed.help));
  else if (isSound) checkOrder(clauses, names, ctx);
}

function clauseName(clause: Clause): ClauseName {
  if (clause.kind === 'after-approval' || clause.kind === 'after-reauth') return 'after';
  if (clause.kind !== 'points') return clause.kind;
  // The points of a `risk` rule are written without the word `risk`.
  return clause.points.span.start === clause.span.start ? 'bare points' : 'risk';
}

/** The first `then` without a time before it; null when each has one. */
function timelessFallback(clauses: readonly Clause[]): Clause | null {
  let hasTime = clauses.some(({ kind }) => kind === 'within');
  for (const clause of clauses) {
    if (clause.kind !== 'then') continue;
    if (!hasTime) return clause;
    hasTime = clause.duration !== null;
  }
  return null;
}

function reportTwice(clause: Clause, first: Span, ctx: Reader): void {
  const name = clauseName(clause);
  const message = `this rule has ${described(name)} twice`;
  const help = twiceHelp[name] ?? 'keep one of the two';
  ctx.report({
    ...syntaxError('clause-twice', clause.span, message, help),
    related: [{ span: first, message: 'the first one' }],
  });
}

const twiceHelp: Readonly<Partial<Record<ClauseName, string>>> = {
  when: 'join the two conditions by `and`',
  unless: 'join the two conditions by `or`',
};

function reportNotAllowed(effect: EffectWord, clause: Clause, ctx: Reader): void {
  const { span } = clause;
  const name = clauseName(clause);
  if (name === 'bare points') {
    const message = `risk points of \`${effect}\` follow the word \`risk\``;
    const fix = { title: 'add `risk`', text: 'risk ', span: { ...span, end: span.start } };
    ctx.report(withFix(syntaxError('clause-not-allowed', span, message), fix));
    return;
  }
  const takes = allowed[effect].map(described).join(', ');
  const message = `a rule that begins with \`${effect}\` takes no ${described(name)}`;
  ctx.report(syntaxError('clause-not-allowed', span, message, `it may have ${takes}`));
}

function described(name: ClauseName): string {
  return name === 'bare points' ? 'points such as `+30`' : `\`${name}\``;
}

function neededClause(
  effect: EffectWord,
  names: readonly ClauseName[],
): { readonly message: string; readonly help: string } | null {
  if (effect === 'escalate' && !names.includes('to')) {
    return { message: 'an `escalate` rule needs approvers', help: 'add `to` and the name of approvers' };
  }
  if (effect === 'risk' && !names.includes('bare points')) {
    return { message: 'a `risk` rule needs points', help: 'add points such as `+30` after the name' };
  }
  const parameter = (['except', 'needs', 'within', 'then', 'standing'] as const).find((name) =>
    names.includes(name),
  );
  if (effect === 'allow' && parameter !== undefined && !names.includes('after')) {
    return {
      message: `\`${parameter}\` in an \`allow\` rule belongs to an \`after\``,
      help: 'add `after approval by` and the name of approvers, or `after reauth`',
    };
  }
  return null;
}

function checkOrder(clauses: readonly Clause[], names: readonly ClauseName[], ctx: Reader): void {
  const ranks = names.map((name) => order.indexOf(name));
  const late = ranks.findIndex((rank, index) => index > 0 && rank < ranks[index - 1]!);
  if (late < 0) return;
  const sorted = clauses.toSorted((a, b) => ranks[clauses.indexOf(a)]! - ranks[clauses.indexOf(b)]!);
  const edits = clauses.flatMap(({ span }, index) => {
    const better = sorted[index]!.span;
    const text = ctx.source.text.slice(better.start, better.end);
    return better.start === span.start ? [] : [{ span, text }];
  });
  ctx.report({
    code: 'clause-order',
    severity: 'warning',
    span: clauses[late]!.span,
    message: `${described(names[late]!)} is usually written before ${described(names[late - 1]!)}`,
    help: 'one order for all rules keeps differences between versions small',
    fix: { title: 'put the clauses in order', edits },
  });
}
