// Concrete tree → tree: the one reading of what the parser found. Whatever recovery left without its substance is left
// out, so every declaration of the tree is whole, and reported before. INVARIANT: every span lies in the file.

import type {
  ActionCstNode,
  AggregateCstNode,
  ApproversCstNode,
  ClaimCstNode,
  DeclarationCstNode,
  FileCstNode,
  GroupCstNode,
  GuaranteeCstNode,
  HoursCstNode,
  HoursSpanCstNode,
  KeyCstNode,
  LetCstNode,
  ListCstNode,
  ListEntriesCstNode,
  ListJoinCstNode,
  MetadataCstNode,
  MeterCstNode,
  PatternCstNode,
  PatternsCstNode,
  PolicyCstNode,
  TypeDeclarationCstNode,
} from '../../grammar/generated/cst.ts';
import type { Token } from '../../grammar/tokens.ts';
import { type Span, spanning } from '../diagnostic/span.ts';
import {
  type BuildContext,
  firstToken,
  isPresent,
  nodeSpan,
  plainName,
  tokenSpan,
  writtenTokens,
} from './build-context.ts';
import { buildExpression, buildPath } from './build-expression.ts';
import { buildConstant, durationLiteral } from './build-literal.ts';
import { buildRule } from './build-rule.ts';
import { buildRecordBody, buildType } from './build-type.ts';
import { declaredName } from './declared-name.ts';
import { quotedKey, quotedPattern, writtenKey, writtenPattern } from './keys.ts';
import { textLiteral } from './text-literal.ts';
import type {
  Claim,
  ClockLiteral,
  DateLiteral,
  Declaration,
  Expression,
  HoursSpan,
  ListSource,
  Metadata,
  MeterDeclaration,
  Name,
  Pattern,
  Weekday,
} from './tree.ts';

/** The declarations of a file, in order. */
export function build(file: FileCstNode, ctx: BuildContext): readonly Declaration[] {
  return (file.children.declaration ?? []).map((node) => buildDeclaration(node, ctx)).filter(isPresent);
}

function buildDeclaration({ children }: DeclarationCstNode, ctx: BuildContext): Declaration | null {
  const { action, typeDeclaration, group, approvers, list, hours, meter, policy, guarantee } = children;
  if (action?.[0]) return buildAction(action[0], ctx);
  if (typeDeclaration?.[0]) return buildTypeDeclaration(typeDeclaration[0], ctx);
  if (group?.[0]) return buildGroup(group[0], ctx);
  if (approvers?.[0]) return buildApprovers(approvers[0], ctx);
  if (list?.[0]) return buildList(list[0], ctx);
  if (hours?.[0]) return buildHours(hours[0], ctx);
  if (children.let?.[0]) return buildLet(children.let[0], ctx);
  if (meter?.[0]) return buildMeter(meter[0], ctx);
  if (policy?.[0]) return buildPolicy(policy[0], ctx);
  return guarantee?.[0] ? buildGuarantee(guarantee[0], ctx) : null;
}

/** What all declarations have: their place and documentation. */
function documented(
  node: Parameters<typeof nodeSpan>[0],
  ctx: BuildContext,
): { readonly span: Span; readonly doc: string | null } | null {
  const span = nodeSpan(node, ctx);
  return span === null ? null : { span, doc: ctx.docBefore(span.start) };
}

function buildAction(node: ActionCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const keys = (node.children.key ?? []).map((key) => buildKey(key, ctx)).filter(isPresent);
  const groups = writtenTokens(node.children.names?.[0]?.children.Word).map((name) => plainName(name, ctx));
  const body = buildRecordBody(node.children.recordBody?.[0], ctx);
  if (base === null || keys.length === 0 || body === null) return null;
  return { kind: 'action', ...base, keys, groups, body };
}

function buildKey(node: KeyCstNode, ctx: BuildContext): Name | null {
  const text = firstToken(node.children.Text);
  if (text !== undefined) return quotedKey(text, ctx);
  const span = nodeSpan(node, ctx);
  return span === null ? null : writtenKey(dotted(writtenTokens(node.children.segment)), span, ctx);
}

function dotted(segments: readonly Token[]): string {
  return segments.map(({ image }) => image).join('.');
}

function buildTypeDeclaration(node: TypeDeclarationCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'a type', ctx);
  const type = buildType(node.children.type?.[0], ctx);
  return base === null || name === null || type === null ? null : { kind: 'type', ...base, name, type };
}

function buildGroup(node: GroupCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'a group', ctx);
  return base === null || name === null ? null : { kind: 'group', ...base, name };
}

function buildApprovers(node: ApproversCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'a group of approvers', ctx);
  const title = firstToken(node.children.Text);
  if (base === null || name === null || title === undefined) return null;
  return { kind: 'approvers', ...base, name, title: textLiteral(title, ctx) };
}

function buildList(node: ListCstNode, ctx: BuildContext): Declaration | null {
  const { Word, Case, Empty, type } = node.children;
  const base = documented(node, ctx);
  const name = declaredName(firstToken(Word), 'a list', ctx);
  const source = buildListSource(node, ctx);
  if (base === null || name === null || source === null) return null;
  const ignoringCase = firstToken(Case) !== undefined;
  const mayBeEmpty = firstToken(Empty) !== undefined;
  const elementType = buildType(type?.[0], ctx);
  return { kind: 'list', ...base, name, elementType, ignoringCase, source, mayBeEmpty };
}

function buildListSource(node: ListCstNode, ctx: BuildContext): ListSource | null {
  const { listEntries, listJoin, Text } = node.children;
  if (listEntries?.[0]) return buildEntries(listEntries[0], ctx);
  if (listJoin?.[0]) return buildJoin(listJoin[0], ctx);
  const path = firstToken(Text);
  if (path === undefined) return null;
  return { kind: 'list-file', path: textLiteral(path, ctx), span: tokenSpan(path, ctx) };
}

function buildEntries(node: ListEntriesCstNode, ctx: BuildContext): ListSource | null {
  const span = nodeSpan(node, ctx);
  if (span === null) return null;
  const entries = (node.children.constant ?? []).map((entry) => buildConstant(entry, ctx)).filter(isPresent);
  return { kind: 'entries', entries, span };
}

function buildJoin(node: ListJoinCstNode, ctx: BuildContext): ListSource | null {
  const span = nodeSpan(node, ctx);
  const lists = writtenTokens(node.children.Word).map((name) => plainName(name, ctx));
  return span === null || lists.length === 0 ? null : { kind: 'join', lists, span };
}

function buildHours(node: HoursCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'hours', ctx);
  const spans = (node.children.hoursSpan ?? []).map((one) => buildHoursSpan(one, ctx)).filter(isPresent);
  const zone = firstToken(node.children.Text);
  if (base === null || name === null || zone === undefined || spans.length === 0) return null;
  const exceptName = firstToken(node.children.except);
  const except = exceptName === undefined ? null : plainName(exceptName, ctx);
  return { kind: 'hours', ...base, name, spans, zone: textLiteral(zone, ctx), except };
}

function buildHoursSpan(node: HoursSpanCstNode, ctx: BuildContext): HoursSpan | null {
  const span = nodeSpan(node, ctx);
  if (span === null) return null;
  const dates = writtenTokens(node.children.Date).map((token) => dateLiteral(token, ctx));
  const [first, last = first] = dates;
  if (first !== undefined && last !== undefined) return { kind: 'date-span', first, last, span };
  const days = writtenTokens(node.children.Weekday).map(({ image }) => image as Weekday);
  const [from, to] = writtenTokens(node.children.Clock).map((token) => clockLiteral(token, ctx));
  const [firstDay, lastDay = firstDay] = days;
  if (firstDay === undefined || lastDay === undefined || from === undefined || to === undefined) return null;
  return { kind: 'weekly-span', firstDay, lastDay, from, to, span };
}

function dateLiteral(token: Token, ctx: BuildContext): DateLiteral {
  return { kind: 'date', text: token.image, span: tokenSpan(token, ctx) };
}

function clockLiteral(token: Token, ctx: BuildContext): ClockLiteral {
  return { kind: 'clock', text: token.image, span: tokenSpan(token, ctx) };
}

function buildLet(node: LetCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'a value', ctx);
  if (base === null || name === null) return null;
  const assign = firstToken(node.children.Assign);
  const after = assign === undefined ? name.span.end : assign.startOffset + 1;
  const value = buildExpression(node.children.expression?.[0], after, ctx);
  return { kind: 'let', ...base, name, value };
}

function buildMeter(node: MeterCstNode, ctx: BuildContext): Declaration | null {
  const { Word, aggregate, patterns, path, Duration } = node.children;
  const base = documented(node, ctx);
  const name = declaredName(firstToken(Word), 'a meter', ctx);
  const total = buildAggregate(aggregate?.[0], ctx);
  const over = firstToken(Duration);
  if (base === null || name === null || total === null || over === undefined) return null;
  return {
    kind: 'meter',
    ...base,
    name,
    ...total,
    patterns: buildPatterns(patterns?.[0], ctx),
    when: buildCondition(node, ctx),
    per: (path ?? []).map((key) => buildPath(key, ctx)).filter(isPresent),
    over: durationLiteral(over, ctx),
  };
}

type Aggregated = Pick<MeterDeclaration, 'aggregate' | 'argument' | 'currency'>;

function buildAggregate(node: AggregateCstNode | undefined, ctx: BuildContext): Aggregated | null {
  const span = nodeSpan(node, ctx);
  if (node === undefined || span === null) return null;
  const { Count, Distinct, Sum, Currency, expression } = node.children;
  const word = firstToken(Count) ?? firstToken(Distinct) ?? firstToken(Sum);
  if (word === undefined) return null;
  const aggregate = word.image as MeterDeclaration['aggregate'];
  const currency = firstToken(Currency);
  return {
    aggregate,
    argument: aggregate === 'count' ? null : buildExpression(expression?.[0], tokenSpan(word, ctx).end, ctx),
    currency: currency === undefined ? null : plainName(currency, ctx),
  };
}

function buildPolicy(node: PolicyCstNode, ctx: BuildContext): Declaration | null {
  const { Shadow, Word, patterns, except, metadata = [], rule = [] } = node.children;
  const base = documented(node, ctx);
  const name = declaredName(firstToken(Word), 'a policy', ctx);
  if (base === null || name === null) return null;
  return {
    kind: 'policy',
    ...base,
    name,
    isShadow: firstToken(Shadow) !== undefined,
    patterns: buildPatterns(patterns?.[0], ctx),
    except: buildPatterns(except?.[0], ctx),
    when: buildCondition(node, ctx),
    metadata: metadata.map((line) => buildMetadata(line, ctx)).filter(isPresent),
    rules: rule.map((one) => buildRule(one, ctx)).filter(isPresent),
  };
}

/** The `when` of a declaration or claim; null where none is written. */
function buildCondition(
  { children }: PolicyCstNode | MeterCstNode | ClaimCstNode,
  ctx: BuildContext,
): Expression | null {
  const when = firstToken(children.When);
  if (when === undefined) return null;
  return buildExpression(children.expression?.[0], tokenSpan(when, ctx).end, ctx);
}

function buildPatterns(node: PatternsCstNode | undefined, ctx: BuildContext): readonly Pattern[] {
  return (node?.children.pattern ?? []).map((pattern) => buildPattern(pattern, ctx)).filter(isPresent);
}

function buildPattern(node: PatternCstNode, ctx: BuildContext): Pattern | null {
  const text = firstToken(node.children.Text);
  if (text !== undefined) return quotedPattern(text, ctx);
  const span = nodeSpan(node, ctx);
  const segments = (node.children.segment ?? []).flatMap(({ children }) => [
    ...writtenTokens(children.Star),
    ...writtenTokens(children.Word),
  ]);
  return span === null ? null : writtenPattern(dotted(segments), span, ctx);
}

function buildMetadata(node: MetadataCstNode, ctx: BuildContext): Metadata | null {
  const { Owner, Tags, Link, Text } = node.children;
  const span = nodeSpan(node, ctx);
  const word = firstToken(Owner) ?? firstToken(Tags) ?? firstToken(Link);
  const values = writtenTokens(Text).map((token) => textLiteral(token, ctx));
  if (span === null || word === undefined || values.length === 0) return null;
  return { kind: word.image as Metadata['kind'], values, span };
}

function buildGuarantee(node: GuaranteeCstNode, ctx: BuildContext): Declaration | null {
  const base = documented(node, ctx);
  const name = declaredName(firstToken(node.children.Word), 'a guarantee', ctx);
  if (base === null || name === null) return null;
  const patterns = buildPatterns(node.children.patterns?.[0], ctx);
  const claims = (node.children.claim ?? []).map((claim) => buildClaim(claim, ctx)).filter(isPresent);
  return { kind: 'guarantee', ...base, name, patterns, claims };
}

function buildClaim(node: ClaimCstNode, ctx: BuildContext): Claim | null {
  const { Never, Always, Allow, Deny, Escalate, Reauth, Unapproved } = node.children;
  const base = documented(node, ctx);
  const mode = firstToken(Never) ?? firstToken(Always);
  const effect = firstToken([Allow, Deny, Escalate, Reauth].flatMap((tokens) => tokens ?? []));
  if (base === null || mode === undefined || effect === undefined) return null;
  const when = buildCondition(node, ctx);
  return {
    kind: 'claim',
    doc: base.doc,
    span: when === null ? base.span : spanning(base.span, when.span),
    mode: mode.image as Claim['mode'],
    effect: effect.image as Claim['effect'],
    isUnapproved: firstToken(Unapproved) !== undefined,
    when,
  };
}
