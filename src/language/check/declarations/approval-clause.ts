// Reads whom a rule or a claim asks for approval, how many people have to approve, and which people are
// excepted.

import { approversOf, approverText } from '../../model/approvers.ts';
import { describeType } from '../../model/describe.ts';
import type { Expression } from '../../model/expression.ts';
import type { Approver, Choice, Fallback, Requirement, Template } from '../../model/policy.ts';
import { agentSigner, signersOf } from '../../model/signers.ts';
import { printExpression } from '../../syntax/print/print.ts';
import type {
  ApproverListNode,
  ApproverNode,
  NameNode,
  NumberLiteral,
  Path,
  ThenClause,
} from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import { type Context, inferValue } from '../expressions/context.ts';
import { findDeclared } from '../expressions/declared-names.ts';
import { resolveField } from '../expressions/fields.ts';
import { letsOf } from '../expressions/lets.ts';
import { ownerGroup } from '../expressions/names.ts';
import type { Environment } from '../incremental/environment.ts';
import { decimalOf, readSeconds } from '../logic/literals.ts';
import {
  approverMixed,
  approversMixed,
  approverUnfit,
  exceptUnfit,
  fallbackOfSeveral,
  groupNamedTwice,
  peopleUnfit,
} from '../messages/errors.ts';

const defaultPeople = 1;
/** How long approvers have to answer when a rule does not say. */
export const defaultApprovalSeconds = 86_400;

/** Whether the name is `owner` or a declared approval group; reports a diagnostic when not. */
function isApprovingGroup(group: NameNode, env: Environment): boolean {
  return group.text === ownerGroup || findDeclared(env, group, 'approvers');
}

/** Whom a rule asks, as its requirement names them. */
export type ApprovalClause = Pick<Extract<Requirement, { kind: 'approval' }>, 'groups' | 'choices'>;

/** Returns null, with a diagnostic, when it is not clear who is asked. */
export function readApprovalClause(
  { each, joints, span }: ApproverListNode,
  ctx: Context,
): ApprovalClause | null {
  const isChoice = joints.includes('or');
  if (isChoice && joints.includes('and')) {
    ctx.env.report(approversMixed(span));
    return null;
  }
  reportTwice(each, ctx);
  const byText = readApprovers(each, ctx);
  if (byText === null) return null;
  if (isChoice && byText.length > 1) {
    const text = byText.map(approverText).join(' or ');
    return { groups: [text], choices: [{ text, anyOf: byText }] };
  }
  const groups = byText.map(approverText);
  const choices = byText.flatMap((one) => (one.kind === 'group' ? [] : [{ text: one.text, anyOf: [one] }]));
  return choices.length === 0 ? { groups } : { groups, choices };
}

/** Who is asked, and when: the approvers of a fallback once the time before it is over. */
export interface TimedClause {
  readonly clause: ApprovalClause;
  /** How long a request is pending at most. */
  readonly seconds: number;
}

/**
 * Adds the fallbacks of a rule to whom it asks. `seconds` is the time of those who are asked at once. Returns null, with
 * a diagnostic, when it is not clear who is asked.
 */
export function withFallbacks(
  { clause, seconds }: TimedClause,
  { asked, clauses }: { readonly asked: ApproverListNode; readonly clauses: readonly ThenClause[] },
  ctx: Context,
): TimedClause | null {
  if (clauses.length === 0) return { clause, seconds };
  reportTwice(
    [asked, ...clauses.map((one) => one.asked)].flatMap(({ each }) => each),
    ctx,
  );
  const fallbacks: Fallback[] = [];
  let afterSeconds = seconds;
  for (const one of clauses) {
    const within = one.duration === null ? defaultApprovalSeconds : readSeconds(one.duration, ctx.env);
    const anyOf = readApprovers(one.asked.each, ctx);
    const isClear = !one.asked.joints.includes('and');
    if (!isClear) ctx.env.report(fallbackOfSeveral(one.asked.span));
    if (within === null || anyOf === null || !isClear) return null;
    fallbacks.push({ afterSeconds, anyOf });
    afterSeconds += within;
  }
  const names = fallbacks.map(({ anyOf }) => anyOf.map(approverText).join(' or '));
  const choices = clause.groups.map((group): Choice => {
    const choice = clause.choices?.find(({ text }) => text === group);
    const anyOf = choice?.anyOf ?? [{ kind: 'group', group }];
    return { text: [group, ...names].join(' then '), anyOf, fallbacks };
  });
  return { clause: { groups: choices.map(({ text }) => text).sort(), choices }, seconds: afterSeconds };
}

/** Reports each approver that has been named before. */
function reportTwice(each: readonly ApproverNode[], { env }: Context): void {
  for (const [at, node] of each.entries()) {
    const text = printExpression(node);
    const earlier = each.slice(0, at).find((one) => printExpression(one) === text);
    if (earlier !== undefined) env.report(groupNamedTwice({ text, span: node.span }, earlier));
  }
}

/** Returns the approvers, each once, in the order of their texts; null, with a diagnostic, when one is unfit. */
function readApprovers(each: readonly ApproverNode[], ctx: Context): readonly Approver[] | null {
  const approvers = each.map((node) => readApprover(node, ctx));
  const known = approvers.filter((one) => one !== null);
  if (known.length < approvers.length) return null;
  return [...new Map(known.map((one) => [approverText(one), one])).values()].sort((a, b) =>
    approverText(a) < approverText(b) ? -1 : 1,
  );
}

function readApprover(node: ApproverNode, ctx: Context): Approver | null {
  const { env } = ctx;
  const name = node.kind === 'path' && node.steps.length === 0 ? node.root : null;
  if (name === null || env.query('kind', name.text) === 'let') return readNamedApprover(node, ctx);
  if (name.text === '' || !isApprovingGroup(name, env)) return null;
  return { kind: 'group', group: name.text };
}

function readNamedApprover(node: ApproverNode, ctx: Context): Approver | null {
  const { env } = ctx;
  const value = inferValue(node, ctx);
  if (value === null) return null;
  const text = printExpression(node);
  const { type } = value;
  if (type.kind !== 'text' || (type.of !== 'string' && type.of !== 'email')) {
    env.report(approverUnfit(node, text, `is \`${describeType(type)}\``));
    return null;
  }
  const leaves = leavesOf(value, env);
  const chosen = leaves.map(choiceOfAgent).find((why) => why !== null);
  if (chosen !== undefined) {
    env.report(approverUnfit(node, text, chosen));
    return null;
  }
  const names = leaves.flatMap((leaf) => namesIn(leaf, env));
  const groups = names.filter((one) => one !== null && isGroup(one, env)) as string[];
  const [stranger] = names.filter((one) => one === null || !groups.includes(one));
  if (groups.length > 0 && stranger !== undefined) {
    env.report(approverMixed(node, text, { group: groups[0]!, other: stranger }));
    return null;
  }
  for (const group of groups) env.use(group);
  return {
    kind: 'named',
    text,
    groups: groups.length === 0 ? null : [...new Set(groups)].sort(),
    value,
    missing: missingOf(text, value, env),
  };
}

/** The parts of an expression of which its value is one. */
function leavesOf(value: Expression, env: Environment): readonly Expression[] {
  switch (value.kind) {
    case 'let': {
      const inner = letsOf(env)(value.id);
      return inner == null ? [] : leavesOf(inner, env);
    }
    case 'if':
      return [...leavesOf(value.whenTrue, env), ...leavesOf(value.otherwise, env)];
    case 'else':
      return [...leavesOf(value.subject, env), ...leavesOf(value.fallback, env)];
    default:
      return [value];
  }
}

/** Why the agent may choose the value, as words that follow the expression; null when it may not. */
function choiceOfAgent(leaf: Expression): string | null {
  switch (leaf.kind) {
    case 'column':
    case 'literal':
      return null;
    case 'field':
      if (signersOf(leaf).some((signer) => signer !== agentSigner)) return null;
      return leaf.isSigned ? 'is signed only by the agent, which would choose its approver' : chosenByAgent;
    case 'fact':
      return 'is a fact about the request';
    default:
      return 'is calculated';
  }
}

const chosenByAgent = 'is written by the agent, which would choose its approver';

/** The texts that a part of an approver may be; null for texts that only a request or a file has. */
function namesIn(leaf: Expression, env: Environment): readonly (string | null)[] {
  if (leaf.kind === 'literal') return [String(leaf.value)];
  if (leaf.type.kind === 'text' && leaf.type.values !== null) return leaf.type.values;
  const table = leaf.kind === 'column' ? env.query('declaration', leaf.table) : undefined;
  if (table?.kind !== 'table' || table.source.kind !== 'rows') return [null];
  return table.source.rows.map(({ value }) => (value.kind === 'text' ? value.value : null));
}

function isGroup(name: string, env: Environment): boolean {
  return name === ownerGroup || env.query('kind', name) === 'approvers';
}

function missingOf(text: string, value: Expression, env: Environment): Template {
  if (value.kind === 'let') {
    const inner = letsOf(env)(value.id);
    if (inner != null) return missingOf(text, inner, env);
  }
  if (value.kind === 'column')
    return [`${value.table} has no ${value.column === '' ? 'row' : value.column} for "`, value.key, '"'];
  if (value.kind !== 'field') return [`${text} is unknown`];
  const points = signersOf(value).filter((signer) => signer !== agentSigner);
  return [`${text} is absent, or was not sent by ${points.join(' and ')}`];
}

/** How many people a choice can name at most, fallbacks included; infinity when it names a group. */
export function peopleMax(choice: Choice): number {
  const anyOf = approversOf(choice);
  const isPerson = (one: Approver): boolean =>
    one.kind === 'group'
      ? one.group === ownerGroup
      : one.groups?.every((group) => group === ownerGroup) !== false;
  return anyOf.every(isPerson) ? anyOf.length : Number.POSITIVE_INFINITY;
}

/**
 * Returns how many people are needed: 1 when no number is written, null when the number is no positive whole
 * number.
 */
export function readPeople(node: NumberLiteral | null, env: Environment): number | null {
  if (node === null) return defaultPeople;
  const value = decimalOf(node.text);
  const people = value === null ? 0 : toNumber(value);
  if (people > 0 && Number.isSafeInteger(people)) return people;
  env.report(peopleUnfit(node));
  return null;
}

/**
 * The address of the person on whose behalf an agent asks: the only fact that names a person in the way in
 * which approvers are known.
 */
const userAddress = 'request.user.email';

/**
 * Returns the path of a field that names a person; null, with a diagnostic, when the field cannot name
 * anybody.
 */
export function personField(path: Path, ctx: Context): string | null {
  const text = printExpression(path);
  if (text === userAddress) return text;
  if (path.root.text !== 'payload' || path.steps.length === 0) {
    if (path.root.text !== '') ctx.env.report(exceptUnfit(path, text, 'is not a payload field'));
    return null;
  }
  const field = resolveField(path, ctx);
  if (field === null) return null;
  const { type, isSecret } = field.read;
  if (type.kind === 'text' && !isSecret) return text;
  ctx.env.report(exceptUnfit(path, text, isSecret ? 'is secret' : `is \`${describeType(type)}\``));
  return null;
}
