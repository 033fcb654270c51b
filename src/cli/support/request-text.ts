// Renders a request of a running service as lines for people.

import type { Reply } from '../../api/operations.ts';
import { requestStatusText } from '../../api/request-status.ts';
import type { UserFacts } from '../../language/model/request.ts';
import { localTime } from '../output/local-time.ts';
import { markForeignLetters, printable } from '../output/table.ts';

/** The printed fields of a request; `--json` prints the whole reply. */
export interface PrintedRequest {
  readonly request_id: string;
  readonly decision: string;
  readonly status: string;
  readonly reason: string;
  readonly matched_policy: string;
  readonly risk_score: number;
  readonly message: string;
  readonly expires_at: string;
  readonly action_key: string;
  /** What the request is about, in one line; may be empty. */
  readonly title: string;
  readonly agent: { readonly id?: string; readonly name?: string };
  readonly on_behalf_of?: { readonly user: UserFacts | null; readonly unknown: string | null } | null;
  readonly payload?: unknown;
  readonly resolved?: readonly { readonly pointer: string; readonly resolved: string }[];
  readonly approvals?: readonly VoteView[];
  readonly comments?: readonly CommentView[];
  readonly fallbacks?: Reply<'getRequest'>['fallbacks'];
  readonly step_ups?: readonly StepUpView[];
  readonly standing_approvals?: readonly { readonly rule: string; readonly id: string }[];
  readonly created_at: string;
  /** The plan that the request is a step of; null when it belongs to none. */
  readonly plan?: Reply<'getRequest'>['plan'];
  /** What approvers should know; null for an agent. */
  readonly review?: Reply<'getRequest'>['review'];
}

interface VoteView {
  readonly by: string;
  /** The person in whose place the vote was given; null when it is the voter's own. */
  readonly stands_in_for: string | null;
  readonly group: string | null;
  readonly is_approved: boolean;
  readonly comment: string;
  readonly at: string;
  /** Why the vote no longer counts; null while it does. */
  readonly invalid_reason: string | null;
}

interface CommentView {
  readonly by: string;
  readonly kind: string;
  readonly text: string;
  readonly at: string;
}

interface StepUpView {
  readonly by: string;
  /** The name of the passkey; null when a password and a code were given. */
  readonly passkey: string | null;
  readonly at: string;
}

export function requestText(one: PrintedRequest): string {
  const marked = (_key: string, value: unknown) =>
    typeof value === 'string' ? markForeignLetters(value) : value;
  const payload = JSON.stringify(one.payload ?? {}, marked, 2).replaceAll('\n', '\n  ');
  const lines = [
    `${one.request_id}  ${one.decision}, ${requestStatusText(one.status, one.decision).toLowerCase()} until ${localTime(one.expires_at)}`,
    `  agent     ${markForeignLetters(one.agent.name ?? one.agent.id ?? '')}`,
    ...forWhom(one).map((line) => `  for       ${line}`),
    `  action    ${one.action_key}`,
    ...(one.title === '' ? [] : [`  about     ${markForeignLetters(one.title)}`]),
    ...planLines(one).map((line) => `  plan      ${line}`),
    `  created   ${localTime(one.created_at)}`,
    `  policy    ${one.matched_policy} (risk ${one.risk_score})`,
    `  reason    ${markForeignLetters(one.reason)}`,
    `  now       ${markForeignLetters(one.message)}`,
    ...peopleLines(one).map((line, index) => `  ${index === 0 ? 'people' : '      '}    ${line}`),
    ...(one.standing_approvals ?? []).map(({ rule, id }) => `  standing  ${id} satisfies ${rule}`),
    ...deceptionLines(one).map((line) => `  warning   ${line}`),
    `  payload   ${payload}`,
    ...(one.resolved ?? []).map(({ pointer, resolved }) => `  resolved  ${pointer}: ${resolved}`),
  ];
  return `${printable(lines.join('\n'))}\n`;
}

/** What in the request may deceive a reader, a line each; none when nothing does. */
export function deceptionLines({ review = null }: PrintedRequest): readonly string[] {
  if (review === null || !review.warnings.includes('deceptive_letters')) return [];
  const lines = review.confusables.map(({ path, value, scripts, confusable_with: known, characters }) => {
    const notes = [
      ...(scripts.length > 0 ? [`mixes ${scripts.join(' and ')}`] : []),
      ...(known === null ? [] : [`looks like "${known.value}", granted ${known.count} times before`]),
      ...characters.map(({ code_point, name }) => `${code_point} ${name}`.trim()),
    ];
    return `${path}: "${value}" (${notes.join('; ')})`;
  });
  return lines.length > 0 ? lines : ['invisible characters, or letters of several scripts in a name'];
}

/** The user on whose behalf the agent asks, or why the user is unknown. */
function forWhom({ on_behalf_of: onBehalf = null }: PrintedRequest): readonly string[] {
  if (onBehalf === null) return [];
  const { user, unknown } = onBehalf;
  return [user === null ? `unknown: ${unknown}` : (user.email ?? user.id ?? '')];
}

/** The plan of which the request is a step. */
function planLines({ plan = null }: PrintedRequest): readonly string[] {
  if (plan === null) return [];
  const { id, goal, step, steps } = plan;
  return [`${id}, step ${step} of ${steps}${goal === null ? '' : `: ${markForeignLetters(goal)}`}`];
}

/** What people did about the request, the earliest first. */
function peopleLines({
  approvals = [],
  comments = [],
  fallbacks = [],
  step_ups: stepUps = [],
}: PrintedRequest): readonly string[] {
  const done = [
    ...approvals.map((one) => ({ at: one.at, text: voteText(one) })),
    ...comments.map(({ at, by, kind, text }) => ({
      at,
      text: `${by} ${kind === 'question' ? 'asked' : 'wrote'}: ${text}`,
    })),
    ...fallbacks.map(({ at, any_of: anyOf }) => {
      const whom = anyOf.map(({ group, name, person }) => group ?? name ?? person ?? 'an unknown approver');
      return { at, text: `nobody had decided, so ${whom.join(' or ')} may approve as well` };
    }),
    ...stepUps.map(({ at, by, passkey }) => ({
      at,
      text: `${by} stepped up with ${passkey === null ? 'password and code' : `the passkey "${passkey}"`}`,
    })),
  ];
  const lines = done.sort((a, b) => Date.parse(a.at) - Date.parse(b.at));
  if (lines.length === 0) return ['no votes yet'];
  return lines.map(({ at, text }) => `${localTime(at)}  ${text.replaceAll('\n', ' ')}`);
}

function voteText({
  by,
  stands_in_for: absent,
  group,
  is_approved: isApproved,
  comment,
  invalid_reason: fellAway,
}: VoteView): string {
  const vote = `${isApproved ? 'approved' : 'rejected'}${group === null ? '' : ` for ${group}`}`;
  const inPlace = absent === null ? '' : ` in the place of ${absent}`;
  const gone = fellAway === null ? '' : ` (no longer counts: ${fellAway})`;
  return `${by} ${vote}${inPlace}${comment === '' ? '' : `: ${comment}`}${gone}`;
}
