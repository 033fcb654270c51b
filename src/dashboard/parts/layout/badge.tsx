// A decision, a status or a level as a word with a colour and a sign; colour is never the only signal.

import './badge.css';
import { Icon, type IconName } from './icon.tsx';

type Tone = 'allow' | 'deny' | 'escalate' | 'reauth' | 'unknown';

export function Badge({ tone, icon, children }: { tone: Tone; icon?: IconName; children: string }) {
  return (
    <span class={`badge badge-${tone}`}>
      {icon !== undefined && <Icon name={icon} size={13} />}
      {children}
    </span>
  );
}

const decisions: Readonly<
  Record<string, { readonly tone: Tone; readonly icon: IconName; readonly word: string }>
> = {
  ALLOW: { tone: 'allow', icon: 'allow', word: 'Allow' },
  DENY: { tone: 'deny', icon: 'deny', word: 'Deny' },
  ESCALATE: { tone: 'escalate', icon: 'escalate', word: 'Escalate' },
  REAUTH_REQUIRED: { tone: 'reauth', icon: 'reauth', word: 'Step-up' },
};

export function DecisionBadge({ decision }: { readonly decision: string }) {
  const { tone, icon, word } = decisions[decision] ?? { tone: 'unknown', icon: 'unknown', word: decision };
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}

const statuses: Readonly<Record<string, readonly [Tone, string]>> = {
  auto_approved: ['allow', 'Approved by policy'],
  approved: ['allow', 'Approved'],
  rejected: ['deny', 'Rejected'],
  pending: ['escalate', 'Waiting'],
  expired: ['unknown', 'Unanswered'],
  'grant-over': ['unknown', 'Grant over'],
  consumed: ['unknown', 'Used'],
  withdrawn: ['unknown', 'Withdrawn'],
  active: ['allow', 'Active'],
  disabled: ['escalate', 'Disabled'],
  revoked: ['deny', 'Revoked'],
};

interface StatusBadgeProps {
  readonly status: string;
  /** The decision on a request: it tells an expired grant from a request that nobody answered. */
  readonly decision?: string;
}

/** The status of a request, an agent or a person. */
export function StatusBadge({ status, decision }: StatusBadgeProps) {
  const [tone, word] = statusOf(status, decision);
  return <Badge tone={tone}>{word}</Badge>;
}

/** The word of the badge alone. */
export function statusWord(status: string, decision?: string): string {
  return statusOf(status, decision)[1];
}

function statusOf(status: string, decision?: string): readonly [Tone, string] {
  const shown = status === 'expired' && decision === 'ALLOW' ? 'grant-over' : status;
  return statuses[shown] ?? ['unknown', status];
}

/** A risk from 0 to 100, as a number with a bar. */
export function Risk({ score }: { readonly score: number }) {
  return (
    <span class="risk" title={`Risk ${score} of 100`}>
      <meter min={0} max={100} low={34} high={67} optimum={0} value={score} aria-hidden="true" />
      <span>
        <span class="visually-hidden">Risk </span>
        {score}
      </span>
    </span>
  );
}
