// What people do to a request that waits: approve, reject, step up; and the word of what became of a grant. Each is
// judged on the request as it stands and written only if nothing else became of it meanwhile, else judged anew.
// INVARIANT: a person's word and what the policies make of it are stored together or not at all; a request that is
// decided, over, stopped, or of an agent that is not active, is never granted.

import { isControlOwner } from '../agents/control-owner.ts';
import type { Entered } from '../meters/book.ts';
import type { ActivePolicies } from '../model/active-policies.ts';
import type { AgentRow, RequestEvent, RequestStatus } from '../store/records.ts';
import type { Store } from '../store/store.ts';
import { bind, isFor, isSatisfied, requestDigest } from './binding.ts';
import {
  approvedOf,
  askedBy,
  type DecidedAgain,
  decideAgain,
  isApprovalRule,
  recordedFacts,
  stateAgain,
  type Today,
} from './decide-again.ts';
import type { RequestNewsDesk } from './events.ts';
import { refusalHeldSeconds } from './held.ts';
import { type LifeEvent, nextStatus, statusAt } from './life.ts';
import { type Metering, metered } from './metering.ts';
import { eventOf, type Standing, standingOf, stateOf, type Word, wordEvent } from './standing.ts';
import { lastStepUp, rememberStepUp, type Stepping } from './step-up.ts';

/** Who gives a word: a person, with the groups for which they may. */
export interface Approver extends Stepping {
  readonly groups: readonly string[];
  /** May reject whatever group is asked. */
  readonly isOfAll: boolean;
}

export interface WordDraft {
  readonly approver: Approver;
  /** Null leaves it to what is asked of the person's groups, where that is one. */
  readonly group: string | null;
  readonly comment: string;
}

export type Changed =
  | { readonly kind: 'changed'; readonly standing: Standing }
  | { readonly kind: 'unknown' }
  /** It does not stand so that this could be done; one sentence in lower case. */
  | { readonly kind: 'conflict'; readonly detail: string }
  | { readonly kind: 'not-allowed'; readonly detail: string }
  /** An operator has stopped what the request asks for. */
  | { readonly kind: 'stopped'; readonly detail: string }
  /** Several groups are asked that the person belongs to. */
  | { readonly kind: 'which-group'; readonly groups: readonly string[] };

export type Refused = Exclude<Changed, { readonly kind: 'changed' }>;
type SteppedUp = { readonly kind: 'stepped-up'; readonly atMs: number };

export interface Decisions {
  approve(id: string, draft: WordDraft): Promise<Changed>;
  reject(id: string, draft: WordDraft): Promise<Changed>;
  /** The person has re-authenticated there and then. */
  stepUp(id: string, person: Stepping): Promise<Changed>;
  /** The same for an agent, whose waiting requests are decided again. */
  stepUpAgent(agentId: string, person: Stepping): Promise<Refused | SteppedUp>;
  report(id: string, report: Report): Promise<Changed>;
  /** Whether the person has approved the request, by an approval that counts by the policies of now. */
  hasApproved(standing: Standing, personId: string): boolean;
}

export interface Report {
  readonly executed: boolean;
  /** As the record names who says so. */
  readonly who: string;
  /** Whether the word of who says so releases a grant that is not used from the meters. */
  readonly mayRelease: boolean;
}

export interface DecisionsOptions {
  readonly store: Store;
  readonly policies: () => ActivePolicies;
  readonly clock: () => number;
  /** Why an operator has stopped this; null where nobody has. */
  readonly stopped: (asked: {
    readonly agentId: string;
    readonly tier: AgentRow['riskTier'];
    readonly actionKey: string;
  }) => Promise<string | null>;
  readonly metering: Pick<Metering, 'note' | 'read' | 'settle' | 'settled' | 'withdraw'>;
  readonly news?: RequestNewsDesk;
}

type Events = readonly Omit<RequestEvent, 'requestId'>[];

/** More than can come between: each time somebody else's change has been stored. */
const triesMax = 50;
const openOfAgentMax = 1_000;

export function createDecisions(options: DecisionsOptions): Decisions {
  const { store, policies, clock, stopped, metering, news } = options;
  const { requests, documents } = store;

  /** Judges the request as it stands, and again where something else became of it before this was stored. */
  async function change(
    id: string,
    judge: (standing: Standing, nowMs: number) => Promise<Events | Refused | 'nothing'>,
    follow: (events: Events, standing: Standing) => void = (events) => settle(id, events),
  ): Promise<Changed> {
    for (let tries = 0; tries < triesMax; tries += 1) {
      const history = await requests.history(id);
      if (history === null) return { kind: 'unknown' };
      const standing = standingOf(history);
      const events = await judge(standing, Math.trunc(clock()));
      if (events === 'nothing') return { kind: 'changed', standing };
      if ('kind' in events) return events;
      const result = await requests.change({
        ...{ requestId: id, events, from: [standing.status], seen: standing.seen },
      });
      if (result === 'changed') {
        follow(events, standing);
        return await changed(id, standing);
      }
    }
    throw new Error(`the request \`${id}\` changes all the time`);
  }

  /** A wait that has ended leaves the meters, or counts in them from now on. */
  function settle(id: string, events: Events): void {
    const state = events.at(-1)?.state;
    if (state?.status === 'approved') metering.settle(id, state.decidedAtMs);
    else if (state?.status === 'rejected') metering.settle(id, null);
  }

  /** A grant that is not used leaves the meters: where the store has it, or its record says that it entered. */
  function withdraw({ record, decidedAtMs }: Standing, stored: readonly Entered[]): void {
    const uses = policies().entriesRecorded(recordedFacts(record)) ?? [];
    const computed = uses.flatMap(({ definition, key }) =>
      key === null ? [] : [{ definition: definition.id, key }],
    );
    metering.withdraw(record.id, decidedAtMs ?? record.createdAtMs, [...stored, ...computed]);
  }

  async function changed(id: string, before: Standing): Promise<Changed> {
    const history = await requests.history(id);
    if (history === null) return { kind: 'unknown' };
    const standing = standingOf(history);
    tell(standing, before);
    return { kind: 'changed', standing };
  }

  /** Whoever is asked as before has been told. */
  function tell(standing: Standing, before: Standing): void {
    const { record, status } = standing;
    const groups = status === 'pending' ? askedGroups(standing) : [];
    if (status === 'pending' && groups.join() === askedGroups(before).join()) return;
    news?.tell({
      kind: status === 'pending' ? 'pending' : 'decided',
      ...{ requestId: record.id, agentId: record.agentId, actionKey: record.actionKey, status, groups },
      atMs: Math.trunc(clock()),
    });
  }

  /** Today, where the request may still be granted; else why not. */
  async function todayFor(standing: Standing, event: LifeEvent, nowMs: number): Promise<Today | Refused> {
    const { record } = standing;
    const over = overAs(standing, event, nowMs);
    if (over !== null) return over;
    const agent = await store.agents.find(record.agentId);
    if (agent === null || agent.status !== 'active')
      return { kind: 'conflict', detail: `the agent is ${agent?.status ?? 'gone'}` };
    const asked = { agentId: agent.id, tier: agent.riskTier, actionKey: record.actionKey };
    const reason = await stopped(asked);
    if (reason !== null) return { kind: 'stopped', detail: reason };
    const stepUp = await lastStepUp(documents, agent);
    // A past that is just being read is waited for: what it leaves unknown could refuse the request for good.
    await metered(metering, policies);
    await metering.settled();
    return { inForce: policies(), agent, lastStepUp: stepUp, nowMs, metering };
  }

  function decidedEvent(
    standing: Standing,
    event: LifeEvent,
    again: DecidedAgain,
    nowMs: number,
  ): Events[number] {
    const { firing: _, ...detail } = again;
    const state = stateAgain(standing, event, { decision: again.decision, nowMs });
    return eventOf('decided', { who: 'system', atMs: nowMs, state }, detail);
  }

  return {
    approve: (id, { approver, group, comment }) =>
      change(id, async (standing, nowMs) => {
        const today = await todayFor(standing, 'approve', nowMs);
        if ('kind' in today) return today;
        const look = decideAgain(standing, today);
        const chosen = chooseGroup(group, approver.groups, groupsAsked(standing, look));
        if (typeof chosen === 'object') return chosen;
        const rules = rulesToApprove(standing, look, today.inForce).filter((rule) => rule.group === chosen);
        const approved = approvedOf(standing, today.agent);
        if (rules.some(({ needs }) => needs > 1) && approved.isOwner(approver)) {
          const detail = 'this needs more than one person, none of whom is the control owner of the agent';
          return { kind: 'not-allowed', detail };
        }
        const given = lastApproval(standing, approver.id);
        if (given !== null && counts(given, standing, today.inForce))
          return { kind: 'conflict', detail: `you have approved this for ${given.group ?? 'others'}` };
        const word: Word = {
          ...{
            isApproved: true,
            person: approver.id,
            email: approver.email,
            who: approver.who,
            group: chosen,
          },
          ...{ comment, atMs: nowMs, digest: requestDigest(standing.record), rules: rules.map(bind) },
        };
        const next = { ...standing, words: [...standing.words, word] };
        const isComplete = rules.every((rule) => isSatisfied(rule, { ...approved, words: next.words }));
        const approval = wordEvent(word, stateOf(standing));
        if (!isComplete) return [approval];
        return [approval, decidedEvent(next, 'approve', decideAgain(next, today), nowMs)];
      }),

    reject: (id, { approver, group, comment }) =>
      change(id, async (standing, nowMs) => {
        const over = overAs(standing, 'reject', nowMs);
        if (over !== null) return over;
        const asked = askedGroups(standing);
        const own = approver.groups.filter((one) => asked.includes(one));
        if (group !== null && !own.includes(group)) return notOf(group);
        if (own.length === 0 && !approver.isOfAll) return notAsked;
        const word: Word = {
          ...{ isApproved: false, person: approver.id, email: approver.email, who: approver.who },
          ...{ group: group ?? own[0] ?? null, comment, atMs: nowMs, rules: [] },
          digest: requestDigest(standing.record),
        };
        const expiresAtMs = nowMs + refusalHeldSeconds * 1000;
        return [wordEvent(word, { status: 'rejected', decidedAtMs: nowMs, expiresAtMs })];
      }),

    stepUp: (id, person) =>
      change(id, async (standing, nowMs) => {
        const today = await todayFor(standing, 'step-up', nowMs);
        if ('kind' in today) return today;
        if (!isControlOwner(person, today.agent.controlOwner)) return notOwner;
        const look = decideAgain(standing, today);
        if (!asksStepUp(standing) && look.decision.requires?.reauth == null) return noStepUp;
        const remembered = await rememberStepUp(documents, today.agent, { person, nowMs });
        const next = { ...standing, isSteppedUp: true };
        const again = decideAgain(next, { ...today, lastStepUp: remembered, inForce: policies() });
        const stepped = { who: person.who, atMs: nowMs, state: stateOf(standing) };
        return [
          eventOf('stepped-up', stepped, { person: person.id, email: person.email }),
          decidedEvent(next, 'step-up', again, nowMs),
        ];
      }),

    stepUpAgent: async (agentId, person) => {
      const agent = await store.agents.find(agentId);
      if (agent === null || agent.id !== agentId) return { kind: 'unknown' };
      if (!isControlOwner(person, agent.controlOwner)) return notOwner;
      const { atMs } = await rememberStepUp(documents, agent, { person, nowMs: Math.trunc(clock()) });
      for (const id of await requests.openOf(agentId, openOfAgentMax)) {
        await change(id, async (standing, nowMs) => {
          const today = await todayFor(standing, 'step-up', nowMs);
          if ('kind' in today) return today;
          const again = decideAgain(standing, today);
          const isHelped = asksStepUp(standing) && again.decision.requires?.reauth == null;
          return isHelped ? [decidedEvent(standing, 'step-up', again, nowMs)] : 'nothing';
        });
      }
      return { kind: 'stepped-up', atMs };
    },

    hasApproved: (standing, personId) => {
      const given = lastApproval(standing, personId);
      return given !== null && counts(given, standing, policies());
    },

    report: (id, { executed, who, mayRelease }) => {
      let entered: readonly Entered[] = [];
      return change(
        id,
        async (standing, nowMs) => {
          const releases = !executed && mayRelease && !standing.isReleased && nowMs < standing.expiresAtMs;
          const isRepeated = standing.wasExecuted === executed;
          if (isRepeated && !releases) return 'nothing';
          // A late word that a grant was used is still true; that it will not be is no word on one that is over.
          const over = overAs(standing, 'outcome', executed ? Number.NEGATIVE_INFINITY : nowMs);
          if (!isRepeated && over !== null) return over;
          const { decidedAtMs, expiresAtMs } = standing;
          const event = {
            who,
            atMs: nowMs,
            state: { status: 'consumed', decidedAtMs, expiresAtMs },
          } as const;
          const consumed = isRepeated ? [] : [eventOf('consumed', event, { executed })];
          if (!releases) return consumed;
          entered = await store.meters.enteredBy(id);
          return [...consumed, eventOf('released', event, {})];
        },
        (events, standing) => {
          if (events.some(({ what }) => what === 'released')) withdraw(standing, entered);
        },
      );
    },
  };
}

const noStepUp: Refused = { kind: 'conflict', detail: 'nothing asks for a step-up here' };
const notAsked: Refused = { kind: 'not-allowed', detail: 'none of your groups is asked' };
const notOwner: Refused = {
  kind: 'not-allowed',
  detail: 'only the control owner of the agent steps up for it',
};

function notOf(group: string): Refused {
  return { kind: 'not-allowed', detail: `you cannot answer for \`${group}\`, or it is not asked` };
}

/** Why the event cannot happen to the request any more; null where it can. */
function overAs(standing: Standing, event: LifeEvent, nowMs: number): Refused | null {
  const status = statusAt(standing, nowMs);
  if (nextStatus(status, event) !== null) return null;
  return { kind: 'conflict', detail: overTexts[status] };
}

const overTexts: Readonly<Record<RequestStatus, string>> = {
  pending: 'this request waits for people',
  auto_approved: 'this request has been granted',
  approved: 'this request has been approved',
  rejected: 'this request has been refused',
  expired: 'this request has expired',
  consumed: 'this grant has been used',
};

function asksStepUp({ decision }: Standing): boolean {
  return decision.requires?.reauth != null;
}

/** By the decision that counts. */
function askedGroups({ decision }: Pick<Standing, 'decision'>): readonly string[] {
  return decision.requires?.approvals.map(({ group }) => group) ?? [];
}

/** By the decision that counts, and by today's, which may ask others. */
function groupsAsked(standing: Standing, today: DecidedAgain): readonly string[] {
  return [...new Set([...askedGroups(standing), ...askedGroups(today)])];
}

function chooseGroup(
  group: string | null,
  own: readonly string[],
  asked: readonly string[],
): string | Refused {
  const candidates = asked.filter((one) => own.includes(one));
  if (group !== null) return candidates.includes(group) ? group : notOf(group);
  if (candidates.length > 1) return { kind: 'which-group', groups: candidates };
  return candidates[0] ?? notAsked;
}

/** Rules that took part in the decision that counts, or would today, as they are today. */
function rulesToApprove(standing: Standing, { firing }: DecidedAgain, inForce: ActivePolicies) {
  const rules = new Map([...askedBy(standing.decision, inForce), ...firing].map((rule) => [rule.rule, rule]));
  return [...rules.values()].filter(isApprovalRule);
}

function lastApproval({ words }: Standing, person: string): Word | null {
  return words.findLast((word) => word.isApproved && word.person === person) ?? null;
}

/** Whether an approval counts today: none of the rules for which it was given is another one now, and some is left. */
function counts(word: Word, standing: Standing, inForce: ActivePolicies): boolean {
  if (word.digest !== requestDigest(standing.record)) return false;
  if (word.rules.length === 0) return true;
  const asks = inForce.asks();
  const left = word.rules.flatMap(({ id }) => asks.get(id) ?? []);
  return left.length > 0 && left.every((rule) => isApprovalRule(rule) && isFor(word, rule));
}
