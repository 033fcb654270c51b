// A decision, a status or a level as a word with a colour and a sign; colour is never the only signal.

import { requestStatusText } from '../../../api/request-status.ts';
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

/** Tones of the statuses of requests, agents and people; those of requests have their words in the API. */
const tones: Readonly<Record<string, Tone>> = {
  auto_approved: 'allow',
  approved: 'allow',
  rejected: 'deny',
  pending: 'escalate',
  active: 'allow',
  disabled: 'escalate',
  revoked: 'deny',
};

const otherWords: Readonly<Record<string, string>> = {
  active: 'Active',
  disabled: 'Disabled',
  revoked: 'Revoked',
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
  return [tones[status] ?? 'unknown', otherWords[status] ?? requestStatusText(status, decision)];
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
