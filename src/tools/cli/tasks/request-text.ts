// Renders a request of a running service as lines for people.

import { printable } from '../client/api-client.ts';

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
  readonly approvals?: readonly unknown[];
  readonly created_at: string;
}

export function requestText(one: ShownRequest): string {
  const payload = JSON.stringify(one.payload ?? {}, null, 2).replaceAll('\n', '\n  ');
  const lines = [
    `${one.request_id}  ${one.decision}, ${one.status} until ${one.expires_at}`,
    `  agent     ${one.agent.name ?? one.agent.id ?? ''}`,
    `  action    ${one.action_key}`,
    ...(one.title === '' ? [] : [`  about     ${one.title}`]),
    `  asked at  ${one.created_at}`,
    `  policy    ${one.matched_policy} (risk ${one.risk_score})`,
    `  reason    ${one.reason}`,
    `  now       ${one.message}`,
    `  approvals ${JSON.stringify(one.approvals ?? [])}`,
    `  payload   ${payload}`,
    ...(one.resolved ?? []).map(({ pointer, resolved }) => `  resolved  ${pointer}: ${resolved}`),
  ];
  return `${printable(lines.join('\n'))}\n`;
}
