// The words for each kind of management change. A kind that is not listed is shown by its own name.

export const changeKindLabels = [
  ['agent-added', 'Agent registered'],
  ['agent-changed', 'Agent changed'],
  ['agent-disabled', 'Agent disabled'],
  ['agent-enabled', 'Agent enabled'],
  ['agent-revoked', 'Agent revoked'],
  ['key-rotated', 'Key rotated'],
  ['signing-changed', 'Signatures changed'],
  ['stepped-up', 'Stepped up'],
  ['plan-submitted', 'Plan submitted'],
  ['plan-previewed', 'Plan previewed'],
  ['standing-approval-revoked', 'Standing approval revoked'],
  ['policies-rolled-back', 'Policies rolled back'],
  ['proposal-made', 'Proposal made'],
  ['proposal-accepted', 'Proposal accepted'],
  ['proposal-rejected', 'Proposal rejected'],
  ['proposal-withdrawn', 'Proposal withdrawn'],
  ['proposal-not-written', 'Proposal not written'],
  ['kill-switch-created', 'Kill switch turned on'],
  ['kill-switch-deactivated', 'Kill switch turned off'],
  ['person-invited', 'Person invited'],
  ['invitation-accepted', 'Invitation accepted'],
  ['invitation-withdrawn', 'Invitation withdrawn'],
  ['person-changed', 'Person changed'],
  ['stand-in-named', 'Stand-in named'],
  ['stand-in-confirmed', 'Stand-in confirmed'],
  ['stand-in-ended', 'Stand-in ended'],
  ['first-admin-set-up', 'First admin set up'],
  ['set-up-link-made', 'Set-up link created'],
  ['access-applied-for', 'Access requested'],
  ['access-granted', 'Access granted'],
  ['access-declined', 'Access declined'],
  ['signed-in', 'Signed in'],
  ['password-changed', 'Password changed'],
  ['codes-set-up', 'One-time codes set up'],
  ['codes-removed', 'One-time codes removed'],
  ['factors-reset', 'Second factors reset'],
  ['recovery-codes-made', 'Recovery codes created'],
  ['recovery-code-used', 'Recovery code used'],
  ['reset-link-made', 'Reset link created'],
  ['password-reset', 'Password set by a reset link'],
  ['session-ended', 'Session ended'],
  ['sessions-ended', 'All sessions ended'],
  ['passkey-added', 'Passkey added'],
  ['passkey-removed', 'Passkey removed'],
  ['token-made', 'Token created'],
  ['chat-linked', 'Chat account linked'],
  ['chat-unlinked', 'Chat account unlinked'],
  ['token-removed', 'Token removed'],
  ['alert-began', 'Alert began'],
  ['alert-over', 'Alert over'],
  ['alert-rule-made', 'Alert rule added'],
  ['alert-rule-changed', 'Alert rule changed'],
  ['alert-rule-removed', 'Alert rule removed'],
  ['webhook-made', 'Webhook added'],
  ['webhook-changed', 'Webhook changed'],
  ['webhook-disabled', 'Webhook disabled'],
  ['webhook-secret-rotated', 'Webhook secret rotated'],
  ['webhook-removed', 'Webhook deleted'],
  ['records-pruned', 'Records pruned'],
  ['state-accepted', 'Stored state accepted'],
  ['policies-activated', 'Policies activated'],
  ['store-moved', 'Records moved'],
  ['store-restored', 'Restored from a backup'],
] as const;

const words: ReadonlyMap<string, string> = new Map(changeKindLabels);

export function changeText(what: string): string {
  return words.get(what) ?? what;
}

const fieldNames: Readonly<Record<string, string>> = { has_totp: 'one-time codes', totp: 'one-time codes' };

/** A field of a record by its path, for people: `control owner` for `controlOwner`, `old keys end` for `oldKeysEndMs`. */
export function fieldLabel(path: string): string {
  const words = path.split('.').map((name) => fieldNames[name] ?? plainWords(name));
  return words.join(', ');
}

function plainWords(name: string): string {
  const parts = name.replace(/(\p{Ll})(\p{Lu})/gu, '$1 $2').split(/[ _-]+/);
  const isMoment = parts.length > 1 && parts.at(-1)?.toLowerCase() === 'ms';
  return (isMoment ? parts.slice(0, -1) : parts).join(' ').toLowerCase();
}

/** What a kill switch stops, by its scope in the record; null for anything else. */
export function changedScope(scope: unknown): string | null {
  if (typeof scope !== 'object' || scope === null) return null;
  const { kind, tier, area } = scope as Readonly<Record<string, unknown>>;
  if (kind === 'all') return 'Everything';
  if (kind === 'tier') return `Agents of ${tier} risk`;
  if (kind === 'area') return `Actions of ${area}`;
  return kind === 'agent' ? 'One agent' : null;
}

/** The id of the agent that a kill switch stops, by its scope in the record; null for anything else. */
export function agentOfScope(scope: unknown): string | null {
  if (typeof scope !== 'object' || scope === null) return null;
  const { kind, agentId } = scope as Readonly<Record<string, unknown>>;
  return kind === 'agent' && typeof agentId === 'string' ? agentId : null;
}

/** The page of the agent that a kill switch stops; null for anything else. */
export function pageOfScope(scope: unknown): string | null {
  const agent = agentOfScope(scope);
  return agent === null ? null : `/agents/${encodeURIComponent(agent)}`;
}

const personChanges: ReadonlySet<string> = new Set([
  'person-changed',
  'invitation-accepted',
  'reset-link-made',
  'password-reset',
]);

/** Address of the page that shows the subject of a change; null when there is none. */
export function pageOfSubject(what: string, subject: string): string | null {
  const id = encodeURIComponent(subject);
  if (/^(agent|key|signing)-/.test(what) || what === 'stepped-up') return `/agents/${id}`;
  if (what.startsWith('plan-')) return `/plans/${id}`;
  if (what.startsWith('stand-in-')) return '/access';
  return personChanges.has(what) ? `/access?person=${id}` : null;
}
