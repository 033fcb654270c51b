// /v1/requests/export: the requests that a list finds, as one file: JSON Lines for programs, CSV for tables.
// INVARIANT: memory is bounded by one stretch of rows, and other work has its turn between two stretches.

import { setImmediate as pause } from 'node:timers/promises';
import { isoTime } from '../../../../language/value/iso-time.ts';
import { csvCell } from '../../../audit/export.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { validSeconds } from '../../../requests/record/lifecycle.ts';
import { type RequestDetail, requestDetail } from '../../../requests/record/reply.ts';
import { type RequestState, requestStateOf } from '../../../requests/record/request-state.ts';
import type { RequestFilter, RequestPosition, Store } from '../../../store/contract/store.ts';
import type { Parameter } from '../../contract/operation.ts';
import type { Downloads } from '../../routing/downloads.ts';
import { type Route, route } from '../../routing/route.ts';
import { readRequestFilter, requestFilters } from './request-filter.ts';

interface RequestExportDeps {
  readonly signInDeps: SignInDeps;
  readonly store: Store;
  readonly downloads: Downloads;
}

const formats = ['jsonl', 'csv'] as const;
type Format = (typeof formats)[number];

const format: Parameter = {
  name: 'format',
  in: 'query',
  isRequired: false,
  example: 'csv',
  description: 'The format of the file.',
  schema: { type: 'string', enum: formats, default: 'jsonl' },
};

const rowsMax = 100_000;
/** Rows that are read in one step, so few that no other work is held up. */
const rowsAtOnce = 50;

const csvColumns = {
  request_id: (one) => one.request_id,
  created_at: (one) => one.created_at,
  decided_at: (one) => one.decided_at,
  agent_id: (one) => one.agent.id,
  agent: (one) => one.agent.name,
  risk_tier: (one) => one.agent.risk_tier,
  control_owner: (one) => one.agent.control_owner,
  action_key: (one) => one.action_key,
  title: (one) => one.title,
  decision: (one) => one.decision,
  status: (one) => one.status,
  matched_policy: (one) => one.matched_policy,
  reason: (one) => one.reason,
  risk_score: (one) => one.risk_score,
  message: (one) => one.message,
  expires_at: (one) => one.expires_at,
  approvals: (one) => JSON.stringify(one.approvals),
  payload: (one) => JSON.stringify(one.payload),
  digest: (one) => one.digest,
  policy_set: (one) => one.policy_set.digest,
  commit: (one) => one.policy_set.commit,
} as const satisfies Readonly<Record<string, (one: RequestDetail) => string | number | null | undefined>>;

const csvNames = Object.keys(csvColumns);

const exportRequests = route<RequestExportDeps>({
  method: 'GET',
  url: '/v1/requests/export',
  access: 'requests.view',
  operation: {
    id: 'exportRequests',
    summary: `Exports up to ${rowsMax.toLocaleString('en')} requests as a file, newest first`,
    description:
      'In JSON Lines, each line is the reply of `GET /v1/requests/{id}` with a null `allowed_actions`, and with `recorded` for `writ replay`: the first decision, its facts, and the events of the request. In CSV, each row has the same data without the trace; values that a spreadsheet could read as formulas start with an apostrophe.',
    parameters: [format, ...requestFilters],
    replies: {
      200: {
        description: 'The requests',
        contentType: ['application/jsonl', 'text/csv'],
        schema: { description: 'JSON Lines or CSV.' },
        example: `${csvNames.join(',')}\r\n`,
        headers: ['Content-Disposition'],
      },
    },
  },
  handle: async (
    {
      store,
      downloads,
      signInDeps: {
        directory: { clock },
      },
    },
    call,
  ) => {
    const atMs = clock();
    const filter = await readRequestFilter(store, call, atMs);
    const format = formats.find((one) => one === call.query.format) ?? 'jsonl';
    const lines = linesOf(store, filter, format);
    return downloads.send(call.reply, { subject: 'requests', format, atMs, lines });
  },
});

export const requestExportRoutes: readonly Route<RequestExportDeps>[] = [exportRequests];

async function* linesOf(store: Store, asked: RequestFilter, format: Format): AsyncGenerator<string> {
  if (format === 'csv') yield `${csvNames.join(',')}\r\n`;
  let after: RequestPosition | null = null;
  for (let left = rowsMax; left > 0; ) {
    const countMax = Math.min(left, rowsAtOnce);
    const { items: found, next } = await store.requests.list({ ...asked, after, countMax });
    let lines = '';
    for (const one of found.map(requestStateOf)) {
      const detail = requestDetail(one, asked.nowMs);
      lines += format === 'csv' ? csvLine(detail) : jsonLine(detail, await recordedOf(store, one));
    }
    if (lines !== '') yield lines;
    left -= found.length;
    if (next === null) return;
    after = next;
    await pause();
  }
}

function jsonLine(request: RequestDetail, recorded: object): string {
  return `${JSON.stringify({ ...request, recorded })}\n`;
}

/** What deciding a request again needs besides its payload and its agent, and what became of the request. */
async function recordedOf(store: Store, { record, seen }: RequestState): Promise<object> {
  const { id, decision, request, meters, rows, satisfied, chain, createdAtMs } = record;
  const events = seen === 0 ? [] : await store.requests.events(id);
  return {
    decision,
    request,
    meters,
    ...(rows && { rows }),
    satisfied,
    ...(chain && { chain }),
    expires_at: isoTime(createdAtMs + validSeconds(decision) * 1_000),
    events: events.map(({ what, atMs, state, detail }) => ({
      what,
      at: isoTime(atMs),
      expires_at: isoTime(state.expiresAtMs),
      detail,
    })),
  };
}

function csvLine(request: RequestDetail): string {
  const cells = Object.values(csvColumns).map((cellOf) => csvCell(String(cellOf(request) ?? '')));
  return `${cells.join(',')}\r\n`;
}
