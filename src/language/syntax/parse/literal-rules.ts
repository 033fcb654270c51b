// The parser rules of literals, names and paths. Literals are kept as written: no number is converted; only a
// sign is joined to the number behind it.

import type { TokenType } from 'chevrotain';
import { type Span, spanning } from '../../diagnostic/span.ts';
import type {
  CalendarWindow,
  LiteralNode,
  MeterDeclaration,
  MonthsLiteral,
  NameNode,
  Path,
  TextListExpression,
} from '../tree/tree.ts';
import { isWritten, plainName, type Reader, syntaxError, tokenSpan } from './context.ts';
import { type Draft, NodeParser, type ParserRule, tokenTable } from './node-parser.ts';
import { quotedName, textListOf, textLiteral } from './text-literal.ts';
import {
  Currency,
  keyword,
  literal,
  NameToken,
  symbol,
  Text,
  TextListToken,
  type Token,
  Word,
} from './tokens.ts';

type LiteralOf<Kind> = Extract<LiteralNode, { readonly kind: Kind }>;
type SignableLiteral = LiteralOf<'number' | 'money' | 'duration'>;

const isCurrency = tokenTable(Currency);
const isDot = tokenTable(symbol.dot);
const isWord = tokenTable(Word);
const isPlainLiteral = tokenTable(
  Text,
  literal.number,
  literal.duration,
  literal.date,
  literal.instant,
  literal.clock,
);
/** Tokens that, behind an operand, show that the operand goes on. */
const goesOn = tokenTable(
  ...[symbol.dot, symbol.openParen, symbol.openSquare, symbol.plus, symbol.minus, symbol.star, symbol.slash],
  ...[keyword.else, Currency, keyword.year, keyword.years, keyword.month, keyword.months],
);
const isEntryEnd = tokenTable(symbol.comma, symbol.closeSquare, symbol.closeParen);

export abstract class LiteralParser extends NodeParser {
  // constant = [ '-' ] literal
  constant: ParserRule<LiteralNode | null> = this.same('constant', () => this.signed(this.literal));

  // literal = Text | months | quantity | Date | Instant | Clock | 'true' | 'false' | 'null'
  literal: ParserRule<LiteralNode | null> = this.same('literal', () => this.OR(this.literals));

  // months = Number ( 'year' | 'years' | 'month' | 'months' )
  months: ParserRule<MonthsLiteral | null> = this.always(
    'months',
    (): { text: string | null } => ({ text: null }),
    (draft) => {
      const number = this.CONSUME(literal.number);
      const unit = this.OR(this.calendarUnits);
      if (isWritten(number) && isWritten(unit)) draft.text = `${number.image} ${unit.image}`;
    },
    ({ text }, first) => (text === null ? null : { kind: 'months', text, span: this.spanFrom(first)! }),
  );

  private calendarUnits = {
    DEF: this.eachToken(keyword.year, keyword.years, keyword.month, keyword.months),
    ERR_MSG: '`years` or `months`',
  };

  // quantity = Number [ Currency ] | Duration
  quantity: ParserRule<SignableLiteral | null> = this.same('quantity', () => this.OR(this.quantities));

  private quantities = {
    DEF: [{ ALT: (): SignableLiteral | null => this.amount() }, ...this.eachWritten('duration')],
    ERR_MSG: 'a number',
  };

  private amount(): SignableLiteral | null {
    const number = this.CONSUME(literal.number);
    if (!this.isNext(isCurrency)) return writtenLiteral('number', number, this);
    const currency = this.OPTION(() => this.CONSUME(Currency));
    if (!isWritten(number) || !isWritten(currency)) return null;
    const span = spanning(tokenSpan(number, this), tokenSpan(currency, this));
    return { kind: 'money', amount: number.image, currency: currency.image, span };
  }

  private literals = {
    DEF: [
      { ALT: (): LiteralNode | null => textLiteral(this.CONSUME(Text), this) },
      ...this.eachRule<LiteralNode>(this.months, this.quantity),
      ...this.eachWritten('date', 'instant', 'clock'),
      ...[keyword.true, keyword.false, keyword.null].map((type) => ({
        ALT: () => constantLiteral(this.CONSUME(type), this),
      })),
    ],
    ERR_MSG: 'a value',
  };

  // bound = [ '-' ] quantity | Date | Instant
  bound: ParserRule<LiteralNode | null> = this.same('bound', () => this.OR(this.bounds));

  private bounds = {
    DEF: [{ ALT: () => this.signed(this.quantity) }, ...this.eachWritten('date', 'instant')],
    ERR_MSG: 'a bound',
  };

  // meterWindow = Duration | calendarWindow
  meterWindow: ParserRule<MeterDeclaration['over'] | null> = this.same('meterWindow', () =>
    this.OR(this.meterWindows),
  );

  // calendarWindow = ( 'today' | 'this' ( 'week' | 'month' ) ) 'in' Text
  calendarWindow: ParserRule<CalendarWindow | null> = this.node<CalendarWindow>(
    'calendarWindow',
    () => ({ kind: 'calendar-window', period: null, zone: null, span: null }),
    (draft) => {
      this.OR(this.calendarPeriods(draft));
      this.CONSUME(keyword.in, { ERR_MSG: '`in` and a time zone, such as `in "Europe/Berlin"`,' });
      draft.zone = this.zone();
    },
    ({ period, zone }) => period && zone,
  );

  private calendarPeriods(draft: Draft<CalendarWindow>) {
    const period = (type: TokenType, named: CalendarWindow['period']) => ({
      ALT: () => {
        this.CONSUME(type);
        draft.period = named;
      },
    });
    const thisOne = () => {
      this.CONSUME(keyword.this);
      this.OR1({
        DEF: [period(keyword.week, 'week'), period(keyword.month, 'month')],
        ERR_MSG: '`this week` or `this month`',
      });
    };
    return { DEF: [period(keyword.today, 'day'), { ALT: thisOne }], ERR_MSG: '`today`' };
  }

  private meterWindows = {
    DEF: [...this.eachWritten('duration'), ...this.eachRule<MeterDeclaration['over']>(this.calendarWindow)],
    ERR_MSG:
      'a duration such as `24h`, or `today in "Europe/Berlin"`, `this week in ...`, `this month in ...`',
  };

  // fieldName = Word | Text
  fieldName: ParserRule<NameNode | null> = this.same('fieldName', () => this.OR(this.fieldNames));

  private fieldNames = {
    DEF: [
      { ALT: () => plainName(this.CONSUME(Word), this) },
      { ALT: () => quotedName(this.CONSUME(Text), this) },
    ],
    ERR_MSG: 'the name of a field',
  };

  // path = ( Word | 'risk' ) { '.' fieldName }
  path: ParserRule<Path | null> = this.always(
    'path',
    (): Pick<Draft<Path>, 'root' | 'steps'> => ({ root: null, steps: [] }),
    (draft) => {
      draft.root = plainName(this.OR(this.roots), this);
      if (this.isNext(isDot)) this.readSteps(draft.steps);
    },
    ({ root, steps }) => {
      return root && pathOf(root, steps);
    },
  );

  private readSteps(steps: NameNode[]): void {
    this.MANY(() => {
      this.CONSUME(symbol.dot);
      this.add(steps, this.fieldName);
    });
  }

  private roots = { DEF: this.eachToken(Word, keyword.risk), ERR_MSG: 'a name' };

  // ---- operands read without a rule: most operands are one literal or one path, and nothing of these can be
  // missing

  /**
   * A literal, a list of texts or a path of words that is the whole operand; null for any other operand, of
   * which nothing is then read.
   */
  protected plainOperand(): LiteralNode | TextListExpression | Path | null {
    // While Chevrotain records the rules, operands are read through their rules.
    if (this.RECORDING_PHASE) return null;
    const first = this.LA(1);
    if (first.tokenType === TextListToken) return textListOf(this.CONSUME(TextListToken), this);
    if (isPlainLiteral[first.tokenTypeIdx] === true) {
      return goesOn[this.LA(2).tokenTypeIdx] === true ? null : this.plainLiteral(first);
    }
    if (first.tokenType !== NameToken) return null;
    let end = 2;
    while (isDot[this.LA(end).tokenTypeIdx] === true && isWord[this.LA(end + 1).tokenTypeIdx] === true)
      end += 2;
    return goesOn[this.LA(end).tokenTypeIdx] === true ? null : this.plainPath(end);
  }

  /**
   * A literal that is a whole entry of a list, up to a comma or a closing bracket; null for any other entry,
   * of which nothing is then read.
   */
  protected plainEntry(): LiteralNode | null {
    if (this.RECORDING_PHASE) return null;
    const first = this.LA(1);
    const isPlain =
      isPlainLiteral[first.tokenTypeIdx] === true && isEntryEnd[this.LA(2).tokenTypeIdx] === true;
    return isPlain ? this.plainLiteral(first) : null;
  }

  private plainLiteral(token: Token): LiteralNode | null {
    this.CONSUME(token.tokenType);
    const kind = kindOfWritten.get(token.tokenType);
    return kind === undefined ? textLiteral(token, this) : writtenLiteral(kind, token, this);
  }

  /** Reads a path of words and dots that ends before the token `end` tokens ahead. */
  private plainPath(end: number): Path {
    const root = plainName(this.CONSUME(NameToken), this)!;
    const steps: NameNode[] = [];
    for (let at = 2; at < end; at += 2) {
      this.CONSUME(symbol.dot);
      steps.push(plainName(this.CONSUME(Word), this)!);
    }
    // An array that has grown entry by entry has room for many more; its copy takes only the memory it needs.
    return pathOf(root, steps.slice());
  }

  protected written<Kind extends WrittenKind>(kind: Kind, expected?: string): LiteralOf<Kind> | null {
    const options = expected === undefined ? undefined : { ERR_MSG: expected };
    return writtenLiteral(kind, this.CONSUME(literal[kind], options), this);
  }

  private eachWritten<Kind extends WrittenKind>(...kinds: readonly Kind[]) {
    return kinds.map((kind) => ({ ALT: () => this.written(kind) }));
  }

  /** Reads a literal that may have a sign before it. */
  private signed(rule: ParserRule<LiteralNode | null>): LiteralNode | null {
    const minus = this.OPTION(this.takeMinus);
    const value = this.SUBRULE(rule);
    if (value === null || !isWritten(minus)) return value;
    if (isSignable(value)) return withSign(value, tokenSpan(minus, this));
    const message = 'a sign is written only before a number, an amount or a duration';
    this.report(syntaxError('unexpected-token', tokenSpan(minus, this), message));
    return value;
  }

  private takeMinus = () => this.CONSUME(symbol.minus);
}

function pathOf(root: NameNode, steps: readonly NameNode[]): Path {
  return { kind: 'path', root, steps, span: spanning(root.span, (steps.at(-1) ?? root).span) };
}

export function isSignable(value: { readonly kind: string }): value is SignableLiteral {
  return value.kind === 'number' || value.kind === 'money' || value.kind === 'duration';
}

/** The literal with the minus sign that stands before it at the span `minus`. */
export function withSign(value: SignableLiteral, minus: Span): SignableLiteral {
  const span = spanning(minus, value.span);
  if (value.kind === 'money') return { ...value, amount: `-${value.amount}`, span };
  return { ...value, text: `-${value.text}`, span };
}

const writtenKinds = ['number', 'duration', 'date', 'instant', 'clock'] as const;
type WrittenKind = (typeof writtenKinds)[number];
const kindOfWritten = new Map(writtenKinds.map((kind) => [literal[kind], kind] as const));

export function writtenLiteral<Kind extends WrittenKind>(
  kind: Kind,
  token: Token,
  reader: Reader,
): LiteralOf<Kind> | null {
  if (!isWritten(token)) return null;
  return { kind, text: token.image, span: tokenSpan(token, reader) } as LiteralOf<Kind>;
}

function constantLiteral(token: Token, reader: Reader): LiteralNode | null {
  if (!isWritten(token)) return null;
  const span = tokenSpan(token, reader);
  if (token.tokenType === keyword.null) return { kind: 'null', span };
  return { kind: 'boolean', value: token.tokenType === keyword.true, span };
}
