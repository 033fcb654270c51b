// Claims about three more packs, on travel, an office and a shop, that no policy of the project was written
// for: some must be proved, the others refuted.

import { claimsOn, type PackClaim } from './pack-claims.ts';

export const heldOutTrue: readonly PackClaim[] = [
  ...claimsOn('travel', 'travel.reserve_hotel', [
    'never allow when payload.price > 2_000 EUR',
    'never allow unapproved when payload.price > 300 EUR',
    'never allow when payload.currency == "USD"',
    'never allow unapproved when payload.city not in home_cities',
    'never allow when nights > 5',
    'never allow when payload.start_day > 2028-01-01',
    'never allow unapproved when spent > 3_000 EUR',
    'always ask office when payload.city == "Rome"',
    'always ask traveller when payload.price > 300 EUR',
    'always ask traveller needs 2 when spent > 3_001 EUR',
    'never reauth when payload.price <= 100 EUR',
  ]),
  ...claimsOn('travel', 'travel.reserve_car', [
    'never allow unapproved when payload.seats >= 6',
    'never allow when payload.company == "Fast"',
    'allow only when payload.company ends with " Rentals" or payload.company starts with "Euro"',
    'always ask office needs 2 when payload.seats > 5',
    'never ask office when payload.seats < 6',
    'never reauth',
    'never escalate when payload.seats <= 5',
  ]),
  ...claimsOn('travel', 'travel.send_email', [
    'never allow unapproved when some r in payload.recipients (domain(r) == "evil.example")',
    'never allow when payload.body mentions any of ["passport"]',
    'always ask office when payload has attachments',
    'never allow when count r in payload.recipients (domain(r) != "company.example") >= 3',
  ]),
  ...claimsOn('travel', 'travel.open_page', [
    'never allow when host(payload.url) == "evil.example"',
    'never allow unapproved when scheme(payload.url) == "http"',
    'always ask traveller when scheme(payload.url) == "http"',
  ]),
  ...claimsOn('travel', 'travel.add_event', [
    'never allow when payload.day < 2026-01-01',
    'never allow when payload has participants and some p in payload.participants (not (p like "*@company.example"))',
    'never escalate',
  ]),
  ...claimsOn('workspace', 'file.read', [
    'never allow when payload.path like "*.pem"',
    'never allow when payload.path == "/etc/passwd"',
    'never escalate',
  ]),
  ...claimsOn('workspace', 'file.write', [
    'never allow unapproved when payload.size > 100_000',
    'never allow when bytes > 500_000',
    'never allow when payload.size > 500_000',
    'never allow unapproved when payload.path like "*.sh"',
    'always ask security when risk >= 70',
    'never allow unapproved when agent.risk_tier == "critical" and not request.signed',
    "never allow unapproved when payload.content matches '.*curl http://.*'",
  ]),
  ...claimsOn('workspace', 'file.delete', [
    'never allow unapproved',
    'always ask owner_desk needs 2 when payload has recursive and payload.recursive',
    'never allow when deletions > 20',
  ]),
  ...claimsOn('workspace', 'file.share', [
    'never allow when payload.right == "own"',
    'always deny when payload.right == "own"',
    'never allow unapproved when payload.right == "write"',
    'never allow unapproved when some w in payload.with (domain(w) not in trusted_domains)',
  ]),
  ...claimsOn('workspace', 'mail.delete', [
    'never allow unapproved when length(payload.ids) > 10',
    'never ask owner_desk',
    'never allow when deletions > 20',
  ]),
  ...claimsOn('workspace', 'calendar.reschedule', [
    'never allow when payload.minutes > 240',
    'always deny when payload.start < 2025-12-31T00:00Z',
    'never allow unapproved when payload.minutes > 60',
    'never allow unapproved when now in quiet',
  ]),
  ...claimsOn('workspace', 'writing', [
    'always ask security when risk >= 70',
    'never allow unapproved when agent.risk_tier == "high" and not request.signed',
  ]),
  ...claimsOn('retail', 'order.cancel', [
    'never allow when payload.status != "pending"',
    'never allow when payload.user == "eve"',
    'allow only when payload.reason == "no longer needed" or payload.reason == "ordered by mistake"',
    'always ask support when cancels > 10',
  ]),
  ...claimsOn('retail', 'order.exchange', [
    'never allow when payload.user != payload.owner',
    'never allow when length(payload.items) != length(payload.new_items)',
    'never allow when some i in payload.items (i in payload.new_items)',
    'never allow unapproved when payload.price_difference > 50',
    'never allow when payload.price_difference > 500',
  ]),
  ...claimsOn('retail', 'order.return', [
    'never allow when payload.user != payload.owner',
    'never allow unapproved when payload.refund > 100',
    'always ask finance needs 2 when payload.refund > 100.5',
    'never allow when every i in payload.items (i.name == "Voucher")',
    'never allow unapproved when count i in payload.items (i.price > 250) >= 3',
  ]),
  ...claimsOn('retail', 'order.address', [
    'never allow when payload.country == "DE"',
    'never allow when payload.status == "processed"',
    "allow only when payload.zip matches '[0-9]+'",
  ]),
  ...claimsOn('retail', 'user.refund', [
    'never allow unapproved when payload.amount > 100 USD',
    'never allow when payload.amount > 1_000 USD',
    'never allow when payload.user == "mallory"',
    'never allow unapproved when payload.method == "cash"',
    'always ask finance needs 2 when refunded > 500 USD',
  ]),
];

export const heldOutFalse: readonly PackClaim[] = [
  ...claimsOn('travel', 'travel.reserve_hotel', [
    'never allow when payload.price > 299 EUR',
    'never escalate when payload.city == "Berlin"',
    'never ask office',
    'never reauth',
    'always ask traveller when payload.price > 299 EUR',
    'never allow when spent > 2_000 EUR',
    'never deny when payload.price <= 1 EUR',
  ]),
  ...claimsOn('travel', 'travel.reserve_car', [
    'never allow when payload.company like "Euro*"',
    'always ask office needs 3 when payload.seats >= 6',
    'always deny when payload.company contains "Rent"',
  ]),
  ...claimsOn('travel', 'travel.send_email', [
    'never allow when count r in payload.recipients (domain(r) != "company.example") >= 2',
    'never allow when some r in payload.recipients (domain(r) == "other.example")',
    'never escalate',
  ]),
  ...claimsOn('travel', 'travel.open_page', [
    'never allow when payload.url contains "evil"',
    'never allow when host(payload.url) == "rail.example"',
  ]),
  ...claimsOn('travel', 'travel.add_event', [
    'never allow when payload has participants',
    'never allow when payload.day < 2026-01-02',
  ]),
  ...claimsOn('workspace', 'file.read', ['always allow when payload.path inside "/workspace"']),
  ...claimsOn('workspace', 'file.write', [
    'never allow when payload.size >= 500_000',
    'never allow unapproved when payload.size >= 100_000',
    'never allow when bytes > 400_000',
    'never escalate when payload.size < 10',
  ]),
  ...claimsOn('workspace', 'file.delete', ['always ask owner_desk needs 2', 'never deny']),
  ...claimsOn('workspace', 'file.share', [
    'never allow unapproved when payload.right == "read"',
    'never allow when some w in payload.with (domain(w) == "evil.example")',
  ]),
  ...claimsOn('workspace', 'mail.delete', ['never reauth', 'never allow when length(payload.ids) > 99']),
  ...claimsOn('workspace', 'calendar.reschedule', ['never reauth', 'never allow when now in quiet']),
  ...claimsOn('retail', 'order.cancel', [
    'never allow when cancels > 10',
    'never escalate',
    'always ask support when cancels > 9',
  ]),
  ...claimsOn('retail', 'order.exchange', ['never allow unapproved when payload.price_difference > 40']),
  ...claimsOn('retail', 'order.return', [
    'never allow unapproved when count i in payload.items (i.price > 200) >= 1',
    'never allow when some i in payload.items (i.name == "Lamp")',
    'always ask support when some i in payload.items (i.price > 200)',
  ]),
  ...claimsOn('retail', 'order.address', ["never allow when payload.zip matches '9.*'"]),
  ...claimsOn('retail', 'user.refund', [
    'never allow when refunded > 500 USD',
    'never reauth',
    'always ask finance',
  ]),
];
