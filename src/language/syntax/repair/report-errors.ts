// Converts a parser error to a diagnostic in plain words. Frequent mistakes have specific messages; all other
// messages name the expected and the actual token, and the token before it.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { makeSpan, type Reader, syntaxError, tokenSpan, withFix } from '../parse/context.ts';
import { reservedName } from '../parse/declared-name.ts';
import { type ParserError, repeated } from '../parse/parser.ts';
import {
  comparing,
  declaring,
  isAnyWord,
  isReservedToken,
  keyword,
  symbol,
  type Token,
  wordTypes,
} from '../parse/tokens.ts';
import { formOf } from './forms.ts';
import {
  beginsRule,
  helpFor,
  negatable,
  type PlacedError,
  type TokenRun,
  type UnexpectedTokenError,
} from './help.ts';
import { declarationVocabulary, effectVocabulary, synonymOf, unknownKeyword } from './vocabulary.ts';

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
    const offset = error.found?.startOffset ?? end;
    if (seen.has(offset)) continue;
    seen.add(offset);
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
    if (tokenType === symbol.closeCurly) depth++;
    return tokenType === symbol.openCurly && --depth < 0;
  });
}

function explainPlainly(error: PlacedError): Diagnostic {
  const { expected, found, previous, rules } = error;
  const isCondition = previous !== null && takesCondition.has(previous.tokenType) && expected === 'a value';
  const after = previous === null ? '' : ` after ${shown(previous)}`;
  const instead = found === null ? error.endName : shown(found);
  const message = `expected ${isCondition ? 'a condition' : expected}${after}, found ${instead}`;
  const help = helpFor(error) ?? formOf(expected, rules);
  return syntaxError('unexpected-token', errorSpan(error), message, help);
}

const takesCondition = wordTypes('when', 'unless', 'and', 'or', 'not');

/**
 * The place of an error. What is missing at the end of a line is reported there, not where the next line
 * begins.
 */
function errorSpan({ found, previous, end, source, expected }: PlacedError): Span {
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

// ---- frequent mistakes: each function returns null for anything else

interface UnexpectedToken extends UnexpectedTokenError {
  readonly span: Span;
}

const comparesWhole: ReadonlySet<unknown> = new Set([...comparing, ...negatable, keyword.in]);

/** Expectations for places where an expression has ended. */
const endsExpression: ReadonlySet<string> = new Set([...repeats, '`)`', '`]`', '`{`', '`over`', '`of`']);

function explainChain({ found, span, expected, previous, rules }: UnexpectedToken): Diagnostic | null {
  const isChain = comparesWhole.has(found.tokenType) && endsExpression.has(expected) && previous !== null;
  if (!isChain || rules.includes('recordBody')) return null;
  const message = `comparisons do not chain: \`${found.image}\` follows a whole comparison`;
  return syntaxError('chained-comparison', span, message, 'compare twice and join the two by `and`');
}

function explainRange({
  found,
  previous,
  span,
  expected,
  source,
  rules,
}: UnexpectedToken): Diagnostic | null {
  const help = 'a range in an expression has both ends and follows `in`: `x in 1..5`';
  if (rules.includes('typeRange') || rules.includes('hoursSpan')) return null;
  if (previous?.tokenType === symbol.range && expected === 'a value') {
    const offset = tokenSpan(previous, { source });
    return syntaxError('open-range', offset, 'this range has no upper end', `${help}, or compare by \`>=\``);
  }
  if (found.tokenType !== symbol.range) return null;
  if (expected === 'a value') {
    return syntaxError('open-range', span, 'this range has no lower end', `${help}, or compare by \`<=\``);
  }
  return endsExpression.has(expected)
    ? syntaxError('open-range', span, 'a range is written only after `in`', help)
    : null;
}

/**
 * The error for a reserved word in the place of a declared name, unless the word begins what should follow
 * the name.
 */
function explainReserved({ found, span, expected }: UnexpectedToken): Diagnostic | null {
  const noun = /^a name for the (\w+)/.exec(expected)?.[1];
  if (noun === undefined || !isReservedToken(found) || followsName.has(found.tokenType)) return null;
  return reservedName({ text: found.image, span }, `a ${noun}`);
}

const beginsOther: ReadonlySet<unknown> = new Set([...beginsRule, ...declaring, symbol.closeCurly]);
const conditions = wordTypes('when', 'unless', 'risk', 'because', 'in');
const followsName: ReadonlySet<unknown> = new Set([...beginsRule, ...conditions, ...declaring]);

function explainDeclaration({ found, expected, span }: UnexpectedToken): Diagnostic | null {
  if (expected !== 'a declaration' || !isAnyWord(found) || isReservedToken(found)) return null;
  return unknownKeyword(found.image, span, declarationVocabulary);
}

/**
 * The error for a word that other languages use for an effect. Any other word may as well be a misspelt
 * clause.
 */
function explainEffect({ found, expected, span }: UnexpectedToken): Diagnostic | null {
  const isEffect = synonymOf(found.image, effectVocabulary) !== null;
  if (expected !== 'a clause, a rule or `}`' || !isEffect) return null;
  return unknownKeyword(found.image, span, effectVocabulary);
}
