// Describes the words of the language for editors: the phrase at a place of a text, what it means, and an example.

import type { NameDescription } from './describe-name.ts';
import { placeAt } from './policy-position.ts';

interface WordDescription {
  readonly meaning: string;
  /** A line of the language. */
  readonly example: string;
}

/** The description of each phrase; several phrases can begin with the same word. */
export const wordDescriptions: Readonly<Record<string, WordDescription>> = {
  action: {
    meaning: 'Declares an action and the shape of its payload.',
    example: 'action mail.send { to: email }',
  },
  type: {
    meaning: 'Names a type for fields of several actions.',
    example: 'type sku = string matches "[A-Z]{3}"',
  },
  group: { meaning: 'Declares a group of actions, for rules about all of them.', example: 'group money_out' },
  approvers: {
    meaning: 'Declares a group of people who approve requests.',
    example: 'approvers finance "Finance, on call"',
  },
  list: { meaning: 'Names a list of constant values.', example: 'list vendors = ["Acme", "Uline"]' },
  table: { meaning: 'Names values by key.', example: 'table limits = { USD: 100 USD, EUR: 90 EUR }' },
  hours: {
    meaning: 'Names times of the week in a time zone.',
    example: 'hours office = mon-fri 09:00-17:00 in "Europe/Berlin"',
  },
  let: { meaning: 'Names an expression, with or without parameters.', example: 'let limit = 1_000 USD' },
  meter: {
    meaning: 'Sums or counts earlier requests, including pending ones.',
    example: 'meter paid = sum(payload.amount) in USD of payment.create per agent over 24h',
  },
  policy: {
    meaning: 'Groups rules for actions. The strictest outcome wins, in any order.',
    example: 'policy payments on payment.create { deny all }',
  },
  guarantee: {
    meaning: 'States what must be true of every request. `writ check` proves or refutes it.',
    example: 'guarantee cap on payment.create { never allow when payload.amount > 10_000 USD }',
  },
  allow: {
    meaning: 'Grants a request if the condition is definitely true.',
    example: 'allow small when payload.amount < 10',
  },
  'allow only when': {
    meaning: 'Claims that nothing is allowed while the condition is not true.',
    example: 'allow only when payload.vendor in vendors',
  },
  deny: {
    meaning: 'Refuses a request unless the condition is false.',
    example: 'deny blocked when payload.vendor in blocked',
  },
  escalate: {
    meaning: 'A request waits until people approve it, unless the condition is false.',
    example: 'escalate large to finance needs 2 when payload.amount > 1_000',
  },
  reauth: {
    meaning: "Requires a step-up by the agent's control owner, unless the condition is false.",
    example: 'reauth at_night within 15m when now not in office',
  },
  risk: {
    meaning: 'Adds to the risk score; in a condition, the score from 0 to 100.',
    example: 'risk unknown_vendor +20 when payload.vendor not in vendors',
  },
  shadow: {
    meaning: 'The rule or policy is evaluated and recorded, and never enforced.',
    example: 'shadow deny blocked when payload.vendor in blocked',
  },
  when: { meaning: 'The condition of a rule or a claim.', example: 'deny large when payload.amount > 100' },
  unless: {
    meaning: 'The condition under which a rule does not apply.',
    example: 'deny undescribed unless payload has note',
  },
  because: {
    meaning: 'The reason that agents and people see, with values in braces.',
    example: 'because "{payload.amount} is too much"',
  },
  for: { meaning: 'How long a grant is valid.', example: 'allow small for 10m' },
  'after approval by': {
    meaning: 'The rule grants only after these people have approved the request.',
    example: 'allow new after approval by finance within 24h',
  },
  'after reauth': {
    meaning: "The rule grants only after a step-up by the agent's control owner.",
    example: 'allow large after reauth within 15m',
  },
  to: {
    meaning: 'Who approves: declared approvers, or an expression that names a person.',
    example: 'escalate large to finance',
  },
  needs: {
    meaning: 'How many people of each group must approve.',
    example: 'escalate large to finance needs 2',
  },
  except: {
    meaning: 'Who may not approve, or which actions or days are left out.',
    example: 'escalate own to finance except payload.asked_by',
  },
  within: {
    meaning:
      'Behind a host, tests whether it is a domain or below it. Behind people or a step-up, limits the time to answer.',
    example: 'host(payload.link) within "example.com"',
  },
  'then to': {
    meaning: 'Who may approve as well when the time before it is over and nobody has decided.',
    example: 'escalate large to finance within 2h then to security within 2h',
  },
  standing: {
    meaning: 'What later requests an approval may serve: equal keys, for a time.',
    example: 'escalate large to finance standing per payload.vendor for 8h up to 10 times',
  },
  'by chat': {
    meaning: 'The group may decide by chat, up to a risk; without it, never by chat.',
    example: 'approvers finance "Finance" by chat up to risk 40',
  },
  'up to risk': {
    meaning: 'The highest risk of a request that the group may decide by chat, from 0 to 100.',
    example: 'approvers finance "Finance" by chat up to risk 40',
  },
  'up to': {
    meaning: 'How many later requests an approval may serve.',
    example: 'escalate large to finance standing per payload.vendor for 8h up to 10 times',
  },
  times: {
    meaning: 'Behind `up to`, how many later requests an approval may serve.',
    example: 'escalate large to finance standing per payload.vendor for 8h up to 10 times',
  },
  owner: { meaning: 'Who is responsible for the policy.', example: 'owner "payments-risk"' },
  tags: { meaning: 'Tags of the policy; `agent.tags` are those of the agent.', example: 'tags "money"' },
  link: { meaning: 'A page about the policy.', example: 'link "https://example.com/payments"' },
  never: {
    meaning: 'Claims that no request has the outcome.',
    example: 'never allow when payload.amount > 100',
  },
  always: {
    meaning: 'Claims that every request has the outcome.',
    example: 'always deny when payload.vendor in blocked',
  },
  'never allow unapproved': {
    meaning: 'Claims that nothing is allowed before any person has approved it.',
    example: 'never allow unapproved when payload.amount > 100',
  },
  'always ask': {
    meaning: 'Claims that people of the group are asked, unless the request is refused.',
    example: 'always ask finance needs 2 when payload.amount > 100',
  },
  'never ask': {
    meaning: 'Claims that people of the group are not asked.',
    example: 'never ask finance when payload.amount < 10',
  },
  and: {
    meaning: 'True if both are true, false if one is false, otherwise unknown.',
    example: 'payload.a > 1 and payload.b > 1',
  },
  or: {
    meaning: 'True if one is true, false if both are false, otherwise unknown.',
    example: 'payload.a > 1 or payload.b > 1',
  },
  not: { meaning: 'The opposite; what is unknown stays unknown.', example: 'not (payload has note)' },
  in: {
    meaning: 'Tests for a list, the keys of a table, a range, hours or a network.',
    example: 'payload.peer in "10.0.0.0/8"',
  },
  'not in': { meaning: 'The opposite of `in`.', example: 'payload.vendor not in vendors' },
  has: {
    meaning: 'Tests whether a field is present and not null.',
    example: 'payload has note and payload.note != ""',
  },
  like: {
    meaning: 'Tests the whole text; `*` is any run of characters.',
    example: 'payload.note like "inv-*"',
  },
  'like any of': {
    meaning: '`like` for one of several patterns.',
    example: 'payload.note like any of ["inv-*", "po-*"]',
  },
  matches: { meaning: 'Tests the whole text for an RE2 pattern.', example: "payload.note matches '[A-Z]+'" },
  'matches any of': {
    meaning: '`matches` for one of several patterns.',
    example: "payload.note matches any of ['[A-Z]+', '[0-9]+']",
  },
  'starts with': {
    meaning: 'Tests the beginning of a text, or the first elements of a list of texts.',
    example: 'payload.note starts with "Say"',
  },
  'starts with any of': {
    meaning: '`starts with` for one of several texts.',
    example: 'payload.note starts with any of ["Hello", "Say"]',
  },
  'ends with': { meaning: 'Tests the end of a text.', example: 'payload.note ends with ".pdf"' },
  'ends with any of': {
    meaning: '`ends with` for one of several texts.',
    example: 'payload.note ends with any of [".exe", ".msi"]',
  },
  contains: { meaning: 'Tests for a text within a text.', example: 'payload.note contains "hello"' },
  'contains any of': {
    meaning: '`contains` for one of several texts.',
    example: 'payload.note contains any of ["bob", "alice"]',
  },
  'mentions any of': {
    meaning: 'Tests for whole words, in any case.',
    example: 'payload.note mentions any of ["bob", "alice"]',
  },
  inside: {
    meaning: 'Tests whether a path is a folder or below it.',
    example: 'payload.file inside "/workspace"',
  },
  'inside any of': {
    meaning: '`inside` for one of several folders.',
    example: 'payload.file inside any of ["/tmp", "/workspace"]',
  },
  'is single_script': {
    meaning: 'Tests whether all letters belong to one script.',
    example: 'payload.note is single_script',
  },
  some: {
    meaning: 'True if the condition is true for at least one element.',
    example: 'some line in payload.lines (line.price > 10)',
  },
  every: {
    meaning: 'True if the condition is true for all elements, and for an empty list.',
    example: 'every line in payload.lines (line.price > 0)',
  },
  no: {
    meaning: 'True if the condition is false for all elements.',
    example: 'no line in payload.lines (line.sku == "Z")',
  },
  count: {
    meaning: 'Counts the elements for which the condition is true, or requests in a meter.',
    example: 'count line in payload.lines (line.price > 10) == 1',
  },
  'count distinct': {
    meaning: 'Counts different values in a meter.',
    example: 'meter payees = count distinct(payload.to) of pay.make per agent over 24h',
  },
  sum: {
    meaning: 'Adds a value of each element, or of each request in a meter.',
    example: 'sum line in payload.lines (line.price) == 42.5',
  },
  if: {
    meaning: 'One of two values. Without `else`, false only if the first is true and the second is false.',
    example: '(if payload.note contains "hello" then 3 else 5) == 3',
  },
  else: {
    meaning: 'A replacement for a value that may be absent or null.',
    example: '(payload.note else "none") == "none"',
  },
  per: { meaning: 'What a meter counts separately for.', example: 'per agent' },
  over: { meaning: 'The window of a meter.', example: 'over 24h' },
  since: { meaning: 'The request with which a meter begins again.', example: 'since mail.read' },
  from: { meaning: 'Reads the entries from a file.', example: 'list blocked from "lists/blocked.txt"' },
  'ignoring case': {
    meaning: 'Compares the entries in any letter case.',
    example: 'list vendors ignoring case = ["Acme"]',
  },
  'may be empty': {
    meaning: 'Permits an empty list.',
    example: 'list blocked from "blocked.txt" may be empty',
  },
  'pushed by': {
    meaning: 'Rows that a source sends to the service.',
    example: 'table staff pushed by "hr" key id: string { manager: email }',
  },
  on: {
    meaning: 'The actions that a policy or a guarantee is about.',
    example: 'policy payments on payment.create',
  },
};

interface DescribedWord {
  readonly start: number;
  readonly end: number;
  readonly description: readonly NameDescription[];
}

/** The longest phrase of the language at a place; null where there is none, as in texts and comments. */
export function describeWord(text: string, at: number): DescribedWord | null {
  const lineStart = text.lastIndexOf('\n', at - 1) + 1;
  const [line = ''] = text.slice(lineStart).split('\n', 1);
  for (const phrase of phrases) {
    for (const { index } of line.matchAll(formOf(phrase))) {
      const [start, end] = [lineStart + index, lineStart + index + phrase.length];
      if (at < start || at > end || placeAt(text, start).isProse) continue;
      return { start, end, description: describedPhrase(phrase) };
    }
  }
  return null;
}

const phrases = Object.keys(wordDescriptions).toSorted((a, b) => b.length - a.length);

/** The phrase as words of their own, which are no part of a path such as `payload.owner` and no field such as `to:`. */
function formOf(phrase: string): RegExp {
  return new RegExp(`(?<![\\w.])${phrase}(?![\\w.]|\\??:)`, 'g');
}

function describedPhrase(phrase: string): readonly NameDescription[] {
  const { meaning, example } = wordDescriptions[phrase]!;
  return [
    { kind: 'code', text: phrase },
    { kind: 'text', text: meaning },
    { kind: 'text', text: `For example \`${example}\`` },
  ];
}
