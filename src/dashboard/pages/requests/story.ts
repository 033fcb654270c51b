// How a request stands into what happened to it, in order, and into who could do something about it. INVARIANT: only what
// the service has said is told; a time that it has not said is left out.

import type { Operations } from '../../api/types.ts';

export type RequestDetail = Operations['getRequest']['reply'];

export interface StoryEvent {
  readonly kind: 'asked' | 'approved' | 'rejected' | 'decided' | 'waits' | 'ends' | 'ended' | 'used';
  readonly at: string | null;
  /** Who did it, where it was a person; with address and id as the record has it. */
  readonly by: string | null;
  readonly text: string;
  readonly comment: string | null;
}

export function storyOf(request: RequestDetail, nowMs: number): readonly StoryEvent[] {
  const { created_at, decided_at, expires_at, status, approvals } = request;
  const plain = { by: null, comment: null } as const;
  const asked: StoryEvent = { ...plain, kind: 'asked', at: created_at, text: 'asked' };
  const words = approvals.map(
    ({ by, group, is_approved, comment, at }): StoryEvent => ({
      ...{ kind: is_approved ? 'approved' : 'rejected', at, by, comment },
      text: `${is_approved ? 'approved' : 'rejected'}${group === null ? '' : ` for ${group}`}`,
    }),
  );
  const isOver = Date.parse(expires_at) <= nowMs;
  const decided = (text: string): StoryEvent => ({ ...plain, kind: 'decided', at: decided_at, text });
  const ends: StoryEvent = isOver
    ? { ...plain, kind: 'ended', at: expires_at, text: 'The grant ended' }
    : { ...plain, kind: 'ends', at: expires_at, text: 'The grant ends' };
  const before = [asked, ...words];
  switch (status) {
    case 'pending':
      return [...before, { ...plain, kind: 'waits', at: expires_at, text: 'Deadline for people' }];
    case 'auto_approved':
      return [...before, decided('Granted by the policies'), ends];
    case 'approved':
      return [...before, decided('Granted'), ends];
    case 'rejected':
      return approvals.some(({ is_approved }) => !is_approved)
        ? before
        : [...before, decided('Refused by the policies')];
    case 'expired':
      return request.decision !== 'ALLOW'
        ? [...before, { ...plain, kind: 'ended', at: expires_at, text: 'The deadline passed' }]
        : [
            ...before,
            decided('Granted'),
            { ...plain, kind: 'ended', at: expires_at, text: 'The grant ended' },
          ];
    case 'consumed':
      return [
        ...before,
        decided('Granted'),
        { ...plain, kind: 'used', at: null, text: 'What became of it was reported' },
      ];
  }
}

interface Caller {
  readonly id: string;
  readonly email: string;
  readonly groups: readonly string[];
}

/** Whether the agent is theirs: it names its control owner by address or id. */
export function isOwnAgent({ agent }: Pick<RequestDetail, 'agent'>, { id, email }: Caller): boolean {
  const { control_owner: owner } = agent;
  return typeof owner === 'string' && (owner === id || owner.toLowerCase() === email.toLowerCase());
}

/** Whether the request waits for a step-up that is this person's to give. */
export function isStepUpOf(
  request: Pick<RequestDetail, 'agent' | 'status' | 'requires'>,
  caller: Caller,
): boolean {
  return request.status === 'pending' && request.requires?.step_up === true && isOwnAgent(request, caller);
}

/** Groups that are asked, to which the person belongs. */
export function groupsToAnswerFor(
  { requires }: Pick<RequestDetail, 'requires'>,
  { groups }: Caller,
): readonly string[] {
  return (requires?.approvals ?? []).map(({ group }) => group).filter((group) => groups.includes(group));
}

/** "ben@example.com (b3f1…)" without the id. */
export function personWords(by: string): string {
  return by.replace(/ \([0-9a-f-]{36}\)$/, '');
}
