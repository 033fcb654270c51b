// What changes of management are called, for people. One that is not named here is shown by its own name.

export const kindsOfChange = [
  ['agent-added', 'Agent registered'],
  ['agent-changed', 'Agent changed'],
  ['agent-disabled', 'Agent disabled'],
  ['agent-enabled', 'Agent enabled'],
  ['agent-revoked', 'Agent revoked'],
  ['key-rotated', 'Key rotated'],
  ['signing-changed', 'Signatures changed'],
  ['stepped-up', 'Stepped up'],
  ['policies-rolled-back', 'Policies rolled back'],
  ['switch-turned-on', 'Kill switch turned on'],
  ['switch-turned-off', 'Kill switch turned off'],
  ['person-invited', 'Person invited'],
  ['invitation-accepted', 'Invitation accepted'],
  ['invitation-withdrawn', 'Invitation withdrawn'],
  ['person-changed', 'Person changed'],
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

const words: ReadonlyMap<string, string> = new Map(kindsOfChange);

export function wordsOfChange(what: string): string {
  return words.get(what) ?? what;
}

const personChanges: ReadonlySet<string> = new Set([
  'person-changed',
  'invitation-accepted',
  'reset-link-made',
  'password-reset',
]);

/** Where the subject of a change is shown, of those that have a page; null of others. */
export function pageOfSubject(what: string, subject: string): string | null {
  const id = encodeURIComponent(subject);
  if (/^(agent|key|signing)-/.test(what) || what === 'stepped-up') return `/agents/${id}`;
  return personChanges.has(what) ? `/access?person=${id}` : null;
}
