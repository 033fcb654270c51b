// What happens in the service, told to those outside who should know: webhooks, and people by e-mail. INVARIANT: nothing of
// a payload is in it, only where to look; and whatever goes wrong here is logged and harms no request.

import { setImmediate as pause } from 'node:timers/promises';
import { isControlOwner } from '../../agents/control-owner.ts';
import type { Directory } from '../../people/directory.ts';
import type { NoticeKind, Notify } from '../../people/notices.ts';
import { grantOf } from '../../people/operations.ts';
import type { Application, Invitation, Person } from '../../people/person.ts';
import type { PolicyHost, PolicyState } from '../../policies/policy-host.ts';
import type { RequestEvents, RequestNotice } from '../../requests/record/request-events.ts';
import { askedOwner } from '../../store/contract/asked-owner.ts';
import type { Dispatcher } from '../../webhooks/dispatch.ts';
import type { Mailer } from '../../webhooks/mail.ts';
import type { Revocation } from '../../webhooks/revocations.ts';

export interface NewsDeps {
  readonly directory: Directory;
  /** Where people reach the service, without a path. */
  readonly publicUrl: string;
  readonly dispatcher: Pick<Dispatcher, 'emit'>;
  /** Null where no server is configured. */
  readonly mailer: Pick<Mailer, 'post'> | null;
  readonly onFailure: (error: unknown) => void;
  /** Address or id of the agent's control owner; null where there is no such agent. */
  readonly controlOwnerOf: (agentId: string) => Promise<string | null>;
}

/** Told of people who get access. */
export interface AccessNews {
  invited(invitation: Invitation, secret: string): void;
  declined(application: Application): void;
  /** An admin lets somebody set their password anew. */
  resetLinkMade(person: Person, link: { readonly secret: string; readonly endsAtMs: number }): void;
  /** How somebody comes in was changed. */
  noticed: Notify;
}

export interface News extends AccessNews {
  follow(requests: RequestEvents, policies: Pick<PolicyHost, 'onChange'>): void;
  revoked(revocation: Revocation): void;
}

export function createNews(deps: NewsDeps): News {
  const { directory, publicUrl, dispatcher, mailer, onFailure, controlOwnerOf } = deps;
  const approversOf = createApprovers(directory);

  async function tellPeople(notice: RequestNotice, to: Pick<Mailer, 'post'>): Promise<void> {
    const { requestId: id, agentId, groups, asksStepUp, actionKey } = notice;
    const asksOwner = asksStepUp || groups.includes(askedOwner);
    const owner = asksOwner ? await controlOwnerOf(agentId) : null;
    const action = oneLine(actionKey);
    const about = aboutOf(notice);
    const needs = groups.map((group) => (group === askedOwner ? 'its control owner' : group)).join(', ');
    for (const person of await approversOf()) {
      const { email } = person;
      const isOwner = owner !== null && isControlOwner(person, owner);
      const isOfGroup =
        person.roles.includes('approver') && person.groups.some((one) => groups.includes(one));
      const approves = isOfGroup || (isOwner && groups.includes(askedOwner));
      if (isOwner && asksStepUp)
        to.post({
          to: email,
          subject: `Writ: step up for ${about}`,
          text: `${about}\n\nYour agent asks for \`${action}\`, which needs you to step up.\n\nLook at it and decide:\n${publicUrl}/requests/${id}\n`,
        });
      else if (approves)
        to.post({
          to: email,
          subject: `Writ: approve or reject ${about}`,
          text: `${about}\n\nAn agent asks for \`${action}\`, which needs an approval of ${needs}.\n\nLook at it and decide:\n${publicUrl}/approvals/${id}\n`,
        });
    }
  }

  function onRequest(notice: RequestNotice): void {
    const { kind, requestId: id, groups, asksStepUp, said = null, atMs } = notice;
    const links = { request: `${publicUrl}/v1/requests/${id}` };
    dispatcher.emit({ type: `request.${kind}`, id, links, atMs });
    if (mailer !== null && said !== null)
      tellSaid({ notice, said }, { ...deps, mailer, approversOf }).catch(onFailure);
    if (mailer === null || kind !== 'pending' || (groups.length === 0 && !asksStepUp)) return;
    tellPeople(notice, mailer).catch(onFailure);
  }

  let failedAt: string | null = null;
  function onPolicies({ digest, failure }: PolicyState): void {
    const isNew = failure !== null && failure.at !== failedAt;
    failedAt = failure?.at ?? null;
    if (!isNew) return;
    const links = { policies: `${publicUrl}/v1/policies` };
    const atMs = Math.trunc(directory.clock());
    dispatcher.emit({ type: 'policies.reload_failed', id: digest, links, atMs });
  }

  return {
    follow(requests, policies) {
      requests.subscribe(onRequest);
      policies.onChange(onPolicies);
    },
    revoked: ({ agentId: id, atMs }) =>
      dispatcher.emit({ type: 'agent.revoked', id, atMs, links: { agent: `${publicUrl}/v1/agents/${id}` } }),
    invited: ({ email, endsAtMs }, secret) =>
      mailer?.post({
        to: email,
        subject: 'Writ: your invitation',
        text: `You have been given access to Writ. This link is good once, until ${new Date(endsAtMs).toISOString()}:\n\n${publicUrl}/invitation#token=${secret}\n`,
      }),
    noticed: ({ what, createdAtMs }, { email }) =>
      mailer?.post({
        to: email,
        subject: `Writ: ${noticeTexts[what]}`,
        text: `At ${new Date(createdAtMs).toISOString()} ${noticeTexts[what]}.\n\nIf it was not you, change your password at once, which ends all sessions and tokens, and tell an admin:\n${publicUrl}/account\n`,
      }),
    resetLinkMade: ({ email }, { secret, endsAtMs }) =>
      mailer?.post({
        to: email,
        subject: 'Writ: set a new password',
        text: `An admin has made a link by which you set a new password. It is good once, until ${new Date(endsAtMs).toISOString()}:\n\n${publicUrl}/reset#token=${secret}\n\nIf you did not ask for it, tell an admin.\n`,
      }),
    declined: ({ email, answer }) =>
      mailer?.post({
        to: email,
        subject: 'Writ: your application',
        text: `Your application for access was declined:\n\n${answer ?? ''}\n`,
      }),
  };
}

interface TellingSaid extends Pick<NewsDeps, 'controlOwnerOf' | 'publicUrl'> {
  readonly mailer: Pick<Mailer, 'post'>;
  readonly approversOf: () => Promise<readonly Person[]>;
}

/** A question goes to the control owner, an answer to those who have asked; the words are for the dashboard. */
async function tellSaid(
  { notice, said }: { notice: RequestNotice; said: NonNullable<RequestNotice['said']> },
  { controlOwnerOf, publicUrl, mailer, approversOf }: TellingSaid,
): Promise<void> {
  if (said.kind === 'comment') return;
  const owner = said.kind === 'question' ? await controlOwnerOf(notice.agentId) : null;
  const isTold = (person: Person): boolean =>
    said.kind === 'question'
      ? owner !== null && isControlOwner(person, owner)
      : said.askers.includes(person.id);
  const what = said.kind === 'question' ? 'a question about a request' : 'an answer to your question';
  const about = aboutOf(notice);
  for (const { email } of (await approversOf()).filter(isTold)) {
    mailer.post({
      to: email,
      subject: `Writ: ${what} (${about})`,
      text: `${about}\n\nThere is ${what}.\n\nRead it and go on from there:\n${publicUrl}/approvals/${notice.requestId}\n`,
    });
  }
}

/** What has happened, as the rest of a sentence; the names of passkeys and tokens are for the dashboard. */
const noticeTexts: Readonly<Record<NoticeKind, string>> = {
  'passkey-added': 'a passkey was added to your account',
  'passkey-removed': 'a passkey was removed from your account',
  'codes-set-up': 'one-time codes were set up for your account',
  'codes-removed': 'one-time codes were removed from your account',
  'factors-reset': 'an admin has reset your one-time codes and passkeys',
  'recovery-codes-made': 'new recovery codes were made for your account',
  'recovery-code-used': 'a recovery code of your account was used',
  'password-changed': 'the password of your account was changed',
  'reset-link-made': 'an admin has made a link by which the password of your account can be set anew',
  'password-reset': 'the password of your account was set anew by a link of an admin',
  'token-made': 'a personal token was made for your account',
};

/** Action keys are declared, but may be quoted and hold anything. */
function aboutOf({ title, actionKey }: RequestNotice): string {
  return oneLine(title === '' ? actionKey : title);
}

function oneLine(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]/gu, ' ').slice(0, 100);
}

const peopleAtOnce = 200;
/** However many requests begin to wait, people are looked through this often at most. */
const approversKeptMs = 1_000;

/** The function returned finds everybody who may approve anything. */
function createApprovers(directory: Directory): () => Promise<readonly Person[]> {
  let known: { readonly atMs: number; readonly people: Promise<readonly Person[]> } | null = null;
  return async () => {
    const nowMs = directory.clock();
    if (known === null || nowMs - known.atMs >= approversKeptMs) {
      known = { atMs: nowMs, people: allApprovers(directory) };
    }
    return await known.people;
  };
}

async function allApprovers({ people }: Directory): Promise<readonly Person[]> {
  const found: Person[] = [];
  let after: Person | null = null;
  for (;;) {
    const page = await people.list({ countMax: peopleAtOnce, after });
    found.push(
      ...page
        .map(({ value }) => value)
        .filter(({ status, roles }) => status === 'active' && grantOf(roles, 'requests.approve') !== 'no'),
    );
    if (page.length < peopleAtOnce) return found;
    after = page.at(-1)?.value ?? null;
    await pause();
  }
}
