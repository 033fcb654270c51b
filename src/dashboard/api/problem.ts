// What went wrong with a call, in the service's own words if it gave any.

export interface ProblemLocation {
  readonly pointer: string;
  readonly detail: string;
}

/** A class because it is thrown. */
export class ApiProblem extends Error {
  /** A code of the table of errors; `unreachable` when no reply came. */
  readonly code: string;
  /** HTTP status; 0 when no reply came. */
  readonly status: number;
  readonly title: string;
  readonly errors: readonly ProblemLocation[];
  readonly requestId: string | null;

  constructor(facts: {
    readonly code: string;
    readonly status: number;
    readonly title: string;
    readonly detail: string;
    readonly errors?: readonly ProblemLocation[];
    readonly requestId?: string | null;
  }) {
    super(facts.detail);
    this.code = facts.code;
    this.status = facts.status;
    this.title = facts.title;
    this.errors = facts.errors ?? [];
    this.requestId = facts.requestId ?? null;
  }
}

/** For a change, the message warns that it may have been stored: without a reply nobody knows. */
export function unreachable(method: string): ApiProblem {
  return new ApiProblem({
    code: 'unreachable',
    status: 0,
    title: 'Writ cannot be reached',
    detail:
      method === 'GET'
        ? 'check your connection and try again'
        : 'this may not have been saved: check before you send it again',
  });
}

/** Whether no answer came, or a proxy answered for the service: the service's own answers have a code. */
export function isCutOff({ code }: ApiProblem): boolean {
  return code === 'unreachable' || /^http_50[234]$/.test(code);
}

/** The problem that a reply reports, whatever its body is. */
export async function problemOf(reply: Response): Promise<ApiProblem> {
  const body = (await reply.json().catch(() => null)) as Record<string, unknown> | null;
  return problemIn(body, reply.status, reply.headers.get('retry-after'));
}

/** The problem that an object of the service describes, whatever the object holds. */
export function problemIn(
  body: Readonly<Record<string, unknown>> | null,
  status: number,
  retryAfter: string | null = null,
): ApiProblem {
  const text = (value: unknown, other: string) => (typeof value === 'string' ? value : other);
  const errors = Array.isArray(body?.errors) ? (body.errors as ProblemLocation[]) : [];
  const detail = text(body?.detail, 'the service gave no reason');
  return new ApiProblem({
    code: text(body?.type, '').replace('urn:writ:error:', '') || `http_${status}`,
    status,
    title: text(body?.title, `The service answered ${status}`),
    detail: retryAfter === null ? detail : `${detail} (try again in ${retryAfter} s)`,
    errors,
    requestId: typeof body?.instance === 'string' ? body.instance : null,
  });
}
