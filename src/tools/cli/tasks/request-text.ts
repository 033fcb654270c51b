// Renders a request of a running service as lines for people.

import { localTime } from '../output/local-time.ts';
import { printable } from '../output/table.ts';

/** The printed fields of a request; `--json` prints the whole reply. */
export interface ShownRequest {
  readonly request_id: string;
  readonly decision: string;
  readonly status: string;
  readonly reason: string;
  readonly matched_policy: string;
  readonly risk_score: number;
  readonly message: string;
  readonly expires_at: string;
  readonly action_key: string;
  /** What it is about, in one line; may be empty. */
  readonly title: string;
  readonly agent: { readonly id?: string; readonly name?: string };
  readonly payload?: unknown;
  readonly resolved?: readonly { readonly pointer: string; readonly resolved: string }[];
  readonly approvals?: readonly ShownVote[];
  readonly created_at: string;
}

interface ShownVote {
  readonly by: string;
  readonly group: string | null;
  readonly is_approved: boolean;
  readonly comment: string;
  readonly at: string;
  /** Why it no longer counts; null while it does. */
  readonly fell_away: string | null;
}

export function requestText(one: ShownRequest): string {
  const payload = JSON.stringify(one.payload ?? {}, null, 2).replaceAll('\n', '\n  ');
  const lines = [
    `${one.request_id}  ${one.decision}, ${one.status} until ${localTime(one.expires_at)}`,
    `  agent     ${one.agent.name ?? one.agent.id ?? ''}`,
    `  action    ${one.action_key}`,
    ...(one.title === '' ? [] : [`  about     ${one.title}`]),
    `  asked at  ${localTime(one.created_at)}`,
    `  policy    ${one.matched_policy} (risk ${one.risk_score})`,
    `  reason    ${one.reason}`,
    `  now       ${one.message}`,
    ...votesText(one.approvals ?? []),
    `  payload   ${payload}`,
    ...(one.resolved ?? []).map(({ pointer, resolved }) => `  resolved  ${pointer}: ${resolved}`),
  ];
  return `${printable(lines.join('\n'))}\n`;
}

function votesText(votes: readonly ShownVote[]): readonly string[] {
  if (votes.length === 0) return ['  approvals none'];
  return votes.map(({ by, group, is_approved, comment, at, fell_away }) => {
    const what = `${by} ${is_approved ? 'approved' : 'rejected'}${group === null ? '' : ` for ${group}`}`;
    const isOver = fell_away === null ? '' : `; it no longer counts: ${fell_away}`;
    return `  approvals ${what}, ${localTime(at)}: ${comment}${isOver}`;
  });
}
