// Tells the outside what happens in the service: webhooks, and people by e-mail. INVARIANT: of a payload, a
// message holds nothing but what the request's title shows, and tells where to look; whatever goes wrong here
// is logged and harms no request.

import { BoundedMap } from '../../../language/value/memo.ts';
import { isControlOwner } from '../../agents/agent-facts.ts';
import type { Alert } from '../../alerts/alert.ts';
import type { AlertMessages } from '../../alerts/watch-alerts.ts';
import type { Directory } from '../../people/directory.ts';
import type { Person } from '../../people/person.ts';
import type { PolicyHost, PolicyState } from '../../policies/policy-host.ts';
import type { RequestEvents, RequestNotice } from '../../requests/record/request-events.ts';
import type { StandingMessages, StandingNews } from '../../requests/standing/watch-standing.ts';
import { controlOwnerGroup } from '../../store/contract/control-owner-group.ts';
import type { Dispatcher, PreparedEvent } from '../../webhooks/dispatch.ts';
import type { Mailer } from '../../webhooks/mail.ts';
import type { Revocation } from '../../webhooks/revocations.ts';
import { type AccessEvents, createAccessEvents, createAlertMessages } from './access-messages.ts';
import { type Approvers, askedOf } from './asked-people.ts';
import { oneLine } from './assignment-messages.ts';
import { createStandingMessages } from './standing-messages.ts';
import { allApprovers } from './who-is-asked.ts';

export interface EventMessages extends AccessEvents {
  follow(requests: RequestEvents, policies: Pick<PolicyHost, 'onChange'>): void;
  /** The prepared messages that an agent was revoked. */
  revoked(revocation: Revocation): Promise<PreparedEvent>;
  /** The messages about an alert that begins, or is over. */
  alertMessages(alert: Alert): Promise<AlertMessages>;
  /** The messages about a standing approval. */
  standingMessages(news: StandingNews): Promise<StandingMessages>;
}

export function createEventMessages(deps: EventDeps): EventMessages {
  const { directory, publicUrl, dispatcher, mailer, onFailure, controlOwnerOf } = deps;
  const approversOf = createApprovers(directory);
  const mailed = createMailedPlans();

  async function tellPeople(notice: RequestNotice, to: Pick<Mailer, 'post'>): Promise<void> {
    const { requestId: id, agentId, groups, asksStepUp, actionKey, plan } = notice;
    const asksOwner = asksStepUp || groups.includes(controlOwnerGroup);
    const owner = asksOwner ? await controlOwnerOf(agentId) : null;
    const action = oneLine(actionKey);
    const about = plan === undefined ? aboutOf(notice) : `a plan of ${plan.steps} steps`;
    const needs = approversLabel(notice);
    const begin = plan === undefined ? about : `${aboutOf(notice)}: step ${plan.step} of ${about}`;
    const page = (place: string) =>
      plan === undefined ? `${publicUrl}/${place}/${id}` : `${publicUrl}/plans/${plan.id}`;
    for (const { person, stepsUp } of askedOf(await approversOf(), notice, owner)) {
      const { email } = person;
      if (plan !== undefined && mailed.has(plan.id, email, notice.atMs)) continue;
      if (plan !== undefined) mailed.add(plan.id, email, notice.atMs);
      if (stepsUp)
        to.post({
          to: email,
          subject: `Writ: step up for ${about}`,
          text: `${begin}\n\nYour agent asks for \`${action}\`, which needs you to step up.\n\nReview and decide it:\n${page('requests')}\n`,
        });
      else
        to.post({
          to: email,
          subject: `Writ: approve or reject ${about}`,
          text: `${begin}\n\nAn agent asks for \`${action}\`, which needs an approval of ${needs}.\n\nReview and decide it:\n${page('approvals')}\n`,
        });
    }
  }

  function onRequest(notice: RequestNotice): void {
    const { kind, requestId: id, groups, people = [], asksStepUp, comment = null, plan, atMs } = notice;
    const links = {
      request: `${publicUrl}/v1/requests/${id}`,
      ...(plan && { plan: `${publicUrl}/v1/plans/${plan.id}` }),
    };
    const page = `${publicUrl}/requests/${id}`;
    dispatcher.emit({ type: `request.${kind}`, id, links, text: noticeText(notice), page, atMs });
    if (mailer !== null && comment !== null)
      mailComment({ notice, said: comment }, { ...deps, mailer, approversOf }).catch(onFailure);
    if (mailer !== null && notice.reminder != null)
      mailReminder({ notice, reminder: notice.reminder }, { ...deps, mailer, approversOf }).catch(onFailure);
    if (mailer === null || kind !== 'pending' || (groups.length + people.length === 0 && !asksStepUp)) return;
    tellPeople(notice, mailer).catch(onFailure);
  }

  let failedAt: string | null = null;
  function onPolicies({ digest, failure }: PolicyState): void {
    const isNew = failure !== null && failure.at !== failedAt;
    failedAt = failure?.at ?? null;
    if (!isNew) return;
    const links = { policies: `${publicUrl}/v1/policies` };
    const atMs = Math.trunc(directory.clock());
    const text = 'The policies on disk failed to load and are not active. The last valid set stays active.';
    const page = `${publicUrl}/policies`;
    dispatcher.emit({ type: 'policies.reload_failed', id: digest, links, text, page, atMs });
  }

  return {
    follow(requests, policies) {
      requests.subscribe(onRequest);
      policies.onChange(onPolicies);
    },
    ...createAccessEvents(deps),
    alertMessages: createAlertMessages(deps),
    standingMessages: createStandingMessages(deps),
    revoked: ({ agentId: id, atMs }) =>
      dispatcher.prepare({
        type: 'agent.revoked',
        id,
        atMs,
        text: 'An agent was revoked.',
        page: `${publicUrl}/agents/${id}`,
        links: { agent: `${publicUrl}/v1/agents/${id}` },
      }),
  };
}

interface TellingSaid extends Pick<EventDeps, 'controlOwnerOf' | 'publicUrl'> {
  readonly mailer: Pick<Mailer, 'post'>;
  readonly approversOf: () => Promise<Approvers>;
}

/**
 * Mails a question to the control owner, and an answer to those who have asked; only the dashboard shows the
 * words themselves.
 */
async function mailComment(
  { notice, said: comment }: { notice: RequestNotice; said: NonNullable<RequestNotice['comment']> },
  { controlOwnerOf, publicUrl, mailer, approversOf }: TellingSaid,
): Promise<void> {
  if (comment.kind === 'comment') return;
  const owner = comment.kind === 'question' ? await controlOwnerOf(notice.agentId) : null;
  const isTold = (person: Person): boolean =>
    comment.kind === 'question'
      ? owner !== null && isControlOwner(person, owner)
      : comment.askers.includes(person.id);
  const noun = comment.kind === 'question' ? 'a question about a request' : 'an answer to your question';
  const about = aboutOf(notice);
  for (const { email } of (await approversOf()).people.filter(isTold)) {
    mailer.post({
      to: email,
      subject: `Writ: ${noun} (${about})`,
      text: `${about}\n\nThere is ${noun}.\n\nRead it and reply here:\n${publicUrl}/approvals/${notice.requestId}\n`,
    });
  }
}

/** Mails a reminder to the people who have been chosen for it. */
async function mailReminder(
  { notice, reminder }: { notice: RequestNotice; reminder: NonNullable<RequestNotice['reminder']> },
  { publicUrl, mailer, approversOf }: TellingSaid,
): Promise<void> {
  const about = aboutOf(notice);
  const end = new Date(reminder.endMs).toISOString();
  const then = reminder.endsWithFallback ? `At ${end}, others are asked as well.` : `It expires at ${end}.`;
  for (const { id, email } of (await approversOf()).people) {
    if (!reminder.told.includes(id)) continue;
    mailer.post({
      to: email,
      subject: `Writ: reminder: ${about} is pending`,
      text: `${about}\n\nThis request is still pending. ${then}\n\nReview and decide it:\n${publicUrl}/approvals/${notice.requestId}\n`,
    });
  }
}

function noticeText(notice: RequestNotice): string {
  const { kind, actionKey, asksStepUp, status } = notice;
  const about = `${aboutOf(notice)} (\`${oneLine(actionKey)}\`)`;
  if (kind === 'reminded') return `${about} is still pending.`;
  if (kind === 'commented') return `There is a new comment on ${about}.`;
  if (kind === 'decided') return `${about} is no longer pending: it is ${status}.`;
  const needed = asksStepUp ? 'a step-up of its control owner' : `an approval of ${approversLabel(notice)}`;
  return `An agent asks for ${about}, which needs ${needed}.`;
}

function aboutOf({ title, actionKey }: RequestNotice): string {
  return oneLine(title === '' ? actionKey : title);
}

function approversLabel({ groups, people = [] }: Pick<RequestNotice, 'groups' | 'people'>): string {
  const all = [
    ...groups.map((group) => (group === controlOwnerGroup ? 'its control owner' : group)),
    ...people,
  ];
  return all.length === 0 ? 'an unknown approver' : all.join(', ');
}

/** Requests of a plan begin to wait together: a person gets one mail about all of them. */
const mailedOnceMs = 60_000;
const mailedPlansMax = 1_000;

/** Remembers who has got a mail about a plan a moment ago. */
function createMailedPlans() {
  const atMs = new BoundedMap<string, number>(mailedPlansMax);
  const nameOf = (plan: string, email: string): string => `${plan} ${email}`;
  return {
    has: (plan: string, email: string, nowMs: number): boolean =>
      nowMs - (atMs.get(nameOf(plan, email)) ?? -Infinity) < mailedOnceMs,
    add: (plan: string, email: string, nowMs: number): void => void atMs.set(nameOf(plan, email), nowMs),
  };
}

/** However many requests begin to wait, all people are looked through at most once in this time. */
const approversKeptMs = 1_000;

/** The returned function finds everybody who may approve anything. */
function createApprovers(directory: Directory): () => Promise<Approvers> {
  let cached: { readonly atMs: number; readonly approvers: Promise<Approvers> } | null = null;
  return async () => {
    const nowMs = directory.clock();
    if (cached === null || nowMs - cached.atMs >= approversKeptMs) {
      cached = { atMs: nowMs, approvers: allApprovers(directory) };
    }
    return await cached.approvers;
  };
}

// What the parts of the service use to send messages to the outside.

export interface EventDeps {
  readonly directory: Directory;
  /** The address at which people reach the service, without a path. */
  readonly publicUrl: string;
  readonly dispatcher: Pick<Dispatcher, 'emit' | 'prepare'>;
  /** Sends mail; null when no mail server is configured. */
  readonly mailer: Pick<Mailer, 'post'> | null;
  readonly onFailure: (error: unknown) => void;
  /** E-mail address or id of the agent's control owner; null when there is no such agent. */
  readonly controlOwnerOf: (agentId: string) => Promise<string | null>;
}
