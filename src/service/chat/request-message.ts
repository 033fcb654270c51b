// A pending or decided request into what a message in a chat shows of it: plain data, from which each chat makes its own
// form. INVARIANT: texts of agents appear as the dashboard shows them, invisible characters as code points and secrets not
// at all; a message by which people can vote shows the whole payload.

import type { ActivePolicies } from '../../language/model/active-policies.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { hasInvisible } from '../../language/value/invisible.ts';
import { isoTime } from '../../language/value/iso-time.ts';
import { aboutJson, entriesOf, pathInto, secretDigest } from '../../language/value/json-parts.ts';
import { type PayloadProfile, profileNoteOf } from '../../language/value/payload-profile.ts';
import { cutText, textPieces } from '../../language/value/text-pieces.ts';
import type { PersonNames } from '../people/person-names.ts';
import { amountsIn } from '../requests/amounts.ts';
import type { RequestSnapshot } from '../requests/approvals/change-request.ts';
import { whyNotByChat } from '../requests/approvals/chat-votes.ts';
import { statusAt } from '../requests/record/lifecycle.ts';
import { requestSummary } from '../requests/record/reply.ts';
import type { Vote } from '../requests/record/request-state.ts';
import { requestDigest } from '../requests/record/vote-scope.ts';
import type { ChatService } from '../store/contract/chat-account.ts';

export interface RequestMessage {
  readonly requestId: string;
  readonly digest: string;
  /** The address of the request in Writ. */
  readonly page: string;
  readonly title: string;
  readonly facts: readonly Line[];
  readonly payload: readonly Line[];
  readonly warnings: readonly string[];
  /** Who has voted, what is still asked for, or how it ended. */
  readonly progress: readonly string[];
  /** Whether people may vote by the message, only in Writ, or no longer. */
  readonly decidable: 'by-chat' | 'in-writ' | 'no';
}

interface Line {
  readonly name: string;
  readonly text: string;
}

/** What an approver should know about a request, as the service reviews it. */
export interface MessageReview {
  readonly warnings: readonly string[];
  readonly confusables: readonly {
    readonly path: string;
    readonly value: string;
    readonly scripts: readonly string[];
    readonly confusable_with: { readonly value: string; readonly count: number } | null;
    readonly characters: readonly { readonly code_point: string; readonly name: string }[];
  }[];
}

export interface MessageDeps {
  /** The address at which people reach the service, without a path. */
  readonly publicUrl: string;
  readonly policies: () => ActivePolicies;
  readonly reviewOf: (seen: RequestSnapshot) => Promise<MessageReview>;
  readonly profileOf: (agentId: string, actionKey: string) => Promise<PayloadProfile>;
  readonly nameOf: PersonNames;
}

const linesMax = 20;
const textMax = 300;
const warningsMax = 10;

export async function requestMessage(deps: MessageDeps, seen: RequestSnapshot): Promise<RequestMessage> {
  const { state, nowMs, stopped } = seen;
  const { record } = state;
  const active = deps.policies();
  const lines = payloadLines(record.payload, active.shapeOf(record.actionKey));
  const isPending = statusAt(state, nowMs) === 'pending';
  const barred = isPending ? (stopped ?? whyNotByChat({ state, decided: [], active })) : null;
  const why = barred ?? (lines.isWhole ? null : 'the message cannot show all of it');
  const review = isPending ? await reviewLines(deps, seen) : [];
  return {
    requestId: record.id,
    digest: requestDigest(record),
    page: `${deps.publicUrl}/approvals/${record.id}`,
    title: shownText(titleOf(seen)).text,
    facts: factsOf(seen),
    payload: lines.lines,
    warnings: review,
    progress: [
      ...(await voteLines(deps, state.votes, isPending ? 'open' : 'over')),
      ...statusLines(seen),
      ...(isPending && why !== null ? [`Decide it in Writ: ${why}.`] : []),
    ],
    decidable: isPending ? (why === null ? 'by-chat' : 'in-writ') : 'no',
  };
}

/** Changes whenever the message has to, without the work of making it. */
export function messageKey({ state, nowMs, stopped }: RequestSnapshot, policies: string): string {
  const invalid = state.votes.map(({ invalidReason }) => invalidReason);
  return JSON.stringify([state.seen, statusAt(state, nowMs), stopped, invalid, policies]);
}

function titleOf({ state }: RequestSnapshot): string {
  const { title, action_key } = requestSummary(state, 0);
  return title === '' ? action_key : title;
}

function factsOf({ state, agent, nowMs }: RequestSnapshot): readonly Line[] {
  const { reason, risk_score, expires_at, on_behalf_of } = requestSummary(state, nowMs);
  const user = on_behalf_of?.user;
  const texts: readonly (readonly [string, string | null])[] = [
    ['Agent', agent.name],
    ['Action', state.record.actionKey],
    ['Reason', reason],
    ['On behalf of', user == null ? null : (user.email ?? user.id ?? null)],
    ['Risk', `${risk_score} of 100`],
    ['Deadline', statusAt(state, nowMs) === 'pending' ? readableTime(expires_at) : null],
  ];
  return texts.flatMap(([name, text]) => (text === null ? [] : [{ name, text: shownText(text).text }]));
}

function readableTime(iso: string): string {
  return `${iso.slice(0, 16).replace('T', ' ')} UTC`;
}

/** The payload, field by field; `isWhole` is false when something of it is left out. */
function payloadLines(payload: JsonObject, shape: Parameters<typeof amountsIn>[1] | null) {
  const amounts = new Map(
    (shape === null ? [] : amountsIn(payload, shape)).map(({ pointer, text }) => [pointer, text]),
  );
  const leaves = leavesOf(payload);
  const shown = leaves.slice(0, linesMax).map(({ name, value, pointer }) => {
    const amount = amounts.get(pointer);
    const { text, isWhole } = valueText(value);
    const nameText = shownText(name);
    return {
      line: { name: nameText.text, text: amount === undefined ? text : `${text} (${amount})` },
      isWhole: isWhole && nameText.isWhole,
    };
  });
  const more = leaves.length - shown.length;
  return {
    lines: [
      ...shown.map(({ line }) => line),
      ...(more > 0 ? [{ name: '…', text: `${more} more fields: open it in Writ` }] : []),
    ],
    isWhole: more <= 0 && shown.every((one) => one.isWhole),
  };
}

interface Leaf {
  /** The steps to the value, with the positions in lists. */
  readonly name: string;
  /** The path of the profile, in which the elements of a list are one. */
  readonly path: string;
  readonly pointer: string;
  readonly value: unknown;
}

function leavesOf(payload: JsonObject): readonly Leaf[] {
  const leaves: Leaf[] = [];
  const walk = (value: unknown, at: Omit<Leaf, 'value'>): void => {
    const entries = secretDigest(value) === null ? entriesOf(value) : null;
    if (entries === null || (entries.length === 0 && at.pointer !== '')) {
      leaves.push({ ...at, value });
      return;
    }
    for (const [step, inner] of entries) {
      const path = pathInto(at.path, value, step);
      const name = Array.isArray(value) ? `${at.name}[${step}]` : pathInto(at.name, value, step);
      const pointer = `${at.pointer}/${step.replaceAll('~', '~0').replaceAll('/', '~1')}`;
      walk(inner, { name, path, pointer });
    }
  };
  walk(payload, { name: '', path: '', pointer: '' });
  return leaves;
}

interface ShownText {
  readonly text: string;
  readonly isWhole: boolean;
}

function valueText(value: unknown): ShownText {
  if (secretDigest(value) !== null) return { text: '(secret)', isWhole: true };
  if (typeof value === 'string') return value === '' ? { text: '""', isWhole: true } : shownText(value);
  return { text: JSON.stringify(value), isWhole: true };
}

/** A text in one line, with its invisible characters as code points, cut when it is long. */
function shownText(text: string): ShownText {
  const isWhole = text.length <= textMax;
  const pieces = textPieces(isWhole ? text : cutText(text, textMax));
  const visible = pieces.map(({ text: piece, codePoint }) => (codePoint === null ? piece : `⟨${codePoint}⟩`));
  const line = visible.join('').replaceAll('\n', ' ⏎ ');
  return { text: isWhole ? line : `${line}… (${text.length - textMax} more characters)`, isWhole };
}

async function reviewLines(
  { reviewOf, profileOf }: MessageDeps,
  seen: RequestSnapshot,
): Promise<readonly string[]> {
  const { record } = seen.state;
  const review = await reviewOf(seen);
  const profile = await profileOf(record.agentId, record.actionKey);
  const unusual = leavesOf(record.payload).flatMap(({ name, path, value }) => {
    const note = profileNoteOf(profile, path, value);
    return note?.isUnusual === true ? [`Unusual ${name}: ${note.words}`] : [];
  });
  const { invisible } = aboutJson(record.payload);
  const places = [
    ...invisible,
    ...(hasInvisible(record.decision.reason) ? ['the reason'] : []),
    ...(hasInvisible(record.agent.name ?? '') ? ['the name of the agent'] : []),
  ];
  const all = [
    ...(places.length === 0 ? [] : [`Contains invisible characters: ${places.join(', ')}`]),
    ...review.confusables.map(confusableText),
    ...(review.warnings.includes('high_risk') ? ['High risk'] : []),
    ...unusual,
  ].map((text) => shownText(text).text);
  const more = all.length - warningsMax;
  return more <= 0 ? all : [...all.slice(0, warningsMax), `${more} more warnings: open it in Writ`];
}

function confusableText(one: MessageReview['confusables'][number]): string {
  const { path, value, scripts, confusable_with: known, characters } = one;
  const names = characters.map(({ code_point, name }) => `${code_point} ${name}`.trim()).join('; ');
  const mixes = scripts.length === 0 ? '' : ` mixes ${scripts.join(' and ')}`;
  const like = known === null ? '' : `; it looks like ${known.value}, granted ${known.count} times before`;
  return `Letters that may deceive: ${path}${mixes}: ${value} (${names})${like}`;
}

const serviceNames: Readonly<Record<ChatService, string>> = { slack: 'Slack', teams: 'Teams' };

async function voteLines(
  { nameOf }: Pick<MessageDeps, 'nameOf'>,
  votes: readonly Vote[],
  request: 'open' | 'over',
): Promise<readonly string[]> {
  return await Promise.all(
    votes.map(async ({ person, email, isApproved, group, comment, chat, invalidReason }) => {
      const name = (await nameOf(person))?.name ?? email;
      const door = chat === undefined ? '' : ` by ${serviceNames[chat.service]}`;
      const what = isApproved ? `approved${group === null ? '' : ` for ${group}`}` : 'rejected';
      const words = comment === '' ? '' : `: ${comment}`;
      const fallen =
        invalidReason === null || request === 'over' ? '' : ` (no longer counts: ${invalidReason})`;
      return shownText(`${name} ${what}${door}${words}${fallen}`).text;
    }),
  );
}

function statusLines({ state, nowMs }: RequestSnapshot): readonly string[] {
  const { status, requires, expires_at } = requestSummary(state, nowMs);
  switch (status) {
    case 'pending':
      return [
        ...(requires?.approvals ?? []).map(({ group, needs, given }) => {
          const open = needs - given;
          return `Needs ${open} more ${open === 1 ? 'approval' : 'approvals'} by ${group}.`;
        }),
        ...(requires?.step_up === true ? ['Needs a step-up of the control owner.'] : []),
      ].map((text) => shownText(text).text);
    case 'approved':
    case 'auto_approved':
      return [`Approved, valid until ${readableTime(expires_at)}.`];
    case 'rejected':
      return ['Rejected.'];
    case 'expired':
      return state.decidedAtMs === null
        ? ['Expired: nobody decided it in time.']
        : [`Approved on ${readableTime(isoTime(state.decidedAtMs))}; the grant has ended.`];
    case 'consumed':
      return ['Approved, and the outcome is reported.'];
    case 'withdrawn':
      return ['Withdrawn by the agent.'];
  }
}
