// The rules of operators, weakest first: what a condition, a `let` or a placeholder may say. Most operands stand without an
// operator, so a rule looks whether one follows before it makes anything. What an error leaves out is missing in the tree.

import { spanning } from '../../diagnostic/span.ts';
import type { ExpressionNode, NameNode } from '../tree/tree.ts';
import { expressionDepth } from '../tree/visit.ts';
import { makeSpan, type ReadContext, syntaxError, tokenSpan } from './context.ts';
import { isSignable, LiteralParser, withSign } from './literal-rules.ts';
import { madeBy, type ParserRule, type TokenTable, tokenTable } from './node-parser.ts';
import { type Operand, type Operator, operatorOf, pair, pairUp, prefix } from './operators.ts';
import { sign, type Token, tokenEnd, word } from './tokens.ts';
import { replaceBareValues } from './value-as-condition.ts';

/** How deep operators may stand inside one another: every later stage walks the tree by recursion, but for chains. */
const expressionDepthMax = 500;

/** An expression with the counts of tokens up to its beginning and up to its end. */
interface Read {
  value?: ExpressionNode | null;
  from: number;
  to: number;
}

interface Chain {
  last: Read;
  operands: Operand[];
  operators: Token[];
}

interface Prefixed {
  signs?: Token[];
  operand?: Read;
  fallbacks?: Read[];
}

/** What stands behind the left side of a comparison: an operator and the right side, or what is asked to be there. */
type RightSide =
  | { readonly operator: Operator; readonly right: Operand }
  | { readonly field: readonly NameNode[] };

const isOr = tokenTable(word.or);
const isAnd = tokenTable(word.and);
const isNot = tokenTable(word.not);
const isTerm = tokenTable(sign.plus, sign.minus);
const isFactor = tokenTable(sign.star, sign.slash);
const isMinus = tokenTable(sign.minus);
const isElse = tokenTable(word.else);
const isRightSide = tokenTable(
  ...[sign.equal, sign.notEqual, sign.below, sign.atMost, sign.above, sign.atLeast, word.like, word.matches],
  ...[word.starts, word.ends, word.contains, word.mentions, word.inside, word.not, word.in, word.has],
);

export abstract class OperatorParser extends LiteralParser {
  abstract primary: ParserRule<ExpressionNode | null>;
  abstract fallback: ParserRule<ExpressionNode | null>;

  // expression = conjunction { 'or' conjunction }
  expression: ParserRule<ExpressionNode | null> = this.chain(
    'expression',
    () => this.conjunction,
    isOr,
    () => this.CONSUME(word.or),
  );

  // conjunction = inversion { 'and' inversion }
  conjunction: ParserRule<ExpressionNode | null> = this.chain(
    'conjunction',
    () => this.inversion,
    isAnd,
    () => this.CONSUME(word.and),
  );

  // inversion = { 'not' } comparison
  inversion: ParserRule<ExpressionNode | null> = this.same('inversion', () => {
    if (!this.isNext(isNot)) return this.SUBRULE(this.comparison);
    const empty: Prefixed = {};
    return this.making(
      empty,
      (draft) => {
        this.MANY(() => this.each(draft, 'signs', () => this.CONSUME(word.not)));
        this.operand(draft, 'operand', this.comparison);
      },
      ({ signs = [], operand }) => operand && prefix(signs, 'not', this.operandOf(operand), this),
    );
  });

  // comparison = sum [ ( relation | membership | presence ) ]
  comparison: ParserRule<ExpressionNode | null> = this.same('comparison', () => {
    const from = this.count;
    const value = this.SUBRULE(this.sum);
    if (!this.isNext(isRightSide)) return value;
    const left: Read & { right?: RightSide | null } = { value, from, to: this.count };
    return this.making(
      left,
      (draft) => void this.OPTION(() => this.part(draft, 'right', () => this.OR(this.rightSides))),
      (draft) => {
        const left = this.operandOf(draft);
        const { right } = draft;
        if (!right) return left.value;
        return 'field' in right ? this.has(left, right.field) : pair(left, right.operator, right.right);
      },
    );
  });

  // relation = ( '==' | '!=' | '<' | '<=' | '>' | '>=' | 'like' | 'matches' | 'starts' 'with' | 'ends' 'with'
  //   | 'contains' | 'mentions' 'any' 'of' | 'inside' ) sum
  relation: ParserRule<RightSide | null> = this.always(
    'relation',
    (draft: { mode?: ReadContext['textMode']; right?: Read }, first) => {
      draft.mode = this.textMode;
      this.OR(this.relations);
      const type = this.taken[first]?.tokenType;
      if (type === word.like || type === word.matches) this.textMode = 'pattern';
      this.operand(draft, 'right', this.sum);
    },
    ({ mode, right = this.nothing() }, first) => {
      if (mode !== undefined) this.textMode = mode;
      const operator = this.operatorFrom(first, right.from);
      return operator && { operator, right: this.operandOf(right) };
    },
  );

  private relations = [
    ...this.eachToken(sign.equal, sign.notEqual, sign.below, sign.atMost, sign.above, sign.atLeast),
    ...this.eachToken(word.like, word.matches),
    { ALT: () => this.CONSUME(word.starts) && this.CONSUME(word.with) },
    { ALT: () => this.CONSUME(word.ends) && this.CONSUME1(word.with) },
    ...this.eachToken(word.contains),
    { ALT: () => this.CONSUME(word.mentions) && this.CONSUME(word.any) && this.CONSUME(word.of) },
    ...this.eachToken(word.inside),
  ];

  // membership = [ 'not' ] 'in' sum [ '..' sum ]
  membership: ParserRule<RightSide | null> = this.always(
    'membership',
    (draft: { low?: Read; high?: Read }) => {
      this.OPTION(() => this.CONSUME(word.not));
      this.CONSUME(word.in);
      this.operand(draft, 'low', this.sum);
      this.OPTION1(() => {
        this.CONSUME(sign.range);
        this.operand(draft, 'high', this.sum, 1);
      });
    },
    ({ low: lowRead = this.nothing(), high: highRead }, first) => {
      const operator = this.operatorFrom(first, lowRead.from);
      if (operator === null) return null;
      const low = this.operandOf(lowRead);
      if (highRead === undefined) return { operator, right: low };
      const high = this.operandOf(highRead);
      const extent = spanning(low.extent, high.extent);
      const value = { kind: 'range', low: low.value, high: high.value, span: extent } as const;
      return { operator, right: { value, extent } };
    },
  );

  // presence = 'has' fieldName { '.' fieldName }
  presence: ParserRule<RightSide | null> = this.always(
    'presence',
    (draft: { field?: NameNode[] }) => {
      this.CONSUME(word.has);
      this.dotted(draft, 'field', (index) => this.subrule(index, this.fieldName));
    },
    ({ field = [] }) => ({ field }),
  );

  private rightSides = this.eachRule(this.relation, this.membership, this.presence);

  private has({ value: subject, extent }: Operand, field: readonly NameNode[]): ExpressionNode {
    if (subject.kind === 'missing') return subject;
    if (subject.kind !== 'path') {
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

  private terms = this.eachToken(sign.plus, sign.minus);

  // product = negation { ( '*' | '/' ) negation }
  product: ParserRule<ExpressionNode | null> = this.chain(
    'product',
    () => this.negation,
    isFactor,
    () => this.OR(this.factors),
  );

  private factors = this.eachToken(sign.star, sign.slash);

  // negation = { '-' } primary { 'else' fallback }
  negation: ParserRule<ExpressionNode | null> = this.same('negation', () => {
    const draft: Prefixed = {};
    if (this.isNext(isMinus)) return this.making(draft, () => this.readNegation(draft), this.negated);
    const operand = this.nothing();
    const value = this.SUBRULE(this.primary);
    if (!this.isNext(isElse)) return value;
    draft.operand = { ...operand, value, to: this.count };
    return this.making(draft, () => this.readFallbacks(draft), this.negated);
  });

  private readNegation(draft: Prefixed): void {
    this.MANY(() => this.each(draft, 'signs', () => this.CONSUME(sign.minus)));
    this.operand(draft, 'operand', this.primary);
    this.readFallbacks(draft);
  }

  private readFallbacks(draft: Prefixed): void {
    this.MANY1(() => {
      this.CONSUME(word.else);
      const fallback = this.nothing();
      draft.fallbacks = [...(draft.fallbacks ?? []), fallback];
      this.readInto(fallback, this.fallback);
    });
  }

  private negated = ({ signs = [], operand, fallbacks = [] }: Prefixed): ExpressionNode | undefined => {
    if (operand === undefined) return undefined;
    const whole = fallbacks.reduce((subject, read) => {
      const fallback = this.operandOf(read);
      const extent = spanning(subject.extent, fallback.extent);
      const value = { kind: 'else', subject: subject.value, fallback: fallback.value, span: extent } as const;
      return { value, extent };
    }, this.operandOf(operand));
    const { value, extent } = whole;
    const last = signs.at(-1);
    // `-5` is a number with a sign, while `-(5)` and `-x` are negations.
    const isBare = isSignable(value) && value.span.start === extent.start;
    if (last === undefined || !isBare) return prefix(signs, '-', whole, this);
    const literal = withSign(value, tokenSpan(last, this));
    return prefix(signs.slice(0, -1), '-', { value: literal, extent: literal.span }, this);
  };

  // ---- operands

  /** Reads a whole expression, as a declaration, a clause or a placeholder holds it. */
  protected whole<Key extends string>(
    draft: { [One in Key]?: ExpressionNode | null | undefined },
    key: Key,
    occurrence = 0,
  ): void {
    const first = this.count;
    try {
      this.part(draft, key, () => this.inner(occurrence));
    } finally {
      draft[key] = this.notTooDeep(draft[key] ?? this.missing(first), first);
    }
  }

  /** An expression where one must stand. */
  protected inner(occurrence = 0): ExpressionNode {
    const first = this.count;
    try {
      return this.subrule(occurrence, this.expression) ?? this.missing(first);
    } catch (error) {
      throw this.leaving(error, madeBy<ExpressionNode>(error) ?? this.missing(first));
    }
  }

  /** The expression that was read behind the first so many tokens; each step down takes a token. */
  protected notTooDeep(expression: ExpressionNode, first: number): ExpressionNode {
    if (this.count - first <= expressionDepthMax) return expression;
    if (expressionDepth(expression) <= expressionDepthMax) return expression;
    const message = `an expression is more than ${expressionDepthMax} operators deep`;
    const help = 'name parts of it with `let`, or use a list';
    this.report(syntaxError('expression-too-deep', expression.span, message, help));
    return this.missingAt(expression.span.start);
  }

  /** A rule of operands with operators of equal strength between them. */
  private chain(
    name: string,
    operand: () => ParserRule<ExpressionNode | null>,
    isOperator: TokenTable,
    operator: () => Token,
  ): ParserRule<ExpressionNode | null> {
    return this.same<ExpressionNode>(name, () => {
      const from = this.count;
      const value = this.SUBRULE(operand());
      if (!this.isNext(isOperator)) return value;
      const first: Chain = { last: { value, from, to: this.count }, operands: [], operators: [] };
      return this.making(
        first,
        (draft) =>
          this.MANY(() => {
            draft.operands.push(this.operandOf(draft.last));
            draft.operators.push(operator());
            this.operand(draft, 'last', operand(), 1);
          }),
        ({ operands, operators, last }) => {
          const all = [...operands, this.operandOf(last)];
          return pairUp(replaceBareValues(all, operators[0]?.image, this), operators, this);
        },
      );
    });
  }

  /** Reads an operand into a part of a draft, or what there is of it. */
  private operand<Key extends string>(
    draft: { [One in Key]?: Read },
    key: Key,
    rule: ParserRule<ExpressionNode | null>,
    occurrence = 0,
  ): void {
    const read = this.nothing();
    draft[key] = read;
    this.readInto(read, rule, occurrence);
  }

  private readInto(read: Read, rule: ParserRule<ExpressionNode | null>, occurrence = 0): void {
    try {
      this.part(read, 'value', () => this.subrule(occurrence, rule));
    } finally {
      read.to = this.count;
    }
  }

  private nothing(): Read {
    return { from: this.count, to: this.count };
  }

  private operatorFrom(first: number, to: number): Operator | null {
    return to === first ? null : operatorOf(this.taken[first]!, this.taken[to - 1]!, this);
  }

  private operandOf({ value: read, from, to }: Read): Operand {
    const value = read ?? this.missing(from);
    if (from === to) return { value, extent: value.span };
    const start = this.taken[from]!.startOffset;
    const end = tokenEnd(this.taken[to - 1]!);
    const isBare = value.span.start === start && value.span.end === end;
    return { value, extent: isBare ? value.span : makeSpan(this, start, end) };
  }
}
