// What to do about an error of the parser, by what was expected and what was found instead.

import type { SourceText } from '../../diagnostic/span.ts';
import { nearestOf } from '../../diagnostic/suggest.ts';
import { type ParserError, repeated } from '../parse/parser.ts';
import {
  comparing,
  contextualWords,
  effects,
  isAnyText,
  isAnyWord,
  isReservedToken,
  isReservedWord,
  keyword,
  literal,
  relatingWords,
  reservedWords,
  symbol,
  type Token,
  wordTypes,
} from '../parse/tokens.ts';
import { optionalField } from './forms.ts';

/** The tokens that were parsed, and where they end: as an offset and in words. */
export interface TokenRun {
  readonly tokens: readonly Token[];
  readonly end: number;
  readonly endName: 'the end of the file' | 'the end of the placeholder' | 'the end of the condition';
}

export interface PlacedError extends ParserError, TokenRun {
  /** The token before the one that does not fit; null at the beginning. */
  readonly previous: Token | null;
  readonly source: SourceText;
}

export interface UnexpectedTokenError extends PlacedError {
  readonly found: Token;
}

/** Words that begin a rule. */
export const beginsRule: ReadonlySet<unknown> = new Set([...effects, keyword.shadow]);
/** Operators that no `not` stands before. */
export const negatable = wordTypes(...relatingWords, 'has', 'is');

/**
 * What to do, by what was found where something else was expected; undefined if nothing better is known than
 * an example of the form.
 */
export function helpFor(error: PlacedError): string | undefined {
  const { expected, found } = error;
  if (error.endName === 'the end of the placeholder') {
    if (found === null && expected === 'a value')
      return 'name a value, such as `{payload.vendor}`; for a brace, write `{{`';
    if (found?.tokenType === symbol.colon) return 'remove it: a placeholder has no format';
  }
  if (found === null) return undefined;
  const at = { ...error, found };
  return (
    helpForCapitals(found) ??
    (found.tokenType === keyword.has && expected !== '`in`'
      ? 'say of what: `payload has note`'
      : undefined) ??
    helpByExpected.get(expected)?.(at) ??
    helpBehindJoin(at) ??
    helpForType(at) ??
    nearWord(found, expected)
  );
}

function helpForCapitals({ image }: Token): string | undefined {
  const small = image.toLowerCase();
  return small !== image && isLanguageWord(small)
    ? `words of the language are small: \`${small}\``
    : undefined;
}

function isLanguageWord(text: string): boolean {
  return isReservedWord(text) || (contextualWords as readonly string[]).includes(text);
}

function helpBehindJoin({ found: { tokenType, image }, previous }: UnexpectedTokenError): string | undefined {
  const isSecond = tokenType === keyword.when || tokenType === keyword.unless;
  if (!isSecond || previous === null || !joins.has(previous.tokenType)) return undefined;
  return `remove \`${image}\`: a condition continues after \`${previous.image}\``;
}

const listForm = 'a list is written `[string]`, a list of records `[{ name: string }]`';
const bounds = 'bounds follow the type: `string 1..100`, `number 0..`, `[string] 1..5`';
/** Help in the payload of an action, by the word or sign behind what was read as a type. */
const byFoundBehindType: ReadonlyMap<string, string> = new Map([
  ...['<', '[', 'list'].map((one) => [one, listForm] as const),
  ...['(', '{', '<=', '>', '>=', '='].map((one) => [one, bounds] as const),
]);

/** Help where a type, or what stands behind one, is written as in another language. */
function helpForType({ found, previous, rules }: UnexpectedTokenError): string | undefined {
  if (!rules.includes('recordBody')) return undefined;
  if (previous?.image === 'of') return listForm;
  if (previous?.image.toLowerCase() === 'optional') return optionalField;
  return byFoundBehindType.get(found.image);
}

/** The word that was probably meant. A word that is spelt right only stands in the wrong place. */
function nearWord(found: Token, expected: string): string | undefined {
  if (!isAnyWord(found) || isLanguageWord(found.image)) return undefined;
  const words = expected.startsWith('a clause') ? [...reservedWords, ...clauseWords] : reservedWords;
  const near = nearestOf(found.image, words);
  return near === null ? undefined : `did you mean \`${near}\`?`;
}

type HelpAt = (error: UnexpectedTokenError) => string | undefined;

function helpForIn({ found: { tokenType } }: UnexpectedTokenError): string | undefined {
  if (tokenType === keyword.has) return 'put `not` before the whole: `not (payload has note)`';
  if (negatable.has(tokenType)) return 'put `not` before the whole comparison: `not (a like b)`';
  if (!comparing.has(tokenType)) return undefined;
  return 'put `not` before the whole comparison: `not (a == b)`, or write `!=`';
}

function helpForValue({ found: { tokenType } }: UnexpectedTokenError): string | undefined {
  if (tokenType === symbol.star) return remainder;
  return tokenType === keyword.action ? 'the key of the action that is asked for is `action.key`' : undefined;
}

function helpForDeclaration({ found, previous }: UnexpectedTokenError): string | undefined {
  if (found.tokenType === symbol.closeCurly) return 'remove it: no `{` is open here';
  if (isAnyText(found) && previous?.tokenType === symbol.closeCurly)
    return 'a title is written before the payload: `action mail.send "Mail to {to}" { ... }`';
  return beginsRule.has(found.tokenType)
    ? 'write rules in a policy: `policy example on order.place { ... }`'
    : undefined;
}

/** Help for a place where a rule goes on or ends. */
function helpForClause({ found, previous, tokens }: UnexpectedTokenError): string | undefined {
  if (found.tokenType === symbol.comma) return 'conditions are joined by `and`';
  if (found.tokenType === symbol.dot && previous?.tokenType === literal.number)
    return 'write addresses and networks in quotes: `"10.0.0.0/8"`';
  if (found.tokenType === keyword.risk)
    return 'a rule that adds risk has a name and points: `risk large +30 when payload.count > 3`';
  if (previous?.image === 'if')
    return 'a rule has a name, and its condition follows `when`: `deny many when payload.count > 3`';
  const beforePrevious = previous === null ? undefined : tokens[tokens.indexOf(previous) - 1];
  if (found.tokenType === symbol.dot && beginsRule.has(beforePrevious?.tokenType))
    return 'a rule is named by one word: `too_many`';
  const cached = byFoundBehindRule.get(found.image.toLowerCase());
  if (cached !== undefined || !isAnyText(found)) return cached;
  return 'a text follows an operator, as in `x == "a"`, or `"a" in agent.tags`';
}

/**
 * Help where `)` was expected: what stands behind a value in parentheses is often what people write behind a
 * rule.
 */
function helpForClosing({ found, rules }: UnexpectedTokenError): string | undefined {
  return rules.includes('meter') ? undefined : byFoundBehindRule.get(found.image.toLowerCase());
}

function helpForEntry({ found: token, rules }: UnexpectedTokenError): string | undefined {
  if (!rules.includes('listEntries')) return undefined;
  if (isAnyWord(token)) return `write a text in quotes: \`"${token.image}"\``;
  return isAnyText(token) ? 'write a comma between two entries' : undefined;
}

const helpByExpected: ReadonlyMap<string, HelpAt> = new Map<string, HelpAt>([
  ['a declaration', helpForDeclaration],
  ['a clause', helpForClause],
  [repeated.policy!, helpForClause],
  ['a value', helpForValue],
  ['`in`', helpForIn],
  [
    '`single_script`',
    ({ found }) =>
      found.tokenType === keyword.not
        ? 'put `not` before the whole: `not (a is single_script)`'
        : '`is` takes only `single_script`; compare with `==`, as in `payload.note == null`',
  ],
  [
    'the name of approvers',
    ({ found }) =>
      found.tokenType === literal.number
        ? 'a range is written `x in 1..5`; people are asked by the name of their group: `to finance needs 2`'
        : undefined,
  ],
  [
    'a name',
    ({ found }) =>
      isReservedToken(found)
        ? `\`${found.image}\` is a word of the language and cannot be a name here`
        : undefined,
  ],
  ['a name for the rule', () => 'a decision names its rule: write a name after the effect'],
  [
    repeated.guarantee!,
    ({ found }) => (found.tokenType === keyword.to ? 'write `always ask finance`' : undefined),
  ],
  [
    'the name of a list of dates',
    ({ found }) =>
      found.tokenType === literal.date || found.tokenType === symbol.openSquare
        ? 'declare the dates as a list and name it: `list holidays = [2026-12-25]`, and `except holidays`'
        : undefined,
  ],
  ['`)`', helpForClosing],
  ['`]`', helpForEntry],
  ['`(`', () => 'write `count()`, `sum(payload.amount)`, or `every x in payload.tags (x == "a")`'],
  ['`of`', () => 'a meter names the action that it counts, such as `of order.place`'],
  [
    '`over`',
    ({ found }) =>
      found.tokenType === symbol.openParen
        ? '`per` takes whole fields: declare one, and refuse other values: `deny other_host when payload.host != host(payload.url)`'
        : 'a meter has a window: `over 24h`, or `over today in "Europe/Berlin"`',
  ],
  ['`key`', () => 'a table names the column that identifies its rows: `key id: string { ... }`'],
  [
    'a title in quotes',
    () => 'an approval group says in words who they are: `approvers finance "Finance, on call"`',
  ],
  [
    '`approval by` or `reauth`',
    () => 'write `after approval by finance needs 2`, with the number after the group',
  ],
]);

const joins = wordTypes('and', 'or', 'not');

const people = 'write only the number: `needs 2`';
const limits =
  'declare a meter, such as `meter placed = count() of order.place per agent over 1h`, and write `deny often when placed > 10`';
const presence = 'write `payload has note`, or `not (payload has note)`';
const pathTest = 'a path in a folder is tested by `inside`: `payload.file inside "/etc"`';
const remainder = 'there is no operator for remainders or powers: use `+`, `-`, `*` and `/`';
const noOrder = 'remove it: order never matters, the strictest rule that applies decides';
const shadow =
  'write `shadow` before the effect, or before `policy`: the rule is then recorded and not enforced';
const noState = 'remove it: every rule of the files counts; `shadow` before it only records it';
/** Help by the word or sign found behind a whole rule or clause, with what is probably meant. */
const byFoundBehindRule: ReadonlyMap<string, string> = new Map([
  ['(', '`risk`, `now` and declared names take no parentheses; functions are called, as in `length(x)`'],
  ['.', 'elements of a list have fields: `some c in commands(payload.line) (c.program == "ls")`'],
  ['%', remainder],
  ['*', remainder],
  ['mod', remainder],
  [')', 'remove it: no `(` is open here'],
  [
    'then',
    'remove it: a rule is its effect, its name and its condition, and asks nobody else when its time ends',
  ],
  ...['every', 'some', 'no'].map(
    (one) =>
      [
        one,
        `write the condition of the elements in parentheses: \`${one} x in payload.tags (x == "a")\``,
      ] as const,
  ),
  ['nor', 'write `and not (...)`'],
  ['neither', 'write `payload.vendor not in ["a", "b"]`'],
  ['does', 'put `not` before the whole: `not (payload has note)`'],
  ['|', 'several values are tested by `in`: `payload.vendor in ["a", "b"]`'],
  ['...', 'a range has two dots: `x in 1..5`'],
  [':', 'names are parted by dots, and nothing is named by `::`'],
  ['until', 'write the time as a condition: `when now < 2026-12-25T00:00Z`'],
  ['only', 'write `when`: an `allow` grants only if its condition is true'],
  ['expires', 'write `within 4h`'],
  ['version', 'remove it: versions are kept by git'],
  ['effect', 'a rule begins with its effect: `deny many when payload.count > 3`'],
  ['return', 'a rule begins with its effect: `deny many when payload.count > 3`'],
  ['when', 'a rule has one `when`, after its effect and name; join further conditions with `and`'],
  ...['priority', 'order', 'weight'].map((one) => [one, noOrder] as const),
  ...['limit', 'rate', 'max', 'times', 'per', 'quota'].map((one) => [one, limits] as const),
  ...['missing', 'absent', 'present', 'unset', 'blank'].map((one) => [one, presence] as const),
  ...['under', 'below', 'beneath'].map((one) => [one, pathTest] as const),
  ...['mode', 'dryrun', 'dry_run'].map((one) => [one, shadow] as const),
  ...['enabled', 'disabled'].map((one) => [one, noState] as const),
  ...['approvals', 'people', 'persons', 'approvers'].map((one) => [one, people] as const),
]);

const clauseWords = ['for', 'after', 'to', 'except', 'needs', 'within', 'then', 'standing', 'because'];
