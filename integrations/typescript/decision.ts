// Turns a reply of the service into what the asking program may do. INVARIANT: a reply is `allowed` only if
// every field is as the service sends it for a grant; any other reply is a refusal.

export interface AllowedDecision {
  readonly kind: 'allowed';
  readonly requestId: string;
  /** The action must begin before this time. */
  readonly expiresAt: Date;
  /** The receipt for the tool that carries the action out; absent when receipts are not asked for. */
  readonly receipt?: string;
  /**
   * The fields of the result that the action declares: what the call returned is reported before anyone reads
   * it. Absent when the action declares no result.
   */
  readonly resultFields?: readonly string[];
}

export interface DeniedDecision {
  readonly kind: 'denied';
  /** The id of the request; null when nothing was decided. */
  readonly requestId: string | null;
  readonly reason: string;
  /** The policy that decided, or a code of the service or of this client. */
  readonly policy: string;
  /** The refusal in words, for a model: what has refused the call, and whether the same call can help. */
  readonly message: string;
  /**
   * A change that would pass, such as `payload.amount <= 1000 USD`; present when the service is set to tell
   * it to this agent.
   */
  readonly change?: string;
}

export interface PendingDecision {
  readonly kind: 'waiting';
  readonly requestId: string;
  readonly for: 'approval' | 'reauthentication';
  readonly until: Date;
  /** Text for a model: who has to decide, until when, and the address where people see the request. */
  readonly message: string;
  /** The address where people see the request. */
  readonly url: string;
}

export type Decision = AllowedDecision | DeniedDecision | PendingDecision;

export interface RequestStatus {
  readonly requestId: string;
  readonly status: string;
  readonly reason: string;
  readonly policy: string;
  /** A text about what to do now. */
  readonly message: string;
  readonly until: Date;
}

export interface PossibleAction {
  readonly action: string;
  readonly grant: 'never' | 'after_approval' | 'possible';
}

/** A refusal by this client itself. */
export function refusal(policy: string, reason: string, requestId: string | null = null): DeniedDecision {
  return {
    kind: 'denied',
    requestId,
    reason,
    policy,
    message: `Nothing was granted: ${reason} (${policy}).`,
  };
}

/** The text for a model whose call has ended while people decide. */
export function waitingText({ message }: PendingDecision): string {
  return `${message} Nothing was carried out. Make the same call again to go on.`;
}

interface ReplyContext {
  /** The address of the service. */
  readonly base: string;
  /** The receipt from the reply's header; null when there is none. */
  readonly receipt: string | null;
  /** The change from the reply's header, encoded; null when there is none. */
  readonly change: string | null;
  readonly isReceiptNeeded: boolean;
  /** The names of result fields from the reply's header; null when there are none. */
  readonly result: string | null;
}

/** Reads the body of a reply with status 200. */
export function readDecision(body: unknown, read: ReplyContext): Decision {
  if (!isView(body)) return unreadable(null);
  const { request_id: requestId, decision, status, reason, matched_policy: policy } = body;
  const at = new Date(body.expires_at);
  if (Number.isNaN(at.getTime())) return unreadable(requestId);
  switch (`${decision} ${status}`) {
    case 'ALLOW auto_approved':
      return allowed(requestId, at, read);
    case 'DENY rejected':
      return { kind: 'denied', requestId, reason, policy, message: body.message, ...changeIn(read) };
    case 'ESCALATE pending':
    case 'REAUTH_REQUIRED pending': {
      const what = decision === 'ESCALATE' ? 'approval' : 'reauthentication';
      const url = new URL(`/requests/${encodeURIComponent(requestId)}`, read.base).href;
      return { kind: 'waiting', requestId, for: what, until: at, message: body.message, url };
    }
    default:
      return unreadable(requestId);
  }
}

/** Reads the body of a reply about a request; null when it is none. */
export function readRequestStatus(body: unknown): RequestStatus | null {
  if (!isView(body)) return null;
  const { request_id: requestId, status, reason, matched_policy: policy, message } = body;
  const until = new Date(body.expires_at);
  return Number.isNaN(until.getTime()) ? null : { requestId, status, reason, policy, message, until };
}

/** Reads the body of a reply about actions. An unknown word counts as `never`. */
export function readPossibleActions(body: unknown): readonly PossibleAction[] {
  const { items } = body as { readonly items: readonly Readonly<Record<string, unknown>>[] };
  return items.map(({ action_key, grant }) => ({
    action: String(action_key),
    grant: grant === 'possible' || grant === 'after_approval' ? grant : 'never',
  }));
}

function changeIn({ change }: ReplyContext): Pick<DeniedDecision, 'change'> {
  if (change === null) return {};
  try {
    return { change: decodeURIComponent(change) };
  } catch {
    return {};
  }
}

/** A grant. A caller that asks for receipts is refused without one. */
function allowed(
  requestId: string,
  expiresAt: Date,
  { receipt, result, isReceiptNeeded }: ReplyContext,
): Decision {
  const resultFields = readResultFields(result);
  const grant = {
    kind: 'allowed',
    requestId,
    expiresAt,
    ...(resultFields === undefined ? {} : { resultFields }),
  } as const;
  if (!isReceiptNeeded) return grant;
  if (receipt === null)
    return refusal('no_receipt', 'the service has granted this and sent no receipt', requestId);
  return { ...grant, receipt };
}

function unreadable(requestId: string | null): DeniedDecision {
  return refusal('unreadable', 'the reply of the service cannot be read as a decision', requestId);
}

interface View {
  readonly request_id: string;
  readonly decision: string;
  readonly reason: string;
  readonly matched_policy: string;
  readonly risk_score: number;
  readonly status: string;
  readonly message: string;
  readonly expires_at: string;
}

const texts = [
  'request_id',
  'decision',
  'reason',
  'matched_policy',
  'status',
  'message',
  'expires_at',
] as const;

function isView(body: unknown): body is View {
  if (typeof body !== 'object' || body === null) return false;
  const view = body as Readonly<Record<string, unknown>>;
  return texts.every((name) => typeof view[name] === 'string') && typeof view.risk_score === 'number';
}

/** Reads the header `Writ-Result`: the names of the declared fields; undefined when no result is declared. */
function readResultFields(header: string | null): readonly string[] | undefined {
  if (header === null || header === '') return undefined;
  try {
    return header.split(',').map((name) => decodeURIComponent(name.trim()));
  } catch {
    return undefined;
  }
}
