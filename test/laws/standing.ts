// Standing approvals on random policies with `standing` clauses, under random sequences of requests, approvals,
// revocations and changes of policies, people, agents, time and kill switches. Each reply is compared with the
// model: a request is granted under a standing approval if and only if the model says that one covers it.

import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { standingId } from '../../src/service/requests/approvals/standing-approval.ts';
import type { RequestState } from '../../src/service/requests/record/request-state.ts';
import {
  asking,
  type Key,
  keysOf,
  type ModelApproval,
  type ModelChoice,
  type ModelMoment,
  type ModelPolicy,
  type ModelRequest,
  type ModelRule,
  type ModelVote,
  nameOf,
  type Reason,
  ruleOf,
  whyNot,
} from './standing-model.ts';
import { callerOf, openStandingWorld, type StandingWorld } from './standing-world.ts';

export interface StandingRun {
  /** Requests that were compared with the model. */
  readonly compared: number;
  /** Requests that were granted under standing approvals. */
  readonly granted: number;
  /** How often a standing approval did not cover a request, by reason. */
  readonly reasons: ReadonlyMap<Reason, number>;
  /** What else was seen: `too wide`, `holds`, `two approvals` and the like. */
  readonly seen: ReadonlyMap<string, number>;
  readonly differences: readonly string[];
}

const hourMs = 3_600_000;
const startMs = Date.parse('2026-03-02T10:00:00Z');
const keys: readonly Key[] = ['payload.urgent', 'payload.vendor', 'session', 'user'];
const everybody = new Map([
  ['ann', ['finance']],
  ['ben', ['finance', 'legal']],
  ['lea', ['legal']],
]);
const stepsPerRun = 70;

interface Run {
  readonly random: RandomSource;
  readonly world: StandingWorld;
  readonly at: { nowMs: number; readonly groups: Map<string, readonly string[]> };
  readonly agents: readonly string[];
  readonly agentVersions: Map<string, number>;
  readonly marks: { readonly scope: string; readonly atMs: number }[];
  readonly revoked: Set<string>;
  readonly uses: Map<string, Map<string, number | null>>;
  readonly approvals: ModelApproval[];
  /** Requests that wait, with the votes given for them. */
  readonly waiting: Map<string, { readonly request: ModelRequest; readonly votes: ModelVote[] }>;
  policy: ModelPolicy;
  last: ModelRequest | null;
  owners: number;
}

interface Tally {
  compared: number;
  granted: number;
  readonly reasons: Map<Reason, number>;
  readonly seen: Map<string, number>;
  readonly differences: string[];
}

/** Tries `runs` random sequences; the seed alone determines them. */
export async function standingIsExact(runs: number, seed: number): Promise<StandingRun> {
  const tally: Tally = { compared: 0, granted: 0, reasons: new Map(), seen: new Map(), differences: [] };
  const at = { nowMs: startMs, groups: new Map<string, readonly string[]>(everybody) };
  const world = await openStandingWorld(at, textOf(randomPolicy(createRandom(seed))));
  try {
    for (let runSeed = seed; runSeed < seed + runs && tally.differences.length === 0; runSeed += 1)
      await tryRun(runSeed, { world, at, tally });
  } finally {
    await world.end();
  }
  return tally;
}

/** Runs one sequence, with agents of its own. */
async function tryRun(
  seed: number,
  { world, at, tally }: Pick<Run, 'world' | 'at'> & { readonly tally: Tally },
): Promise<void> {
  const random = createRandom(seed);
  at.groups.clear();
  for (const [person, groups] of everybody) at.groups.set(person, groups);
  const policy = randomPolicy(random);
  await world.usePolicies(textOf(policy));
  const agents = [await world.addAgent(`one-${seed}`), await world.addAgent(`two-${seed}`)];
  const run: Run = {
    random,
    world,
    at,
    agents,
    agentVersions: new Map(agents.map((id) => [id, 1])),
    marks: [],
    revoked: new Set(),
    uses: new Map(),
    approvals: [],
    waiting: new Map(),
    policy,
    last: null,
    owners: 0,
  };
  for (let step = 0; step < stepsPerRun; step += 1) {
    at.nowMs += 1;
    try {
      await random.pick(steps)(run, tally);
    } catch (error) {
      if (!(error instanceof Difference)) throw error;
      const place = `seed ${seed}, step ${step}`;
      tally.differences.push(`${place}: ${error.message}\n${textOf(run.policy)}`);
      return;
    }
  }
}

class Difference extends Error {}

function expectThat(isSo: boolean, difference: string): void {
  if (!isSo) throw new Difference(difference);
}

type Step = (run: Run, tally: Tally) => Promise<void>;

const weights: readonly (readonly [step: Step, weight: number])[] = [
  [askOnce, 45],
  [giveApproval, 32],
  [askTogether, 4],
  [rejectOne, 2],
  [takeBackOne, 2],
  [revokeOne, 2],
  [passTime, 7],
  [changePolicy, 5],
  [changePeople, 2],
  [changeAgent, 1],
  [turnOnSwitch, 1],
  [restart, 1],
];
/** Each step as often as its weight says. */
const steps = weights.flatMap(([step, weight]) => Array.from({ length: weight }, () => step));

function momentOf({ at, policy, agentVersions, marks, revoked, uses }: Run): ModelMoment {
  return { nowMs: at.nowMs, groups: at.groups, policy, agentVersions, marks, revoked, uses };
}

async function askOnce(run: Run, tally: Tally): Promise<void> {
  const request = randomRequest(run);
  const asked = asking(run.policy, request);
  const moment = momentOf(run);
  const covered = [...(asked?.keys() ?? [])].filter((rule) =>
    run.approvals.some((one) => {
      const reason = whyNot(one, { rule, request }, moment);
      if (reason !== null) count(tally.reasons, reason);
      return reason === null;
    }),
  );
  const expected = asked === null ? 'DENY' : covered.length === asked.size ? 'ALLOW' : 'ESCALATE';
  const { decision, state } = await run.world.ask(request);
  const told = `${JSON.stringify(request)} is ${decision}, by the model ${expected}`;
  expectThat(decision === expected, told);
  const under = Object.keys(state.satisfied.standing ?? {});
  expectThat(
    [...under].sort().join() === [...covered].sort().join(),
    `${told}: satisfied are ${under}, by the model ${covered}`,
  );
  noteUses(run, request, state);
  run.last = request;
  tally.compared += 1;
  if (covered.length > 0 && decision === 'ALLOW') tally.granted += 1;
  if (covered.length > 0 && decision === 'ESCALATE') count(tally.seen, 'holds');
  if (covered.length > 1) count(tally.seen, 'two approvals');
}

/** Several equal requests at once use no standing approval more often than it may be used. */
async function askTogether(run: Run, tally: Tally): Promise<void> {
  const request = randomRequest(run);
  const asked = await Promise.all(Array.from({ length: 6 }, () => run.world.ask(request)));
  for (const { state } of asked) noteUses(run, request, state);
  tally.compared += asked.length;
  if (asked.some(({ decision }) => decision === 'ALLOW')) count(tally.seen, 'granted at once');
}

/** Enters what a request uses, if that is there and allows it. */
function noteUses(run: Run, request: ModelRequest, { record, status, expiresAtMs, satisfied }: RequestState) {
  for (const [rule, id] of Object.entries(satisfied.standing ?? {})) {
    const approval = approvalOf(run, id);
    const reason = approval && whyNot(approval, { rule, request }, momentOf(run));
    expectThat(
      approval !== null && reason === null,
      `${record.id} uses ${rule}: ${reason ?? 'there is none'}`,
    );
    if (approval === null) continue;
    const used = run.uses.get(nameOf(approval)) ?? new Map<string, number | null>();
    used.set(record.id, status === 'pending' ? expiresAtMs : null);
    run.uses.set(nameOf(approval), used);
  }
  if (status === 'pending') run.waiting.set(record.id, { request, votes: [] });
}

function approvalOf({ approvals }: Run, id: string): ModelApproval | null {
  return approvals.find(({ requestId, rule }) => standingId(requestId, rule) === id) ?? null;
}

/** A person approves a request that waits, once or as a standing approval, perhaps wider than they may. */
async function giveApproval(run: Run, tally: Tally): Promise<void> {
  const { random, world, at } = run;
  const id = random.pick([...run.waiting.keys()].slice(-4));
  if (id === undefined) return;
  const [person, all] = random.pick([...everybody]);
  const groups = at.groups.get(person) ?? [];
  const group = random.pick(all);
  const standing = random.chance(0.8) ? randomChoice(run) : null;
  const draft = { caller: callerOf(person, groups), group, comment: 'looked at', standing };
  const result = await world.requestChanges.approve(id, draft);
  if (result.kind === 'conflict' && standing !== null) count(tally.seen, 'conflict');
  if (result.kind !== 'changed') return;
  const { request, votes } = run.waiting.get(id)!;
  const given = result.state.votes.filter(({ isApproved }) => isApproved);
  if (given.length > votes.length) {
    const rules = given.at(-1)!.rules.flatMap(({ id: rule }) => {
      const is = ruleOf(run.policy, rule);
      return is === null ? [] : [[rule, is] as const];
    });
    const choices = choicesOf(run, request, { rules: new Map(rules), standing });
    const agentVersion = run.agentVersions.get(request.agent)!;
    const { nowMs: atMs } = at;
    votes.push({ person, group, atMs, agentVersion, rules: new Map(rules), choices, isTakenBack: false });
    compareChoices(given.at(-1)!.standing?.rules ?? [], choices);
    count(tally.seen, standing === null ? 'approved once' : 'approved as standing');
  }
  noteEnd(run, id, result.state);
}

/** The model of what a vote chooses: never more than asked for, and never more than the rule allows. */
function choicesOf(
  { at }: Run,
  request: ModelRequest,
  { rules, standing }: { readonly rules: ReadonlyMap<string, ModelRule>; readonly standing: Choice | null },
): ReadonlyMap<string, ModelChoice> {
  const offered = [...rules].flatMap(([rule, { standing: scope }]) =>
    standing === null || scope === null || keysOf(scope.per, request) === null
      ? []
      : [[rule, scope] as const],
  );
  return new Map(
    offered.map(([rule, { per, seconds, times }]) => {
      const untilMs = Math.min(standing?.untilMs ?? Number.POSITIVE_INFINITY, at.nowMs + seconds * 1000);
      const counts = [standing?.times, times].filter((one) => one != null);
      return [rule, { per, untilMs, times: counts.length === 0 ? null : Math.min(...counts) }];
    }),
  );
}

function compareChoices(
  chosen: readonly { readonly rule: string; readonly untilMs: number; readonly times: number | null }[],
  expected: ReadonlyMap<string, ModelChoice>,
): void {
  const [is, by] = [
    chosen.map(({ rule, untilMs, times }) => `${rule} ${untilMs} ${times}`),
    [...expected].map(([rule, { untilMs, times }]) => `${rule} ${untilMs} ${times}`),
  ];
  expectThat(is.sort().join() === by.sort().join(), `chosen is ${is}, by the model ${by}`);
}

/** What became of a request after a vote. */
function noteEnd(run: Run, id: string, { status, decidedAtMs, expiresAtMs, satisfied }: RequestState): void {
  const { request, votes } = run.waiting.get(id)!;
  if (status === 'approved' && decidedAtMs !== null) {
    for (const [rule, standing] of Object.entries(satisfied.standing ?? {})) {
      const approval = approvalOf(run, standing);
      // The request holds a use already, so that none may be left.
      const reason = approval && whyNot(approval, { rule, request }, momentOf(run));
      expectThat(
        approval !== null && (reason === null || reason === 'used up'),
        `${id} is granted under ${rule}: ${reason ?? 'there is none'}`,
      );
    }
    const rules = new Set(votes.flatMap((vote) => [...vote.rules.keys()]));
    for (const rule of rules)
      run.approvals.push({ requestId: id, request, rule, votes, grantedMs: decidedAtMs });
  }
  if (status !== 'pending') run.waiting.delete(id);
  for (const used of run.uses.values()) {
    if (!used.has(id)) continue;
    if (status === 'rejected') used.delete(id);
    else used.set(id, status === 'pending' ? expiresAtMs : null);
  }
}

async function rejectOne(run: Run, tally: Tally): Promise<void> {
  const id = run.random.pick([...run.waiting.keys()]);
  if (id === undefined) return;
  const draft = { caller: callerOf('ben', ['finance', 'legal'], true), group: null, comment: 'no' };
  const result = await run.world.requestChanges.reject(id, draft);
  if (result.kind !== 'changed') return;
  count(tally.seen, 'rejected');
  noteEnd(run, id, result.state);
}

/** A person takes their approval back while the request waits for others. */
async function takeBackOne(run: Run, tally: Tally): Promise<void> {
  const voted = [...run.waiting].filter(([, { votes }]) => votes.some(({ isTakenBack }) => !isTakenBack));
  const chosen = run.random.pick(voted);
  if (chosen === undefined) return;
  const [id, { votes }] = chosen;
  const vote = votes.findLast(({ isTakenBack }) => !isTakenBack)!;
  const result = await run.world.requestChanges.revokeVote(id, callerOf(vote.person, [vote.group]));
  if (result.kind !== 'changed') return;
  vote.isTakenBack = true;
  count(tally.seen, 'taken back');
}

async function revokeOne(run: Run, tally: Tally): Promise<void> {
  const { random, world } = run;
  const approval = random.pick(run.approvals.slice(-3));
  if (approval === undefined) return;
  const [person, isAdmin] = random.pick([
    ['ann', false] as const,
    ['lea', false] as const,
    ['eve', true] as const,
  ]);
  const result = await world.approvals.revoke(
    callerOf(person, [], isAdmin),
    standingId(approval.requestId, approval.rule),
  );
  if ('kind' in result && result.kind === 'unknown') return;
  // Whoever chose it for the rule may revoke it, and an admin.
  const givers = approval.votes.filter(({ choices }) => choices.has(approval.rule));
  const mayRevoke = isAdmin || givers.some((vote) => vote.person === person);
  const wasRevoked = run.revoked.has(nameOf(approval));
  expectThat(
    !('kind' in result) === (mayRevoke || wasRevoked),
    `${person} may${mayRevoke ? '' : ' not'} revoke`,
  );
  if ('kind' in result) return;
  run.revoked.add(nameOf(approval));
  count(tally.seen, 'revoked');
}

async function passTime({ random, at, approvals }: Run): Promise<void> {
  const ends = approvals.flatMap(({ rule, votes }) =>
    votes.flatMap(({ choices }) => choices.get(rule)?.untilMs ?? []),
  );
  const next = ends.filter((end) => end > at.nowMs);
  // To the millisecond before an end, or to the end itself.
  if (next.length > 0 && random.chance(0.3)) at.nowMs = Math.min(...next) - 1 - random.below(2);
  else at.nowMs += random.pick([1_000, 60_000, hourMs / 2]);
}

async function changePolicy(run: Run): Promise<void> {
  run.policy = changed(run.policy, run.random);
  await run.world.usePolicies(textOf(run.policy));
}

/** Somebody leaves their groups, or everybody is back. */
async function changePeople({ random, at }: Run): Promise<void> {
  const person = random.pick([...everybody.keys()]);
  const isThere = at.groups.get(person)?.length === everybody.get(person)?.length;
  if (!isThere) at.groups.set(person, everybody.get(person)!);
  else if (random.chance(0.5)) at.groups.delete(person);
  else at.groups.set(person, everybody.get(person)!.slice(1));
}

async function changeAgent(run: Run): Promise<void> {
  const id = run.random.pick(run.agents);
  run.owners += 1;
  run.agentVersions.set(id, await run.world.changeAgent(id, `owner${run.owners}@example.com`));
}

async function turnOnSwitch(run: Run): Promise<void> {
  const scopes = [`agent:${run.random.pick(run.agents)}`, 'tier:high', 'area:mail', 'area:pay'];
  const scope = run.random.pick(scopes);
  run.marks.push({ scope, atMs: run.at.nowMs });
  await run.world.stop(scope);
}

async function restart({ world }: Run): Promise<void> {
  await world.restart();
}

interface Choice {
  readonly untilMs: number | null;
  readonly times: number | null;
}

function randomChoice({ random, at }: Run): Choice {
  const hours = random.pick([null, null, 0.5, 1, 3]);
  return {
    untilMs: hours === null ? null : at.nowMs + hours * hourMs,
    times: random.pick([null, null, 1, 2, 5]),
  };
}

function randomRequest({ random, agents, approvals, last }: Run): ModelRequest {
  const fresh: ModelRequest = {
    agent: random.pick(agents),
    action: random.chance(0.75) ? 'pay.send' : 'pay.hold',
    session: random.pick(['s1', 's1', 's2', null]),
    user: random.pick(['u1', 'u1', 'u2', null]),
    vendor: random.pick(['Staples', 'Staples', 'Uline']),
    urgent: random.chance(0.3),
    amount: 1 + random.below(6),
  };
  // Mostly one that was approved or the one before this, with at most one thing changed.
  const base = random.chance(0.7) ? (random.pick(approvals.slice(-3))?.request ?? last) : last;
  if (base === null || random.chance(0.15)) return fresh;
  const changes: readonly Partial<ModelRequest>[] = [
    {},
    {},
    {},
    { amount: fresh.amount },
    { session: fresh.session },
    { vendor: fresh.vendor },
    { user: fresh.user },
    { agent: fresh.agent },
    { urgent: fresh.urgent },
  ];
  return { ...base, ...random.pick(changes) };
}

function randomPolicy(random: RandomSource): ModelPolicy {
  const names = ['first', 'second'].slice(0, 1 + random.below(2));
  return {
    sending: names.map((name) => randomRule(random, name)),
    holding: randomRule(random, 'held'),
    denyAbove: random.pick([5, 9]),
  };
}

function randomRule(random: RandomSource, name: string): ModelRule {
  return {
    name,
    group: random.pick(['finance', 'finance', 'finance', 'legal']),
    needs: random.pick([1, 1, 2]),
    least: random.pick([1, 1, 3]),
    standing: random.chance(0.85)
      ? {
          per: random.some(keys, 0.35),
          seconds: random.pick([1, 2, 8]) * 3600,
          times: random.pick([null, 1, 2, 2, 3]),
        }
      : null,
  };
}

/** Changes one thing of one rule. */
function changed(policy: ModelPolicy, random: RandomSource): ModelPolicy {
  if (random.chance(0.1)) return { ...policy, denyAbove: random.pick([4, 5, 9]) };
  const rules = [...policy.sending, policy.holding];
  const rule = random.pick(rules);
  const other = randomRule(random, rule.name);
  const { standing } = rule;
  const next = random.pick<ModelRule>([
    { ...rule, group: other.group },
    { ...rule, needs: other.needs },
    { ...rule, least: other.least },
    { ...rule, standing: other.standing },
    { ...rule, standing: standing && { ...standing, times: random.pick([null, 1, 2, 5]) } },
    { ...rule, standing: standing && { ...standing, seconds: random.pick([1, 4]) * 3600 } },
    { ...rule, standing: standing && { ...standing, seconds: random.pick([2, 5]) * 3600 } },
  ]);
  return rule === policy.holding
    ? { ...policy, holding: next }
    : { ...policy, sending: policy.sending.map((one) => (one === rule ? next : one)) };
}

function textOf({ sending, holding, denyAbove }: ModelPolicy): string {
  return `approvers finance "Finance"
approvers legal "Legal"
action pay.send, pay.hold { amount: number, vendor: string, urgent: boolean }
policy sending on pay.send {
  allow all
${sending.map((rule) => `  escalate ${rule.name} to ${clausesOf(rule)}`).join('\n')}
  deny huge when payload.amount > ${denyAbove}
}
policy holding on pay.hold {
  allow ${holding.name} after approval by ${clausesOf(holding)}
}`;
}

function clausesOf({ group, needs, least, standing }: ModelRule): string {
  const count = needs === 1 ? '' : ` needs ${needs}`;
  return `${group}${count} within 4h${standing === null ? '' : standingText(standing)} when payload.amount >= ${least}`;
}

function standingText({ per, seconds, times }: NonNullable<ModelRule['standing']>): string {
  const limit = times === null ? '' : ` up to ${times} times`;
  return ` standing per ${['agent', ...per].join(', ')} for ${seconds / 3600}h${limit}`;
}

function count<Name>(counts: Map<Name, number>, name: Name): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
