// Gives an example of what to write, by what was expected and in which rule of the grammar. The example is
// shown when no better help is known.

import { repeated } from '../parse/parser.ts';

const ruleForm = 'a rule is written `deny many when payload.count > 3 because "too many"`';
const claimForm = 'claims are written `never allow when c`, `allow only when c`, `always ask finance when c`';
const approversHelp =
  'name a group that `approvers` declares, `owner`, or a column of a table that names the person: `staff[payload.employee].manager`';

const byExpected: ReadonlyMap<string, string> = new Map([
  [
    'a declaration',
    'a file has declarations: `action`, `type`, `group`, `approvers`, `list`, `table`, `hours`, `let`, `meter`, `policy`, `guarantee`',
  ],
  [repeated.policy!, ruleForm],
  [repeated.guarantee!, claimForm],
  ['`allow`, `deny`, `escalate`, `reauth` or `ask`', claimForm],
]);

/** Examples by rule of the grammar; the innermost rule that has an example counts. */
const byRule: Readonly<Record<string, string>> = {
  action: 'an action is written `action mail.send { to: email, note?: string }`',
  recordBody: 'a field is written `name: type`, or `name?: type` where it may be absent',
  listType: 'the type of a list is written `[string]`, one of several texts `"a" | "b"`',
  moneyType: 'money names the field of its currency: `money(currency)`',
  typeDeclaration: 'a type is written `type kind = "a" | "b"`',
  group: 'a group is written `group payments`, and `action payment.create in payments { ... }` is in it',
  chatLimit:
    'write such as `by chat up to risk 40`: the group may decide by chat up to this risk, and 100 means every request',
  list: 'a list is written `list vendors = ["a", "b"]`, or `list vendors from "vendors.txt"`',
  table: 'a table is written `table orders from "orders.csv" key id: string { owner: string }`',
  tableRows: 'a table of constants is written `table daily = { USD: 200 USD, EUR: 200 EUR }`',
  hours: 'hours are written `hours office = mon-fri 09:00-17:00 in "Europe/Berlin"`',
  let: 'a `let` is written `let many = payload.count > 3`',
  parameter: 'a parameter has a type: `let many(n: integer) = payload.count > n`',
  meter: 'a meter is written `meter paid = sum(payload.amount) in USD of order.place per agent over 24h`',
  meterWindow: 'a window is written `over 24h`, or `over today in "Europe/Berlin"`',
  policy: 'a policy is written `policy orders on order.place, bank.* { ... }`',
  rule: ruleForm,
  guarantee: 'a guarantee is written `guarantee small on order.place { never allow when payload.count > 5 }`',
  claim: claimForm,
  toClause: approversHelp,
  afterClause: 'write `after approval by finance needs 2`, or `after reauth within 15m`',
  needsClause: 'write `needs 2`, after `to finance` or `after approval by finance`',
  withinClause: 'write `within 4h`',
  quantifier: 'write `some x in payload.tags (x == "a")`',
  conditional: 'a choice is written `if payload.kind == "book" then 50 USD else 100 USD`',
  parentheses: 'write `)` at the end of the expression in parentheses',
  call: 'a function is called by `length(payload.tags)`',
  listLiteral: 'a list is written `["a", "b"]`',
};

export const optionalField = 'an optional field is written `name?: type`';
export const nowInHours =
  'declare hours, such as `hours office = mon-fri 09:00-17:00 in "Europe/Berlin"`, and write `now in office`';

/** Help about how often something may happen; `most` is the number that a rule compares with. */
export function countedByMeter(most: string): string {
  return `write \`meter calls = count() of ACTION per agent over 1h\`, and \`deny too_many when calls >= ${most}\``;
}

export function formOf(expected: string, rules: readonly string[]): string | undefined {
  const innermost = rules.findLast((rule) => Object.hasOwn(byRule, rule));
  return byExpected.get(expected) ?? (innermost === undefined ? undefined : byRule[innermost]);
}
