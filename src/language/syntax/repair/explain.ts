// Turns an error of the parser into a diagnostic in plain words. Frequent mistakes have messages of their
// own; all other messages say what was expected, after what, and what was found instead.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { SourceText, Span } from '../../diagnostic/span.ts';
import { nearestOf } from '../../diagnostic/suggest.ts';
import { makeSpan, type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import { reservedName } from '../parse/declared-name.ts';
import { type ParserError, repeated } from '../parse/parser.ts';
import {
  comparing,
  contextualWords,
  declaring,
  effects,
  isAnyText,
  isAnyWord,
  isReservedToken,
  isReservedWord,
  literal,
  relatingWords,
  reservedWords,
  sign,
  type Token,
  word,
  wordTypes,
} from '../parse/tokens.ts';
import { formOf } from './forms.ts';
import { declarationVocabulary, effectVocabulary, synonymOf, unknownWord } from './vocabulary.ts';

/** The tokens that were parsed, and where they end: as an offset and in words. */
interface TokenRun {
  readonly tokens: readonly Token[];
  readonly end: number;
  readonly endName: 'the end of the file' | 'the end of the placeholder';
}

interface PlacedError extends ParserError, TokenRun {
  /** The token before the one that does not fit; null at the beginning. */
  readonly previous: Token | null;
  readonly source: SourceText;
}

interface WithFound extends PlacedError {
  readonly found: Token;
}

/**
 * Reports the errors of a run of tokens, but only the first of several errors at one token. Returns what it
 * has reported.
 */
export function reportErrors(
  errors: readonly ParserError[],
  run: TokenRun,
  reader: Reader,
): readonly Diagnostic[] {
  if (errors.length === 0) return [];
  const { tokens, end } = run;
  const { source } = reader;
  const seen = new Set<number>();
  const places = new Map(tokens.map((token, index) => [token, index]));
  const reported: Diagnostic[] = [];
  let last: number | null = null;
  for (const error of errors) {
    const place = error.found?.startOffset ?? end;
    if (seen.has(place)) continue;
    seen.add(place);
    // The token before is found by index: after skipping, the token that the parser last looked at is a
    // different one.
    const index = error.found === null ? tokens.length : (places.get(error.found) ?? 0);
    const follows = last !== null && error.expected === repeated.policy && isOneRule(tokens, last, index);
    last = index;
    if (follows) continue;
    const diagnostic = explain({ ...error, ...run, source, previous: tokens[index - 1] ?? null });
    reader.report(diagnostic);
    reported.push(diagnostic);
  }
  return reported;
}

/**
 * Whether no rule begins between two tokens. If so, what does not fit at the second token is the rest of what
 * did not fit at the first.
 */
function isOneRule(tokens: readonly Token[], from: number, to: number): boolean {
  return tokens.slice(from + 1, to + 1).every(({ tokenType }) => !beginsOther.has(tokenType));
}

function explain(error: PlacedError): Diagnostic {
  const { found } = error;
  if (found === null) return explainUnclosed(error) ?? explainPlainly(error);
  const span = tokenSpan(found, error);
  const at = { ...error, found, span };
  return (
    explainUnclosed(error) ??
    explainChain(at) ??
    explainRange(at) ??
    explainReserved(at) ??
    explainDeclaration(at) ??
    explainEffect(at) ??
    explainPlainly(error)
  );
}

/**
 * The diagnostic for a missing `}`: a declaration begins, or the text ends, while the braces before are still
 * open.
 */
function explainUnclosed(error: PlacedError): Diagnostic | null {
  const { found, previous, tokens, source } = error;
  const isBeginning = found === null || declaring.has(found.tokenType);
  if (previous === null || !isBeginning || !error.expected.includes('`}`')) return null;
  const open = openBrace(found === null ? tokens.length : tokens.indexOf(found), tokens);
  if (open === undefined) return null;
  const at = tokenSpan(previous, error).end;
  if (found !== null && !/[\r\n]/.test(source.text.slice(at, found.startOffset))) return null;
  const before = found === null ? error.endName : shown(found);
  const message = `no \`}\` closes this before ${before}`;
  const diagnostic = syntaxError('unexpected-token', makeSpan(error, at, at), message, 'write `}`');
  const related = [{ span: tokenSpan(open, error), message: 'it was opened here' }];
  return { ...withFix(diagnostic, { title: 'write `}`', text: '\n}' }), related };
}

/** The last brace before an index that is still open there. */
function openBrace(index: number, tokens: readonly Token[]): Token | undefined {
  let depth = 0;
  return tokens.slice(0, index).findLast(({ tokenType }) => {
    if (tokenType === sign.closeCurly) depth++;
    return tokenType === sign.openCurly && --depth < 0;
  });
}

function explainPlainly(error: PlacedError): Diagnostic {
  const { expected, found, previous, rules } = error;
  const isCondition = previous !== null && takesCondition.has(previous.tokenType) && expected === 'a value';
  const after = previous === null ? '' : ` after ${shown(previous)}`;
  const instead = found === null ? error.endName : shown(found);
  const message = `expected ${isCondition ? 'a condition' : expected}${after}, found ${instead}`;
  const help = helpFor(error) ?? formOf(expected, rules);
  return syntaxError('unexpected-token', placeOf(error), message, help);
}

const takesCondition = wordTypes('when', 'unless', 'and', 'or', 'not');

/**
 * The place of an error. What is missing at the end of a line is reported there, not where the next line
 * begins.
 */
function placeOf({ found, previous, end, source, expected }: PlacedError): Span {
  if (found === null) return makeSpan({ source }, end, end);
  const span = tokenSpan(found, { source });
  if (previous === null || repeats.has(expected)) return span;
  const previousEnd = tokenSpan(previous, { source }).end;
  const isOnNextLine = /[\r\n]/.test(source.text.slice(previousEnd, span.start));
  return isOnNextLine ? makeSpan({ source }, previousEnd, previousEnd) : span;
}

/** Expectations for places where a whole part has ended, and the token found is one too many. */
const repeats: ReadonlySet<string> = new Set([...Object.values(repeated), 'the end of the expression']);

/** A token as messages show it. */
function shown({ image }: Token): string {
  return `\`${image.length > 40 ? `${image.slice(0, 40)}…` : image}\``;
}

/**
 * What to do, by what was found where something else was expected; undefined if nothing better is known than
 * an example of the form.
 */
function helpFor(error: PlacedError): string | undefined {
  const { expected, found } = error;
  if (found === null) return undefined;
  const at = { ...error, found };
  return (
    helpForCapitals(found) ??
    (found.tokenType === word.has && expected !== '`in`' ? 'say of what: `payload has note`' : undefined) ??
    helpByExpected.get(expected)?.(at) ??
    helpBehindJoin(at) ??
    nearWord(found, expected)
  );
}

function helpForCapitals({ image }: Token): string | undefined {
  const small = image.toLowerCase();
  const isLanguageWord = isReservedWord(small) || (contextualWords as readonly string[]).includes(small);
  return small !== image && isLanguageWord ? `words of the language are small: \`${small}\`` : undefined;
}

function helpBehindJoin({ found: { tokenType, image }, previous }: WithFound): string | undefined {
  const isSecond = tokenType === word.when || tokenType === word.unless;
  if (!isSecond || previous === null || !joins.has(previous.tokenType)) return undefined;
  return `remove \`${image}\`: a condition goes on behind \`${previous.image}\``;
}

function nearWord(found: Token, expected: string): string | undefined {
  const words = expected.startsWith('a clause') ? [...reservedWords, ...clauseWords] : reservedWords;
  const near = isAnyWord(found) ? nearestOf(found.image, words) : null;
  return near === null || near === found.image ? undefined : `did you mean \`${near}\`?`;
}

type HelpAt = (error: WithFound) => string | undefined;

function helpForIn({ found: { tokenType } }: WithFound): string | undefined {
  if (tokenType === word.has) return 'put `not` before the whole: `not (payload has note)`';
  if (negatable.has(tokenType)) return 'put `not` before the whole comparison: `not (a like b)`';
  if (!comparing.has(tokenType)) return undefined;
  return 'put `not` before the whole comparison: `not (a == b)`, or write `!=`';
}

function helpForValue({ found: { tokenType } }: WithFound): string | undefined {
  if (tokenType === sign.star) return remainder;
  return tokenType === word.action ? 'the key of the action that is asked for is `action.key`' : undefined;
}

function helpForDeclaration({ found, previous }: WithFound): string | undefined {
  if (found.tokenType === sign.closeCurly) return 'remove it: no `{` is open here';
  if (isAnyText(found) && previous?.tokenType === sign.closeCurly)
    return 'a title stands before the payload: `action mail.send "Mail to {to}" { ... }`';
  return beginsRule.has(found.tokenType)
    ? 'rules stand in a policy: `policy example on order.place { ... }`'
    : undefined;
}

/** Help for a place where a rule goes on or ends. */
function helpForClause({ found, previous, tokens }: WithFound): string | undefined {
  if (found.tokenType === sign.comma) return 'conditions are joined by `and`';
  if (found.tokenType === sign.dot && previous?.tokenType === literal.number)
    return 'addresses and networks stand in quotes: `"10.0.0.0/8"`';
  const beforePrevious = previous === null ? undefined : tokens[tokens.indexOf(previous) - 1];
  if (found.tokenType === sign.dot && beginsRule.has(beforePrevious?.tokenType))
    return 'a rule is named by one word: `too_many`';
  const known = byFoundBehindRule.get(found.image.toLowerCase());
  if (known !== undefined || !isAnyText(found)) return known;
  return 'a text stands behind an operator, as in `x == "a"`, or `"a" in agent.tags`';
}

/**
 * Help where `)` was expected: what stands behind a value in parentheses is often what people write behind a
 * rule.
 */
function helpForClosing({ found, rules }: WithFound): string | undefined {
  return rules.includes('meter') ? undefined : byFoundBehindRule.get(found.image.toLowerCase());
}

function helpForEntry({ found, rules }: WithFound): string | undefined {
  if (!rules.includes('listEntries')) return undefined;
  if (isAnyWord(found)) return `a text stands in quotes: \`"${found.image}"\``;
  return isAnyText(found) ? 'write a comma between two entries' : undefined;
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
      found.tokenType === word.not
        ? 'put `not` before the whole: `not (a is single_script)`'
        : '`is` asks for `single_script` alone; compare by `==`, as in `payload.note == null`',
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
  ['a name for the rule', () => 'a decision names its rule: write a name behind the effect'],
  [
    repeated.guarantee!,
    ({ found }) => (found.tokenType === word.to ? 'write `always ask finance`' : undefined),
  ],
  ['`)`', helpForClosing],
  ['`]`', helpForEntry],
  ['`(`', () => 'write `count()`, `sum(payload.amount)`, or `every x in payload.tags (x == "a")`'],
  ['`of`', () => 'a meter says which action it counts, such as `of order.place`'],
  ['`over`', () => 'a meter has a window: `over 24h`, or `over today in "Europe/Berlin"`'],
  ['`key`', () => 'a table names the column that tells its rows apart: `key id: string { ... }`'],
  [
    'a title in quotes',
    () => 'an approval group says in words who they are: `approvers finance "Finance, on call"`',
  ],
  [
    '`approval by` or `reauth`',
    () => 'write `after approval by finance needs 2`, with the number behind the group',
  ],
]);

const joins = wordTypes('and', 'or', 'not');

const people = 'the number stands alone: `needs 2`';
const limits =
  'declare a meter, such as `meter placed = count() of order.place per agent over 1h`, and write `deny often when placed > 10`';
const presence = 'write `payload has note`, or `not (payload has note)`';
const pathTest = 'a path in a folder is tested by `inside`: `payload.file inside "/etc"`';
const remainder = 'there is no remainder and no power: numbers are added, subtracted, multiplied and divided';
const noOrder = 'remove it: order never matters, the strictest rule that applies decides';
const shadow =
  'write `shadow` before the effect, or before `policy`: the rule is then recorded and not enforced';
const noState = 'remove it: every rule of the files counts; `shadow` before it only records it';
/** Help by the word or sign found behind a whole rule or clause, with what is probably meant. */
const byFoundBehindRule: ReadonlyMap<string, string> = new Map([
  ['or', 'each group is asked: join them by `and`, or declare one approval group for the people of both'],
  ['(', '`risk`, `now` and declared names take no parentheses; functions are called, as in `length(x)`'],
  ['.', 'elements of a list have fields: `some c in commands(payload.line) (c.program == "ls")`'],
  ['%', remainder],
  ['*', remainder],
  ['mod', remainder],
  [')', 'remove it: no `(` is open here'],
  ['then', 'remove it: a rule is its effect, its name and its condition'],
  ...['every', 'some', 'no'].map(
    (one) =>
      [
        one,
        `what holds of the elements stands in parentheses: \`${one} x in payload.tags (x == "a")\``,
      ] as const,
  ),
  ['nor', 'write `and not (...)`'],
  ['neither', 'write `payload.vendor not in ["a", "b"]`'],
  ['does', 'put `not` before the whole: `not (payload has note)`'],
  ['|', 'several values are tested by `in`: `payload.vendor in ["a", "b"]`'],
  ['...', 'a range has two dots: `x in 1..5`'],
  [':', 'names are parted by dots, and nothing is named by `::`'],
  ['until', 'write the time as a condition: `when now < 2026-12-25T00:00Z`'],
  ['only', 'write `when`: an `allow` holds only where its condition does'],
  ['expires', 'write `within 4h`'],
  ['version', 'remove it: versions are kept by git'],
  ['effect', 'a rule begins with its effect: `deny many when payload.count > 3`'],
  ['return', 'a rule begins with its effect: `deny many when payload.count > 3`'],
  ['when', 'a rule has one `when`, behind its effect and name; further conditions are joined by `and`'],
  ...['priority', 'order', 'weight'].map((one) => [one, noOrder] as const),
  ...['limit', 'rate', 'max', 'times', 'per', 'quota'].map((one) => [one, limits] as const),
  ...['missing', 'absent', 'present', 'unset', 'blank'].map((one) => [one, presence] as const),
  ...['under', 'below', 'beneath'].map((one) => [one, pathTest] as const),
  ...['mode', 'dryrun', 'dry_run'].map((one) => [one, shadow] as const),
  ...['enabled', 'disabled'].map((one) => [one, noState] as const),
  ...['approvals', 'people', 'persons', 'approvers'].map((one) => [one, people] as const),
]);

const clauseWords = ['for', 'after', 'to', 'except', 'needs', 'within', 'because'];

const negatable = wordTypes(...relatingWords, 'has', 'is');

// ---- frequent mistakes: each function returns null for anything else

interface FoundError extends WithFound {
  readonly span: Span;
}

const comparesWhole: ReadonlySet<unknown> = new Set([...comparing, ...negatable, word.in]);

/** Expectations for places where an expression has ended. */
const endsExpression: ReadonlySet<string> = new Set([...repeats, '`)`', '`]`', '`{`', '`over`', '`of`']);

function explainChain({ found, span, expected, previous }: FoundError): Diagnostic | null {
  const isChain = comparesWhole.has(found.tokenType) && endsExpression.has(expected) && previous !== null;
  if (!isChain) return null;
  const message = `comparisons do not chain: \`${found.image}\` follows a whole comparison`;
  return syntaxError('chained-comparison', span, message, 'compare twice and join the two by `and`');
}

function explainRange({ found, previous, span, expected, source, rules }: FoundError): Diagnostic | null {
  const help = 'a range in an expression has both ends and stands right of `in`: `x in 1..5`';
  if (rules.includes('typeRange') || rules.includes('hoursSpan')) return null;
  if (previous?.tokenType === sign.range && expected === 'a value') {
    const place = tokenSpan(previous, { source });
    return syntaxError('open-range', place, 'this range has no upper end', `${help}, or compare by \`>=\``);
  }
  if (found.tokenType !== sign.range) return null;
  if (expected === 'a value') {
    return syntaxError('open-range', span, 'this range has no lower end', `${help}, or compare by \`<=\``);
  }
  return endsExpression.has(expected)
    ? syntaxError('open-range', span, 'a range stands right of `in` only', help)
    : null;
}

/**
 * The error for a reserved word in the place of a declared name, unless the word begins what should follow
 * the name.
 */
function explainReserved({ found, span, expected }: FoundError): Diagnostic | null {
  const what = /^a name for the (\w+)/.exec(expected)?.[1];
  if (what === undefined || !isReservedToken(found) || followsName.has(found.tokenType)) return null;
  return reservedName({ text: found.image, span }, `a ${what}`);
}

const beginsRule: ReadonlySet<unknown> = new Set([...effects, word.shadow]);
const beginsOther: ReadonlySet<unknown> = new Set([...beginsRule, ...declaring, sign.closeCurly]);
const conditions = wordTypes('when', 'unless', 'risk', 'because', 'in');
const followsName: ReadonlySet<unknown> = new Set([...beginsRule, ...conditions, ...declaring]);

function explainDeclaration({ found, expected, span }: FoundError): Diagnostic | null {
  if (expected !== 'a declaration' || !isAnyWord(found) || isReservedToken(found)) return null;
  return unknownWord(found.image, span, declarationVocabulary);
}

/**
 * The error for a word that other languages use for an effect. Any other word may as well be a misspelt
 * clause.
 */
function explainEffect({ found, expected, span }: FoundError): Diagnostic | null {
  const isEffect = synonymOf(found.image, effectVocabulary) !== null;
  if (expected !== 'a clause, a rule or `}`' || !isEffect) return null;
  return unknownWord(found.image, span, effectVocabulary);
}
