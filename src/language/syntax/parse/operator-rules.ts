// The parser rules of operators, weakest first: conditions, the values of `let`, and placeholders. Most
// operands have no operator, so a rule looks for an operator before it makes a node. Parts lost to an error
// are `missing` nodes in the tree.

import { type Span, spanning } from '../../diagnostic/span.ts';
import type { ExpressionNode, NameNode } from '../tree/tree.ts';
import { expressionDepth } from '../tree/visit.ts';
import { type ReadContext, syntaxError, tokenSpan } from './context.ts';
import { isSignable, LiteralParser, withSign } from './literal-rules.ts';
import { madeBy, type ParserRule, push, type TokenTable, tokenTable } from './node-parser.ts';
import { type Operand, type Operator, operatorOf, pair, pairUp, prefix } from './operators.ts';
import { comparingSigns, keyword, relatingWords, symbol, type Token } from './tokens.ts';
import { replaceBareValues } from './value-as-condition.ts';

/**
 * Largest depth of operators inside one another, as every later stage walks the tree by recursion. A chain of
 * one `and` or `or` is walked without recursion and counts once.
 */
const expressionDepthMax = 500;

/**
 * The part behind the left side of a comparison: an operator with its right operand, the field that `has`
 * looks for, or the place of `is single_script`.
 */
type RightSide =
  | { readonly operator: Operator; readonly right: Operand }
  | { readonly field: readonly NameNode[] }
  | { readonly quality: Span };

/** A right side while it is read; `mode` is the text mode to restore afterwards. */
interface RightDraft {
  readonly mode: ReadContext['textMode'];
  operator: Operator | null;
  readonly operands: Operand[];
}

const isOr = tokenTable(keyword.or);
const isAnd = tokenTable(keyword.and);
const isNot = tokenTable(keyword.not);
const isTerm = tokenTable(symbol.plus, symbol.minus);
const isFactor = tokenTable(symbol.star, symbol.slash);
const isMinus = tokenTable(symbol.minus);
const isElse = tokenTable(keyword.else);
const isRightSide = tokenTable(
  ...[...comparingSigns, ...relatingWords.map((one) => keyword[one])],
  ...[keyword.not, keyword.in, keyword.has, keyword.is],
);

export abstract class OperatorParser extends LiteralParser {
  abstract primary: ParserRule<ExpressionNode | null>;
  abstract fallback: ParserRule<ExpressionNode | null>;

  /** Whether the next `else` belongs to an `if` around it, and not to the operand before it. */
  protected isElseTaken = false;

  // expression = conjunction { 'or' conjunction }
  expression: ParserRule<ExpressionNode | null> = this.chain(
    'expression',
    () => this.conjunction,
    isOr,
    () => this.CONSUME(keyword.or),
  );

  // conjunction = inversion { 'and' inversion }
  conjunction: ParserRule<ExpressionNode | null> = this.chain(
    'conjunction',
    () => this.inversion,
    isAnd,
    () => this.CONSUME(keyword.and),
  );

  // inversion = { 'not' } comparison
  inversion: ParserRule<ExpressionNode | null> = this.same('inversion', () => {
    return this.isNext(isNot) ? this.inverted() : this.SUBRULE(this.comparison);
  });

  private inverted(): ExpressionNode | null {
    const signs: Token[] = [];
    const operands: Operand[] = [];
    return this.making(
      () => {
        this.MANY(() => signs.push(this.CONSUME(keyword.not)));
        this.operand(operands, this.comparison);
      },
      () => operands[0] && prefix(signs, 'not', operands[0], this),
    );
  }

  // comparison = sum [ ( relation | membership | presence | quality ) ]
  comparison: ParserRule<ExpressionNode | null> = this.same('comparison', () => {
    const from = this.count;
    const value = this.plainOperand() ?? this.SUBRULE(this.sum);
    return this.isNext(isRightSide) ? this.comparedWith(this.operandFrom(from, value)) : value;
  });

  private comparedWith(left: Operand): ExpressionNode | null {
    let right: RightSide | null = null;
    const readRight = () => {
      try {
        right = this.OR(this.rightSides);
      } catch (error) {
        right = madeBy<RightSide>(error) ?? null;
        throw error;
      }
    };
    return this.making(
      () => this.OPTION(readRight),
      () => this.compared(left, right),
    );
  }

  private compared(left: Operand, right: RightSide | null): ExpressionNode {
    if (right === null) return left.value;
    if ('quality' in right) return this.singleScript(left, right.quality);
    return 'field' in right ? this.has(left, right.field) : pair(left, right.operator, right.right);
  }

  // relation = ( '==' | '!=' | '<' | '<=' | '>' | '>=' | 'within' | 'mentions' 'any' 'of'
  //   | ( 'like' | 'matches' | 'starts' 'with' | 'ends' 'with' | 'contains' | 'inside' ) [ 'any' 'of' ] ) sum
  relation: ParserRule<RightSide | null> = this.always(
    'relation',
    () => this.rightDraft(),
    (draft, first) => {
      this.OR(this.relations);
      draft.operator = this.operatorFrom(first);
      const type = this.taken[first]?.tokenType;
      if (type === keyword.like || type === keyword.matches) this.textMode = 'pattern';
      this.sumInto(draft.operands, 0);
    },
    ({ mode, operator: whole, operands }, first) => {
      this.textMode = mode;
      const operator = whole ?? this.operatorFrom(first);
      return operator && { operator, right: operands[0] ?? this.operandFrom(this.count, null) };
    },
  );

  private relations = [
    ...this.eachToken(...comparingSigns),
    ...this.eachToken(keyword.within),
    { ALT: () => this.CONSUME(keyword.mentions) && this.CONSUME(keyword.any) && this.CONSUME(keyword.of) },
    { ALT: () => this.textRelation() },
  ];

  private textRelation(): void {
    this.OR1(this.textRelations);
    this.OPTION({
      GATE: () => this.isAnyOf(),
      DEF: () => this.CONSUME1(keyword.any) && this.CONSUME1(keyword.of),
    });
  }

  /** Whether `any of` follows; `any` alone may also be a name. */
  private isAnyOf(): boolean {
    return (
      this.RECORDING_PHASE || (this.LA(1).tokenType === keyword.any && this.LA(2).tokenType === keyword.of)
    );
  }

  private textRelations = [
    ...this.eachToken(keyword.like, keyword.matches),
    { ALT: () => this.CONSUME(keyword.starts) && this.CONSUME(keyword.with) },
    { ALT: () => this.CONSUME(keyword.ends) && this.CONSUME1(keyword.with) },
    ...this.eachToken(keyword.contains, keyword.inside),
  ];

  // membership = [ 'not' ] 'in' sum [ '..' sum ]
  membership: ParserRule<RightSide | null> = this.always(
    'membership',
    () => this.rightDraft(),
    (draft, first) => {
      this.OPTION(() => this.CONSUME(keyword.not));
      this.CONSUME(keyword.in);
      draft.operator = this.operatorFrom(first);
      this.sumInto(draft.operands, 0);
      this.behind(1, symbol.range, () => this.sumInto(draft.operands, 1));
    },
    ({ operator: whole, operands }, first) => {
      const operator = whole ?? this.operatorFrom(first);
      if (operator === null) return null;
      const [low = this.operandFrom(this.count, null), high] = operands;
      if (high === undefined) return { operator, right: low };
      const extent = spanning(low.extent, high.extent);
      const value = { kind: 'range', low: low.value, high: high.value, span: extent } as const;
      return { operator, right: { value, extent } };
    },
  );

  private rightDraft(): RightDraft {
    return { mode: this.textMode, operator: null, operands: [] };
  }

  // presence = 'has' fieldName { '.' fieldName }
  presence: ParserRule<RightSide | null> = this.always(
    'presence',
    (): { field: NameNode[] } => ({ field: [] }),
    ({ field }) => {
      this.CONSUME(keyword.has);
      this.separated(symbol.dot, (occurrence) => this.add(field, this.fieldName, occurrence));
    },
    (draft) => draft,
  );

  // quality = 'is' 'single_script'
  quality: ParserRule<RightSide | null> = this.always(
    'quality',
    (): { quality: Span | null } => ({ quality: null }),
    (draft, first) => {
      this.CONSUME(keyword.is);
      this.CONSUME(keyword.single_script);
      draft.quality = this.spanFrom(first);
    },
    ({ quality: whole }, first) => {
      const quality = whole ?? this.spanFrom(first);
      return quality && { quality };
    },
  );

  private rightSides = this.eachRule(this.relation, this.membership, this.presence, this.quality);

  private singleScript({ value: subject, extent }: Operand, quality: Span): ExpressionNode {
    if (subject.kind === 'missing') return subject;
    return { kind: 'single-script', subject, span: spanning(extent, quality) };
  }

  private has({ value: subject, extent }: Operand, field: readonly NameNode[]): ExpressionNode {
    if (subject.kind === 'missing') return subject;
    if (subject.kind !== 'path' && subject.kind !== 'look-up') {
      const help = 'write a path before it, such as `payload has note`';
      this.report(syntaxError('has-without-path', subject.span, '`has` asks about a path', help));
      return this.missingAt(subject.span.start);
    }
    const last = field.at(-1);
    if (last === undefined) return this.missing(this.count);
    return { kind: 'has', subject, field, span: spanning(extent, last.span) };
  }

  // sum = product { ( '+' | '-' ) product }
  sum: ParserRule<ExpressionNode | null> = this.chain(
    'sum',
    () => this.product,
    isTerm,
    () => this.OR(this.terms),
  );

  private terms = this.eachToken(symbol.plus, symbol.minus);

  // product = negation { ( '*' | '/' ) negation }
  product: ParserRule<ExpressionNode | null> = this.chain(
    'product',
    () => this.negation,
    isFactor,
    () => this.OR(this.factors),
  );

  private factors = this.eachToken(symbol.star, symbol.slash);

  // negation = { '-' } primary { 'else' fallback }
  negation: ParserRule<ExpressionNode | null> = this.same('negation', () => {
    if (this.isNext(isMinus)) return this.negationOf([]);
    const from = this.count;
    const value = this.SUBRULE(this.primary);
    return this.isNext(isElse) && !this.isElseTaken
      ? this.negationOf([this.operandFrom(from, value)])
      : value;
  });

  /** Reads the rest of a negation of which nothing has been read, or only the first operand. */
  private negationOf(operands: Operand[]): ExpressionNode | null {
    const signs: Token[] = [];
    const readRest = () => {
      if (operands.length === 0) {
        this.MANY(() => signs.push(this.CONSUME(symbol.minus)));
        this.operand(operands, this.primary);
      }
      this.MANY1({
        GATE: () => !this.isElseTaken,
        DEF: () => {
          this.CONSUME(keyword.else);
          this.operand(operands, this.fallback);
        },
      });
    };
    return this.making(readRest, () => this.negated(signs, operands));
  }

  private negated(
    signs: readonly Token[],
    [operand, ...fallbacks]: readonly Operand[],
  ): ExpressionNode | null {
    if (operand === undefined) return null;
    const whole = fallbacks.reduce((subject, fallback) => {
      const extent = spanning(subject.extent, fallback.extent);
      const value = { kind: 'else', subject: subject.value, fallback: fallback.value, span: extent } as const;
      return { value, extent };
    }, operand);
    const { value, extent } = whole;
    const last = signs.at(-1);
    // `-5` is a number with a sign, while `-(5)` and `-x` are negations.
    const isBare = isSignable(value) && value.span.start === extent.start;
    if (last === undefined || !isBare) return prefix(signs, '-', whole, this);
    const signed = withSign(value, tokenSpan(last, this));
    return prefix(signs.slice(0, -1), '-', { value: signed, extent: signed.span }, this);
  }

  /** Reads a whole expression, as a declaration, a clause or a placeholder holds it. */
  protected whole<Key extends string>(
    draft: { [One in Key]: ExpressionNode | null },
    key: Key,
    occurrence = 0,
  ): void {
    const first = this.count;
    try {
      this.inner(draft, key, occurrence);
    } finally {
      draft[key] = this.notTooDeep(draft[key]!, first);
    }
  }

  protected optionalWhen(draft: { when: ExpressionNode | null }): void {
    this.behind(3, keyword.when, () => this.whole(draft, 'when'));
  }

  /** Reads an expression that must stand at this place; a missing node takes its place if there is none. */
  protected inner<Key extends string>(
    draft: { [One in Key]: ExpressionNode | null },
    key: Key,
    occurrence = 0,
  ): void {
    const first = this.count;
    const isElseTaken = this.isElseTaken;
    this.isElseTaken = false;
    try {
      this.part(draft, key, this.expression, occurrence);
    } finally {
      this.isElseTaken = isElseTaken;
      draft[key] ??= this.missing(first);
    }
  }

  protected addInner(list: ExpressionNode[], occurrence: number): void {
    const plain = this.plainEntry();
    if (plain !== null) return void list.push(plain);
    const entry: { value: ExpressionNode | null } = { value: null };
    try {
      this.inner(entry, 'value', occurrence);
    } finally {
      push(list, entry.value);
    }
  }

  /**
   * The expression that was read behind the first `first` tokens, or a missing node if it is too deep. Each
   * level takes a token, so a short expression needs no walk.
   */
  protected notTooDeep(expression: ExpressionNode, first: number): ExpressionNode {
    if (this.count - first <= expressionDepthMax) return expression;
    if (expressionDepth(expression) <= expressionDepthMax) return expression;
    const message = `an expression is more than ${expressionDepthMax} operators deep`;
    const help = 'name parts of it with `let`, or use a list';
    this.report(syntaxError('expression-too-deep', expression.span, message, help));
    return this.missingAt(expression.span.start);
  }

  /** Defines a rule of operands with operators of equal strength between them. */
  private chain(
    name: string,
    operand: () => ParserRule<ExpressionNode | null>,
    isOperator: TokenTable,
    operator: () => Token,
  ): ParserRule<ExpressionNode | null> {
    return this.same<ExpressionNode>(name, () => {
      const from = this.count;
      const value = this.SUBRULE(operand());
      return this.isNext(isOperator)
        ? this.chained(this.operandFrom(from, value), operand(), operator)
        : value;
    });
  }

  /** Reads the operators and operands behind the first operand, and pairs them up with it. */
  private chained(
    first: Operand,
    rule: ParserRule<ExpressionNode | null>,
    operator: () => Token,
  ): ExpressionNode | null {
    const operands = [first];
    const operators: Token[] = [];
    return this.making(
      () =>
        this.MANY(() => {
          operators.push(operator());
          this.operand(operands, rule, 1);
        }),
      () => {
        if (operators.length === operands.length) operands.push(this.operandFrom(this.count, null));
        return pairUp(replaceBareValues(operands, operators[0]?.image, this), operators, this);
      },
    );
  }

  private sumInto(operands: Operand[], occurrence: number): void {
    const from = this.count;
    const plain = this.plainOperand();
    if (plain === null) this.operand(operands, this.sum, occurrence);
    else operands.push(this.operandFrom(from, plain));
  }

  /** Reads an operand into a list; after an error, what there is of it. */
  private operand(operands: Operand[], rule: ParserRule<ExpressionNode | null>, occurrence = 0): void {
    const from = this.count;
    try {
      operands.push(this.operandFrom(from, this.subrule(occurrence, rule)));
    } catch (error) {
      operands.push(this.operandFrom(from, madeBy<ExpressionNode>(error)));
      throw error;
    }
  }

  /** The operator that was read behind the first `first` tokens; null if none was. */
  private operatorFrom(first: number): Operator | null {
    return this.count === first ? null : operatorOf(this.taken[first]!, this.taken[this.count - 1]!, this);
  }

  /** What was read behind the first `from` tokens, as an operand; a missing node if nothing was. */
  private operandFrom(from: number, read: ExpressionNode | null | undefined): Operand {
    // While Chevrotain records the rules, no token has been read.
    const value = this.RECORDING_PHASE ? this.missing(from) : (read ?? this.missing(from));
    const extent = this.spanFrom(from) ?? value.span;
    const isBare = value.span.start === extent.start && value.span.end === extent.end;
    return { value, extent: isBare ? value.span : extent };
  }
}
