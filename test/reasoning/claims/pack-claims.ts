// Claims about the packs of the project whose answers people worked out: some must be proved, the others
// refuted.

export interface PackClaim {
  readonly pack: 'payments' | 'banking' | 'slack' | 'travel' | 'workspace' | 'retail';
  readonly on: string;
  readonly claim: string;
}

export function claimsOn(
  pack: PackClaim['pack'],
  on: string,
  texts: readonly string[],
): readonly PackClaim[] {
  return texts.map((claim) => ({ pack, on, claim }));
}

export const trueClaims: readonly PackClaim[] = [
  ...claimsOn('payments', 'payment.create', [
    'never allow when payload.amount > 10_000 USD',
    'never allow when payload.amount > 2_000 USD and payload.vendor == "Nobody Ltd"',
    'always deny when payload.vendor in blocked_vendors',
    'always deny when payload.amount > 10_000.01 USD and payload.vendor == "Staples"',
    'never allow unapproved when payload.amount > 1_000 USD',
    'never allow when 2 * payload.amount > 20_000 USD',
    'never allow unapproved when payload.amount + 5_000 USD > 6_000 USD',
    'never allow unapproved when payload.vendor not in known_vendors',
    'never allow unapproved when risk >= 60',
    'never allow unapproved when off_hours and agent.risk_tier == "critical"',
    'never allow when risk >= 60',
    'never reauth when not off_hours',
    'never escalate when payload.vendor in blocked_vendors',
    'always deny when payload.vendor not in known_vendors and payload.amount > 2_000 USD',
  ]),
  ...claimsOn('banking', 'banking.send_money', [
    'never allow unapproved when payload.recipient not in known_payees',
    'never allow unapproved when payload.amount > single_limit',
    'never allow when payload.amount > 10_000',
    'always deny when payload.amount >= 10_000.01',
    'never allow unapproved when paid_24h > daily_limit',
    "never allow unapproved when payload.subject matches '.*CH93[0-9]{12,}.*'",
    'never reauth',
  ]),
  ...claimsOn('banking', 'banking.read_file', [
    'never allow when payload.file_path starts with "/etc"',
    'never allow when payload.file_path inside "/etc"',
    'never allow when payload.file_path contains ".." and payload.file_path contains "/"',
    'never allow when not (payload.file_path like "*.txt")',
    'never escalate',
  ]),
  ...claimsOn('banking', 'banking.update_scheduled_transaction', [
    'never allow unapproved when payload has recipient',
    'never allow unapproved when payload has amount and payload.amount > 1_500',
    'never deny when not (payload has amount)',
    'always deny when payload has amount and payload.amount > 10_000',
  ]),
  ...claimsOn('banking', 'banking.update_user_info', [
    'never allow unapproved when payload has first_name',
    'never escalate',
    'never deny',
  ]),
  ...claimsOn('banking', 'banking.update_password', [
    'never allow unapproved',
    'never deny',
    'always reauth when risk >= 101',
  ]),
  ...claimsOn('banking', 'banking.get_iban', ['always allow']),
  ...claimsOn('slack', 'slack.get_webpage', [
    'never allow unapproved when host(payload.url) == "evil.example"',
    'never allow unapproved when payload.url contains "?"',
    'never allow unapproved when host(payload.url) ends with ".evil"',
    'never deny',
    'never reauth',
  ]),
  ...claimsOn('slack', 'slack.send_direct_message', [
    'never allow unapproved when payload.body mentions any of ["password"]',
    'never allow unapproved when payload.body contains "://"',
    "never allow unapproved when payload.body matches '.*see www\\.evil\\.example.*'",
    'never deny',
  ]),
  ...claimsOn('slack', 'slack.add_user_to_channel', [
    'never allow unapproved when payload.channel == "private"',
    'always allow when payload.channel == "general"',
    'never deny',
  ]),
  ...claimsOn('slack', 'slack.invite_user_to_slack', [
    'never allow unapproved',
    'always escalate when risk > 100',
  ]),
  ...claimsOn('slack', 'slack.post_webpage', [
    'never allow unapproved when host(payload.url) not in own_sites',
    'never allow unapproved when payload.content mentions any of confidential_words',
    'never escalate when risk < 40 and payload.url == "https://www.our-company.com/news" and payload.content == "Lunch"',
    'never deny',
  ]),
];

export const falseClaims: readonly PackClaim[] = [
  ...claimsOn('payments', 'payment.create', [
    'never allow when payload.amount > 9_999 USD',
    'never allow when payload.amount >= 10_000 USD',
    'never allow unapproved when payload.vendor == "Staples"',
    'never reauth',
    'never escalate',
    'always allow when payload.vendor in known_vendors',
    'never deny when payload.amount <= 1 USD',
    'never allow when off_hours',
    'never reauth when agent.risk_tier == "low"',
    'never allow when now < 2026-06-01T00:00Z',
    'never allow when now == 2026-12-25T12:00:00Z',
  ]),
  ...claimsOn('banking', 'banking.send_money', [
    'never allow unapproved when payload.amount > 500',
    'never allow when payload.amount > 1_000',
    'never allow unapproved when payload.subject contains "CH"',
    'always deny when payload.recipient not in known_payees',
    'never allow when paid_24h > daily_limit',
  ]),
  ...claimsOn('banking', 'banking.read_file', [
    'never allow when payload.file_path starts with "etc"',
    'never allow when payload.file_path contains ".."',
    'always allow when payload.file_path like "*.txt"',
  ]),
  ...claimsOn('banking', 'banking.update_scheduled_transaction', [
    'never allow unapproved when payload has amount',
    'never escalate when payload has recipient',
  ]),
  ...claimsOn('slack', 'slack.get_webpage', [
    'never allow unapproved when scheme(payload.url) == "http"',
    'never allow unapproved when host(payload.url) == "www.eve-blog.com"',
    'never allow unapproved when payload.url contains "evil.com"',
    'never escalate',
  ]),
  ...claimsOn('slack', 'slack.send_direct_message', [
    'never allow unapproved',
    'never escalate when payload.body mentions any of ["password"]',
    'always allow when length(payload.body) < 10',
  ]),
  ...claimsOn('slack', 'slack.add_user_to_channel', [
    'never allow unapproved when payload.channel starts with "gen"',
  ]),
  ...claimsOn('slack', 'slack.post_webpage', [
    'never allow unapproved',
    'never escalate when risk < 40',
    'never escalate when risk < 41',
  ]),
];
