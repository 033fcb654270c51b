// Sorts the kinds of management changes into families: what they change, and whether what they hold is sent. INVARIANT:
// the values before and after a change are sent only for families listed here that hold no value of a payload; a kind
// of change that is not listed is sent without them.

export interface ChangeFamily {
  /** `account`: a person or their factors. `entity`: anything else that is managed. */
  readonly of: 'account' | 'authentication' | 'group' | 'entity';
  /** What is changed, in one word. */
  readonly type: string;
  readonly isContentSent: boolean;
}

const sent = (of: ChangeFamily['of'], type: string): ChangeFamily => ({ of, type, isContentSent: true });
const withheld = (type: string): ChangeFamily => ({ of: 'entity', type, isContentSent: false });

/** By the beginning of the kind; a longer one comes before a shorter one that it begins with. */
const families: readonly (readonly [string, ChangeFamily])[] = [
  ['signed-in', sent('authentication', 'session')],
  ['person-signed-on', sent('authentication', 'session')],
  ['session', sent('authentication', 'session')],
  ['stepped-up', sent('authentication', 'agent')],
  ['recovery-code-used', sent('authentication', 'person')],
  ...(
    [
      ...['person-', 'invitation-', 'access-', 'password-', 'codes-', 'passkey-', 'factors-'],
      ...['recovery-codes-', 'reset-link-', 'first-admin-', 'set-up-link-', 'provisioning-'],
    ] as const
  ).map((begin) => [begin, sent('account', 'person')] as const),
  ['token-', sent('entity', 'token')],
  ['group-', sent('group', 'group')],
  ['agent-', sent('entity', 'agent')],
  ['key-', sent('entity', 'agent')],
  ['signing-', sent('entity', 'agent')],
  ['point-', sent('entity', 'enforcement point')],
  ['delegation-', sent('entity', 'delegation')],
  ['kill-switch-', sent('entity', 'kill switch')],
  ['webhook-', sent('entity', 'webhook')],
  ['alert-rule-', sent('entity', 'alert rule')],
  ['alert-', sent('entity', 'alert')],
  ['policies-', sent('entity', 'policies')],
  ['receipt-keys-', sent('entity', 'receipt keys')],
  ['records-', sent('entity', 'records')],
  ['state-', sent('entity', 'store')],
  ['store-', sent('entity', 'store')],
  ['table-row-', withheld('table row')],
  ['plan-', withheld('plan')],
  ['proposal-', withheld('proposal')],
  ['standing-approval-', withheld('standing approval')],
];

const other = withheld('other');

export function familyOf(what: string): ChangeFamily {
  return families.find(([begin]) => what.startsWith(begin))?.[1] ?? other;
}
