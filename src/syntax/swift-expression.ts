// Tokens → expressions of the tree in one step, for text that the grammar accepts as it stands. The rules are those of
// grammar/expression-rules.ts and the nodes those of build-expression.ts; a law test holds the two equal.

import { sign } from '../../grammar/tokens.ts';
import { literalKind, nameKind, SwiftLiterals, signKind, wordKind } from './swift-literal.ts';
import { endKind, isWordKind, type Kind, surprise } from './swift-scan.ts';
import type { BinaryOperator, Expression, Quantifier } from './tree.ts';
import { isBareValue } from './value-as-condition.ts';

/** Operators of arithmetic and `else` in one expression: with the nesting limit they keep every depth within bounds. */
const leaningMax = 100;

// What is asked often stands in names of its own.
const { comma, dot, range, plus, minus, star, slash } = signKind;
const { openParen, closeParen, openSquare, closeSquare } = signKind;
const { or, and, not, has, in: inKind, else: elseKind } = wordKind;

/** Operators between two operands that lean nowhere, by the kind of their first word. */
const relations: readonly (BinaryOperator | undefined)[] = relationTable();

export abstract class SwiftExpressions extends SwiftLiterals {
  private leaning = 0;

  /** A whole expression. */
  protected expression(): Expression {
    this.leaning = 0;
    return this.disjunction();
  }

  private disjunction(): Expression {
    const first = this.at;
    let left = this.conjunction();
    if (this.next() !== or) return left;
    refuseBare(left);
    while (this.takes(or)) left = this.pair(first, 'or', this.at - 1, left, refuseBare(this.conjunction()));
    return left;
  }

  private conjunction(): Expression {
    const first = this.at;
    let left = this.inversion();
    if (this.next() !== and) return left;
    refuseBare(left);
    while (this.takes(and)) left = this.pair(first, 'and', this.at - 1, left, refuseBare(this.inversion()));
    return left;
  }

  /** Two operands of which the first begins at a token, with an operator that begins at another. */
  private pair(
    first: number,
    operator: BinaryOperator,
    operatorFirst: number,
    left: Expression,
    right: Expression,
    operatorLast = operatorFirst,
  ): Expression {
    const operatorSpan = this.span(operatorFirst, operatorLast);
    return { kind: 'binary', operator, operatorSpan, left, right, span: this.from(first) };
  }

  private inversion(): Expression {
    const first = this.at;
    if (!this.takes(not)) return this.comparison();
    const operand = this.inversion();
    return { kind: 'unary', operator: 'not', operand, span: this.from(first) };
  }

  private comparison(): Expression {
    const first = this.at;
    const left = this.sum();
    const kind = this.next();
    const operator = relations[kind];
    if (operator !== undefined) return this.relation(first, left, operator);
    if (kind === inKind || kind === not) return this.membership(first, left);
    return kind === has ? this.presence(first, left) : left;
  }

  private relation(first: number, left: Expression, operator: BinaryOperator): Expression {
    const operatorFirst = this.at++;
    if (operator === 'starts with' || operator === 'ends with') this.take(wordKind.with);
    if (operator === 'mentions any of') {
      this.take(wordKind.any);
      this.take(wordKind.of);
    }
    const operatorLast = this.at - 1;
    const mode = this.textMode;
    if (operator === 'like' || operator === 'matches') this.textMode = 'pattern';
    const right = this.sum();
    this.textMode = mode;
    return this.pair(first, operator, operatorFirst, left, right, operatorLast);
  }

  private membership(first: number, left: Expression): Expression {
    const operatorFirst = this.at;
    const operator = this.takes(not) ? 'not in' : 'in';
    const operatorLast = this.take(inKind);
    const lowFirst = this.at;
    let right = this.sum();
    if (this.takes(range)) {
      const high = this.sum();
      right = { kind: 'range', low: right, high, span: this.from(lowFirst) };
    }
    return this.pair(first, operator, operatorFirst, left, right, operatorLast);
  }

  private presence(first: number, subject: Expression): Expression {
    this.at++;
    if (subject.kind !== 'path') throw surprise;
    const field = [this.fieldName()];
    while (this.takes(dot)) field.push(this.fieldName());
    return { kind: 'has', subject, field, span: this.from(first) };
  }

  private sum(): Expression {
    const first = this.at;
    let left = this.product();
    for (let kind = this.next(); kind === plus || kind === minus; kind = this.next()) {
      const operator = this.lean();
      left = this.pair(first, kind === plus ? '+' : '-', operator, left, this.product());
    }
    return left;
  }

  private product(): Expression {
    const first = this.at;
    let left = this.negation();
    for (let kind = this.next(); kind === star || kind === slash; kind = this.next()) {
      const operator = this.lean();
      left = this.pair(first, kind === star ? '*' : '/', operator, left, this.negation());
    }
    return left;
  }

  /** The operator that is read here, counted. */
  private lean(): number {
    if (++this.leaning > leaningMax) throw surprise;
    return this.at++;
  }

  private negation(): Expression {
    const first = this.at;
    if (!this.takes(minus)) return this.alternatives();
    const kind = this.next();
    if (kind === literalKind.number || kind === literalKind.duration) {
      const signed = this.quantity(first);
      if (this.next() !== elseKind) return signed;
      this.at = first + 1;
    }
    const operand = this.negation();
    return { kind: 'unary', operator: '-', operand, span: this.from(first) };
  }

  private alternatives(): Expression {
    const first = this.at;
    let subject = this.primary();
    while (this.next() === elseKind) {
      this.lean();
      const fallback = this.fallback();
      subject = { kind: 'else', subject, fallback, span: this.from(first) };
    }
    return subject;
  }

  private fallback(): Expression {
    const kind = this.next();
    if (kind === openParen) return this.parentheses();
    return isWordKind(kind) || kind === wordKind.risk ? this.path() : this.constant();
  }

  // ---- operands

  private primary(): Expression {
    const kind = this.next();
    if (kind === nameKind) return this.kinds[this.at + 1] === openParen ? this.call() : this.path();
    if (kind === openParen) return this.parentheses();
    if (kind === openSquare) return this.listLiteral();
    if (isWordKind(kind)) return this.wordPrimary(kind);
    if (kind === wordKind.risk) return this.path();
    if (kind === wordKind.some || kind === wordKind.every || kind === wordKind.no) return this.quantifier();
    return this.literal();
  }

  /** What begins with a word that may mean something. */
  private wordPrimary(kind: Kind): Expression {
    const after = this.kinds[this.at + 1]!;
    if ((kind === wordKind.count || kind === wordKind.sum) && isWordKind(after)) return this.quantifier();
    if (kind === wordKind.today && after === inKind) {
      const first = this.at;
      this.at += 2;
      if (this.isText()) return { kind: 'today', zone: this.textLiteral(), span: this.from(first) };
      this.at = first;
    }
    return after === openParen ? this.call() : this.path();
  }

  private parentheses(): Expression {
    this.take(openParen);
    const inner = this.disjunction();
    this.take(closeParen);
    return inner;
  }

  private listLiteral(): Expression {
    const first = this.take(openSquare);
    const entries: Expression[] = [];
    while (this.next() !== closeSquare) {
      const after = this.kinds[this.at + 1];
      const isAlone = after === comma || after === closeSquare;
      entries.push(isAlone && this.isText() ? this.textLiteral() : this.disjunction());
      if (!this.takes(comma)) break;
    }
    this.take(closeSquare);
    return { kind: 'list-literal', entries, span: this.from(first) };
  }

  private call(): Expression {
    const first = this.at++;
    const callee = this.name(first);
    this.take(openParen);
    const args: Expression[] = [];
    if (this.next() !== closeParen) {
      do args.push(this.disjunction());
      while (this.takes(comma));
    }
    this.take(closeParen);
    return { kind: 'call', callee, args, span: this.from(first) };
  }

  private quantifier(): Expression {
    const first = this.at++;
    const quantifier = this.image(first) as Quantifier['quantifier'];
    const variable = this.declaredName();
    this.take(inKind);
    const sources: Expression[] = [];
    do sources.push(this.listSource());
    while (this.takes(comma));
    const body = this.parentheses();
    return { kind: 'quantifier', quantifier, variable, sources, body, span: this.from(first) };
  }

  private listSource(): Expression {
    if (this.next() === openSquare) return this.listLiteral();
    return isWordKind(this.next()) && this.isCalledSource() ? this.call() : this.path();
  }

  /** Whether the parentheses behind a list's name are arguments and not the body: as the grammar tells them apart. */
  private isCalledSource(): boolean {
    if (this.kinds[this.at + 1] !== openParen) return false;
    let depth = 0;
    for (let ahead = this.at + 1; this.kinds[ahead] !== endKind; ahead++) {
      const kind = this.kinds[ahead];
      if (kind === openParen) depth++;
      if (kind === closeParen) depth--;
      if (depth > 0) continue;
      const after = this.kinds[ahead + 1];
      const isBlankAfterWord = this.ends[this.at]! < this.starts[this.at + 1]!;
      return after === openParen || (after === comma && !isBlankAfterWord);
    }
    return false;
  }
}

/** A bare value beside `and` or `or` may be a mistake. */
function refuseBare(operand: Expression): Expression {
  if (isBareValue(operand)) throw surprise;
  return operand;
}

function relationTable(): readonly (BinaryOperator | undefined)[] {
  const table: (BinaryOperator | undefined)[] = Array.from({ length: 256 });
  const firstWords = { starts: 'starts with', ends: 'ends with', mentions: 'mentions any of' } as const;
  for (const key of ['equal', 'notEqual', 'below', 'atMost', 'above', 'atLeast'] as const) {
    table[signKind[key]] = sign[key].PATTERN as BinaryOperator;
  }
  for (const key of ['like', 'matches', 'contains', 'inside'] as const) table[wordKind[key]] = key;
  for (const key of ['starts', 'ends', 'mentions'] as const) table[wordKind[key]] = firstWords[key];
  return table;
}
