// Turns the text of generated functions into a tree. The reader knows only what the generators write.
// INVARIANT: anything unknown is refused with an error before a request is decided.

import {
  binaryOperators,
  type CodeAssignment,
  type CodeExpression,
  type CodeOperator,
  type CodeStatement,
  type FunctionTree,
} from './tree.ts';

const token =
  /\s*(?:("(?:[^"\\]|\\.)*")|(\d[\d.]*(?:e[+-]?\d+)?)|([A-Za-z_$][\w$]*)|(===|!==|=>|\?\?|\?\.|\|\||&&|[=!<>]=|\+\+|--|\+=|[-+*&|<>=!?:;,.(){}[\]]))/y;

type TokenKind = 'text' | 'number' | 'word' | 'sign' | 'end';

interface CodeToken {
  readonly kind: TokenKind;
  readonly text: string;
}

/** Returns the statements of the text. Throws a SyntaxError for anything that the generators do not write. */
export function read(text: string): readonly CodeStatement[] {
  const reader = new Reader(tokensOf(text));
  const statements: CodeStatement[] = [];
  while (reader.kind !== 'end') statements.push(...reader.statement());
  return statements;
}

function tokensOf(text: string): readonly CodeToken[] {
  const tokens: CodeToken[] = [];
  const end = text.trimEnd().length;
  token.lastIndex = 0;
  while (token.lastIndex < end) {
    const at = token.lastIndex;
    const match = token.exec(text);
    if (match === null) throw new SyntaxError(`generated code has an unexpected character at ${at}`);
    const [, quoted, number, word, sign] = match;
    if (quoted !== undefined) tokens.push({ kind: 'text', text: quoted });
    else if (number !== undefined) tokens.push({ kind: 'number', text: number });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else tokens.push({ kind: 'sign', text: sign! });
  }
  return tokens;
}

const endToken: CodeToken = { kind: 'end', text: '' };
const named: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['true', true],
  ['false', false],
  ['null', null],
  ['undefined', undefined],
  ['Infinity', Number.POSITIVE_INFINITY],
]);

/** Reads tokens. A class, because all of its methods advance the same position in one list. */
class Reader {
  readonly #tokens: readonly CodeToken[];
  #at = 0;

  constructor(tokens: readonly CodeToken[]) {
    this.#tokens = tokens;
  }

  get kind(): TokenKind {
    return this.#peek().kind;
  }

  /** Reads one statement and returns none, one or several: `let a, b` declares two names. */
  statement(): readonly CodeStatement[] {
    const { kind, text } = this.#peek();
    if (kind === 'text') {
      // The directive "use strict".
      this.#next();
      this.#expect(';');
      return [];
    }
    if (kind === 'word') {
      const statements = this.#statementOf(text);
      if (statements !== null) return statements;
    }
    if (text === '{') return [this.#block(false)];
    const expression = this.#expression();
    this.#take(';');
    return [{ kind: 'expression', expression }];
  }

  #statementOf(word: string): readonly CodeStatement[] | null {
    switch (word) {
      case 'let':
      case 'const': {
        const declared = this.#declarations();
        this.#expect(';');
        return declared;
      }
      case 'return': {
        this.#next();
        const value = this.#expression();
        this.#take(';');
        return [{ kind: 'return', value }];
      }
      case 'if': {
        this.#next();
        const test = this.#inParentheses();
        return [{ kind: 'if', test, whenTrue: this.#one() }];
      }
      case 'for':
        return [this.#for()];
      case 'break':
        this.#next();
        this.#word();
        this.#expect(';');
        return [{ kind: 'break' }];
      case 'function': {
        this.#next();
        const name = this.#word();
        return [{ kind: 'function', name, code: this.#function() }];
      }
      default:
        if (this.#peek(1).text !== ':') return null;
        this.#next();
        this.#next();
        return [this.#block(true)];
    }
  }

  #declarations(): readonly CodeStatement[] {
    const declared: CodeStatement[] = [];
    do {
      this.#next();
      const name = this.#word();
      declared.push({ kind: 'declare', name, value: this.#take('=') ? this.#assignment() : null });
    } while (this.#peek().text === ',');
    return declared;
  }

  #for(): CodeStatement {
    this.#next();
    this.#expect('(');
    if (this.#peek(2).text === 'in') {
      this.#next();
      const name = this.#word();
      this.#next();
      const object = this.#expression();
      this.#expect(')');
      return { kind: 'for-in', name, object, body: this.#one() };
    }
    const start = this.#declarations();
    this.#expect(';');
    const test = this.#expression();
    this.#expect(';');
    const step = this.#expression();
    this.#expect(')');
    return { kind: 'for', start, test, step, body: this.#one() };
  }

  #function(): FunctionTree {
    this.#expect('(');
    const parameters = this.#names();
    const { statements } = this.#block(false);
    return { parameters, body: statements };
  }

  #names(): readonly string[] {
    const names: string[] = [];
    while (!this.#take(')')) {
      names.push(this.#word());
      this.#take(',');
    }
    return names;
  }

  #one(): CodeStatement {
    const statements = this.statement();
    return statements.length === 1 ? statements[0]! : { kind: 'block', statements, isLabelled: false };
  }

  #block(isLabelled: boolean): Extract<CodeStatement, { readonly kind: 'block' }> {
    this.#expect('{');
    const statements: CodeStatement[] = [];
    while (!this.#take('}')) statements.push(...this.statement());
    return { kind: 'block', statements, isLabelled };
  }

  #inParentheses(): CodeExpression {
    this.#expect('(');
    const inner = this.#expression();
    this.#expect(')');
    return inner;
  }

  #expression(): CodeExpression {
    const first = this.#assignment();
    if (this.#peek().text !== ',') return first;
    const parts = [first];
    while (this.#take(',')) parts.push(this.#assignment());
    return { kind: 'sequence', parts };
  }

  #assignment(): CodeExpression {
    if (this.#isArrow()) return this.#arrow();
    const target = this.#choice();
    const operator = this.#peek().text as CodeAssignment['operator'];
    if (operator !== '=' && operator !== '+=') return target;
    this.#next();
    return { kind: 'assignment', operator, target, value: this.#assignment() };
  }

  #isArrow(): boolean {
    if (this.#peek().text !== '(') return false;
    let ahead = 1;
    while (this.#peek(ahead).kind === 'word' || this.#peek(ahead).text === ',') ahead += 1;
    return this.#peek(ahead).text === ')' && this.#peek(ahead + 1).text === '=>';
  }

  #arrow(): CodeExpression {
    this.#next();
    const parameters = this.#names();
    this.#expect('=>');
    const body: readonly CodeStatement[] =
      this.#peek().text === '{'
        ? this.#block(false).statements
        : [{ kind: 'return', value: this.#assignment() }];
    return { kind: 'arrow', code: { parameters, body } };
  }

  #choice(): CodeExpression {
    const test = this.#binary(0);
    if (!this.#take('?')) return test;
    const whenTrue = this.#assignment();
    this.#expect(':');
    return { kind: 'choice', test, whenTrue, otherwise: this.#assignment() };
  }

  #binary(level: number): CodeExpression {
    const operators = binaryOperators[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { kind, text } = this.#peek();
      if (kind !== 'sign' || !(operators as readonly string[]).includes(text)) return left;
      this.#next();
      left = { kind: 'binary', operator: text as CodeOperator, left, right: this.#binary(level + 1) };
    }
  }

  #unary(): CodeExpression {
    const { kind, text } = this.#peek();
    if (text === '!' || text === '-' || (kind === 'word' && text === 'typeof')) {
      this.#next();
      return { kind: 'unary', operator: text as '!', operand: this.#unary() };
    }
    return this.#steps(this.#primary());
  }

  /**
   * Reads the members and calls after a value. After an optional member, every further member must be
   * optional.
   */
  #steps(start: CodeExpression): CodeExpression {
    let value = start;
    for (;;) {
      if (this.#take('.')) value = this.#member(value, this.#key(), false);
      else if (this.#take('?.')) {
        const key = this.#take('[') ? this.#computed() : this.#key();
        value = this.#member(value, key, true);
      } else if (this.#take('[')) value = this.#member(value, this.#computed(), false);
      else if (this.#take('(')) value = { kind: 'call', callee: value, args: this.#list(')') };
      else break;
    }
    const by = this.#take('++') ? 1 : this.#take('--') ? -1 : 0;
    if (by === 0) return value;
    if (value.kind !== 'name') return this.#fail();
    return { kind: 'step', name: value.name, by };
  }

  #member(object: CodeExpression, key: CodeExpression, isOptional: boolean): CodeExpression {
    if (!isOptional && object.kind === 'member' && object.isOptional) return this.#fail();
    return { kind: 'member', object, key, isOptional };
  }

  #key(): CodeExpression {
    return { kind: 'literal', value: this.#word() };
  }

  #computed(): CodeExpression {
    const key = this.#expression();
    this.#expect(']');
    return key;
  }

  #primary(): CodeExpression {
    const { kind, text } = this.#peek();
    if (text === '(') return this.#inParentheses();
    this.#next();
    if (kind === 'text') return { kind: 'literal', value: JSON.parse(text) };
    if (kind === 'number') return { kind: 'literal', value: Number(text) };
    if (kind === 'word')
      return named.has(text) ? { kind: 'literal', value: named.get(text) } : { kind: 'name', name: text };
    if (text === '[') return { kind: 'array', elements: this.#list(']') };
    return text === '{' ? { kind: 'object', entries: this.#entries() } : this.#fail();
  }

  #list(end: string): readonly CodeExpression[] {
    const parts: CodeExpression[] = [];
    while (!this.#take(end)) {
      parts.push(this.#assignment());
      if (this.#peek().text !== end) this.#expect(',');
    }
    return parts;
  }

  #entries(): readonly (readonly [string, CodeExpression])[] {
    const entries: [string, CodeExpression][] = [];
    while (!this.#take('}')) {
      const name = this.#word();
      this.#expect(':');
      entries.push([name, this.#assignment()]);
      if (this.#peek().text !== '}') this.#expect(',');
    }
    return entries;
  }

  #peek(ahead = 0): CodeToken {
    return this.#tokens[this.#at + ahead] ?? endToken;
  }

  #next(): CodeToken {
    const here = this.#peek();
    this.#at += 1;
    return here;
  }

  #word(): string {
    const { kind, text } = this.#next();
    return kind === 'word' ? text : this.#fail();
  }

  #take(sign: string): boolean {
    const { kind, text } = this.#peek();
    if (kind !== 'sign' || text !== sign) return false;
    this.#at += 1;
    return true;
  }

  #expect(sign: string): void {
    if (!this.#take(sign)) this.#fail();
  }

  #fail(): never {
    throw new SyntaxError(`unexpected generated code at ${JSON.stringify(this.#peek().text)}`);
  }
}
