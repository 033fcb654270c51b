// What standing approvals mean, written to be read: which standing approval covers a request, and otherwise why
// not. It shares no code with the service.

export type Key = 'session' | 'user' | 'payload.vendor' | 'payload.urgent';

export interface ModelRule {
  readonly name: string;
  readonly group: string;
  readonly needs: number;
  /** The rule asks from this amount on. */
  readonly least: number;
  /** Null without a `standing` clause. */
  readonly standing: ModelScope | null;
}

export interface ModelScope {
  readonly per: readonly Key[];
  readonly seconds: number;
  readonly times: number | null;
}

export interface ModelPolicy {
  readonly sending: readonly ModelRule[];
  readonly holding: ModelRule;
  readonly denyAbove: number;
}

export interface ModelRequest {
  readonly agent: string;
  readonly action: 'pay.send' | 'pay.hold';
  readonly session: string | null;
  readonly user: string | null;
  readonly vendor: string;
  readonly urgent: boolean;
  readonly amount: number;
}

export interface ModelVote {
  readonly person: string;
  readonly group: string;
  readonly atMs: number;
  readonly agentVersion: number;
  /** The rules that it was given for, as they were, by id. */
  readonly rules: ReadonlyMap<string, ModelRule>;
  /** What it allows later requests, by the ids of rules; empty when it is for its request only. */
  readonly choices: ReadonlyMap<string, ModelChoice>;
  isTakenBack: boolean;
}

export interface ModelChoice {
  readonly per: readonly Key[];
  readonly untilMs: number;
  readonly times: number | null;
}

export interface ModelApproval {
  readonly requestId: string;
  readonly request: ModelRequest;
  readonly rule: string;
  /** All approvals of the request. */
  readonly votes: readonly ModelVote[];
  readonly grantedMs: number;
}

/** Everything that decides whether a standing approval covers a request. */
export interface ModelMoment {
  readonly nowMs: number;
  readonly policy: ModelPolicy;
  /** By agent. */
  readonly agentVersions: ReadonlyMap<string, number>;
  /** The groups of those who may approve, by person. */
  readonly groups: ReadonlyMap<string, readonly string[]>;
  readonly marks: readonly { readonly scope: string; readonly atMs: number }[];
  /** Revoked standing approvals, as `requestId rule`. */
  readonly revoked: ReadonlySet<string>;
  /** Which requests hold or have used which standing approval: until when, null for ever. */
  readonly uses: ReadonlyMap<string, ReadonlyMap<string, number | null>>;
}

export const reasons = [
  'other agent, rule or keys',
  'unknown key',
  'revoked',
  'rule changed',
  'not chosen by all',
  'agent changed',
  'time over',
  'kill switch',
  'people may no longer approve',
  'used up',
] as const;
export type Reason = (typeof reasons)[number];

export const nameOf = ({ requestId, rule }: Pick<ModelApproval, 'requestId' | 'rule'>): string =>
  `${requestId} ${rule}`;

/** The rules that ask people about a request, by id; null when it is refused whoever approves. */
export function asking(policy: ModelPolicy, request: ModelRequest): ReadonlyMap<string, ModelRule> | null {
  if (request.action === 'pay.hold') {
    const { holding } = policy;
    return request.amount >= holding.least ? new Map([[idOf(holding, policy), holding]]) : null;
  }
  if (request.amount > policy.denyAbove) return null;
  const rules = policy.sending.filter(({ least }) => request.amount >= least);
  return new Map(rules.map((rule) => [idOf(rule, policy), rule]));
}

function idOf(rule: ModelRule, { holding }: ModelPolicy): string {
  return `${rule === holding ? 'holding' : 'sending'}/${rule.name}`;
}

export function ruleOf(policy: ModelPolicy, id: string): ModelRule | null {
  const rules = [...policy.sending, policy.holding];
  return rules.find((rule) => idOf(rule, policy) === id) ?? null;
}

/** The values of the keys; null when one is unknown. */
export function keysOf(per: readonly Key[], request: ModelRequest): string | null {
  const { session, user, vendor, urgent } = request;
  const known = { session, user, 'payload.vendor': vendor, 'payload.urgent': urgent };
  const values = per.map((key) => known[key]);
  return values.includes(null) ? null : JSON.stringify(values);
}

/** Why the standing approval does not satisfy its rule for the request; null when it does. */
export function whyNot(
  approval: ModelApproval,
  { rule: asked, request }: { readonly rule: string; readonly request: ModelRequest },
  moment: ModelMoment,
): Reason | null {
  const rule = ruleOf(moment.policy, approval.rule);
  const all = approval.votes.filter(({ rules, isTakenBack }) => !isTakenBack && rules.has(approval.rule));
  const choices = all.flatMap(({ choices: own }) => own.get(approval.rule) ?? []);
  const until = [
    ...choices.map(({ untilMs }) => untilMs),
    approval.grantedMs + 1000 * (rule?.standing?.seconds ?? 0),
  ];
  if (asked !== approval.rule || request.agent !== approval.request.agent) return 'other agent, rule or keys';
  if (moment.revoked.has(nameOf(approval))) return 'revoked';
  if (rule === null || rule.standing === null) return 'rule changed';
  const keys = keysOf(rule.standing.per, request);
  if (keys === null) return 'unknown key';
  if (choices.length === 0 || choices.length < all.length) return 'not chosen by all';
  if (choices.some(({ per }) => per.join() !== rule.standing?.per.join())) return 'rule changed';
  if (keys !== keysOf(rule.standing.per, approval.request)) return 'other agent, rule or keys';
  if (all.some(({ agentVersion }) => agentVersion !== moment.agentVersions.get(request.agent)))
    return 'agent changed';
  if (moment.nowMs < approval.grantedMs || moment.nowMs >= Math.min(...until)) return 'time over';
  if (moment.marks.some((mark) => stops(mark, all, request.agent))) return 'kill switch';
  const counting = all.filter((vote) => isLast(vote, approval) && counts(vote, moment));
  if (all.some(({ rules }) => !areAsTheyWere(rules, moment.policy)) && counting.length < rule.needs)
    return 'rule changed';
  if (counting.length < rule.needs) return 'people may no longer approve';
  return left(approval, moment) > 0 ? null : 'used up';
}

/** How many more requests it may serve. */
function left(approval: ModelApproval, moment: ModelMoment): number {
  const limits = [
    ruleOf(moment.policy, approval.rule)?.standing?.times,
    ...approval.votes.map(({ choices }) => choices.get(approval.rule)?.times),
  ].filter((times) => times != null);
  const uses = [...(moment.uses.get(nameOf(approval))?.values() ?? [])];
  const held = uses.filter((untilMs) => untilMs === null || moment.nowMs < untilMs);
  return Math.min(...limits, Number.POSITIVE_INFINITY) - held.length;
}

function stops(
  { scope, atMs }: ModelMoment['marks'][number],
  votes: readonly ModelVote[],
  agent: string,
): boolean {
  const isFor = ['all', 'tier:low', 'area:pay', `agent:${agent}`].includes(scope);
  return isFor && atMs >= Math.min(...votes.map((vote) => vote.atMs));
}

/** A person counts once: by their last approval. */
function isLast(vote: ModelVote, { votes }: ModelApproval): boolean {
  return votes.findLast(({ person }) => person === vote.person) === vote;
}

function counts(vote: ModelVote, { policy, groups }: ModelMoment): boolean {
  return groups.get(vote.person)?.includes(vote.group) === true && areAsTheyWere(vote.rules, policy);
}

/** An approval counts only while all of its rules ask the same group about the same requests. */
function areAsTheyWere(rules: ReadonlyMap<string, ModelRule>, policy: ModelPolicy): boolean {
  const present = [...rules].flatMap(([id, was]) => {
    const is = ruleOf(policy, id);
    return is === null ? [] : [is.group === was.group && is.least === was.least];
  });
  return present.length > 0 && present.every(Boolean);
}
