// The parser rules of operands: literals, paths, lists, calls, quantifiers and expressions in parentheses.

import { EOF } from 'chevrotain';
import { listOfEntries } from '../tree/lists.ts';
import type {
  CallNode,
  ConditionalExpression,
  ExpressionNode,
  LookUp,
  Quantifier,
  TodayNode,
} from '../tree/tree.ts';
import type { ParserRule } from './node-parser.ts';
import { OperatorParser } from './operator-rules.ts';
import { describeQuantifier, isAnyText, keyword, NameToken, symbol, tokenEnd } from './tokens.ts';

export abstract class ExpressionParser extends OperatorParser {
  // primary = literal | parentheses | listLiteral | quantifier | conditional | today | call | lookUp | path
  primary: ParserRule<ExpressionNode | null> = this.same('primary', () => {
    // A path is by far the most frequent operand, and alternatives are tried one by one, so a path is looked
    // for first.
    const behind = this.LA(2).tokenType;
    const isPath = behind !== symbol.openParen && behind !== symbol.openSquare;
    if (this.LA(1).tokenType === NameToken && isPath) return this.subrule(0, this.path);
    return this.OR(this.primaries);
  });

  // fallback = constant | path | parentheses
  fallback: ParserRule<ExpressionNode | null> = this.same('fallback', () => this.OR(this.fallbacks));

  // parentheses = '(' expression ')'
  parentheses: ParserRule<ExpressionNode> = this.always(
    'parentheses',
    (): { value: ExpressionNode | null } => ({ value: null }),
    (draft) => {
      this.CONSUME(symbol.openParen);
      this.inner(draft, 'value');
      this.CONSUME(symbol.closeParen);
    },
    ({ value }, first) => value ?? this.missing(first),
  );

  private fallbacks = {
    DEF: this.eachRule<ExpressionNode>(this.constant, this.path, this.parentheses),
    ERR_MSG: 'a literal, a path or parentheses',
  };

  // listLiteral = '[' [ expression { ',' expression } [ ',' ] ] ']'
  listLiteral: ParserRule<ExpressionNode | null> = this.always(
    'listLiteral',
    (): { entries: ExpressionNode[] } => ({ entries: [] }),
    ({ entries }) => {
      this.CONSUME(symbol.openSquare);
      this.items(symbol.closeSquare, (occurrence) => this.addInner(entries, occurrence));
    },
    ({ entries }, first) => {
      const span = this.spanFrom(first);
      return span && listOfEntries(entries, span);
    },
  );

  // quantifier = ( 'some' | 'every' | 'no' | 'count' | 'sum' ) Word 'in' listSource { ',' listSource } '(' expression ')'
  quantifier: ParserRule<ExpressionNode | null> = this.node<Quantifier>(
    'quantifier',
    () => ({ kind: 'quantifier', quantifier: null, variable: null, sources: [], body: null, span: null }),
    (draft) => {
      draft.quantifier = this.OR(this.quantifiers).image as Quantifier['quantifier'];
      draft.variable = this.nameOf('an element', 'a name for the element');
      this.CONSUME(keyword.in);
      this.listed('a list', () => this.add(draft.sources, this.listSource));
      this.CONSUME(symbol.openParen);
      this.inner(draft, 'body');
      this.CONSUME(symbol.closeParen);
    },
    (draft) => {
      draft.body ??= this.missing(this.count);
      return draft.quantifier && draft.variable;
    },
  );

  // conditional = 'if' expression 'then' expression [ 'else' expression ]
  conditional: ParserRule<ConditionalExpression | null> = this.node<ConditionalExpression>(
    'conditional',
    () => ({ kind: 'if', condition: null, whenTrue: null, otherwise: null, span: null }),
    (draft) => {
      this.CONSUME(keyword.if);
      this.inner(draft, 'condition');
      this.CONSUME(keyword.then);
      this.branch(draft);
      this.behind(0, keyword.else, () => this.inner(draft, 'otherwise', 2));
    },
    (draft) => {
      draft.condition ??= this.missing(this.count);
      draft.whenTrue ??= this.missing(this.count);
      return true;
    },
  );

  /** Reads the branch behind `then`, in which an `else` without parentheses around it ends the branch. */
  private branch(draft: { whenTrue: ExpressionNode | null }): void {
    const before = this.isElseTaken;
    this.isElseTaken = true;
    const first = this.count;
    try {
      this.part(draft, 'whenTrue', this.expression, 1);
    } finally {
      this.isElseTaken = before;
      draft.whenTrue ??= this.missing(first);
    }
  }

  private quantifiers = this.eachToken(...describeQuantifier.map((one) => keyword[one]));

  // listSource = listLiteral | call | lookUp | path
  listSource: ParserRule<ExpressionNode | null> = this.same('listSource', () => this.OR(this.listSources));

  // today = 'today' 'in' Text
  today: ParserRule<TodayNode | null> = this.node<TodayNode>(
    'today',
    () => ({ kind: 'today', zone: null, span: null }),
    (draft) => {
      this.CONSUME(keyword.today);
      this.CONSUME(keyword.in);
      draft.zone = this.zone();
    },
    ({ zone }) => zone,
  );

  // call = Word '(' [ expression { ',' expression } ] ')'
  call: ParserRule<CallNode | null> = this.node<CallNode>(
    'call',
    () => ({ kind: 'call', callee: null, args: [], span: null }),
    (draft) => {
      draft.callee = this.used('a name');
      this.CONSUME(symbol.openParen);
      this.items(symbol.closeParen, (occurrence) => this.addInner(draft.args, occurrence));
    },
    ({ callee }) => callee,
  );

  // lookUp = Word '[' expression ']' [ '.' fieldName ]
  lookUp: ParserRule<LookUp | null> = this.node<LookUp>(
    'lookUp',
    () => ({ kind: 'look-up', table: null, key: null, column: null, span: null }),
    (draft) => {
      draft.table = this.used('the name of a table');
      this.CONSUME(symbol.openSquare);
      this.inner(draft, 'key');
      this.CONSUME(symbol.closeSquare);
      this.behind(0, symbol.dot, () => (draft.column = this.SUBRULE(this.fieldName)));
    },
    (draft) => {
      draft.key ??= this.missing(this.count);
      return draft.table;
    },
  );

  private listSources = {
    DEF: [
      ...this.eachRule<ExpressionNode>(this.listLiteral),
      { GATE: () => this.isCalledSource(), ALT: () => this.SUBRULE(this.call) },
      ...this.eachRule<ExpressionNode>(this.lookUp, this.path),
    ],
    ERR_MSG: 'a list',
  };

  private primaries = {
    DEF: [
      ...this.eachRule<ExpressionNode>(this.literal, this.parentheses, this.listLiteral, this.quantifier),
      ...this.eachRule<ExpressionNode>(this.conditional),
      { GATE: () => this.isToday(), ALT: () => this.SUBRULE(this.today) },
      ...this.eachRule<ExpressionNode>(this.call, this.lookUp, this.path),
    ],
    ERR_MSG: 'a value',
  };

  /** Whether `today` is a date, as in `today in "Zone"`. It may also be a name, as in `today in holidays`. */
  private isToday(): boolean {
    return this.LA(2).tokenType === keyword.in && isAnyText(this.LA(3));
  }

  /**
   * Whether the list of a quantifier is a call. In `some x in xs (c)` the parentheses are the body; in `some
   * x in links(t) (c)` the first ones hold arguments. Before a comma both may be meant, as in `links(t), xs
   * (c)` and `min(sum x in xs (c), 1)`: there, a blank before the parentheses marks the body.
   */
  private isCalledSource(): boolean {
    if (this.LA(2).tokenType !== symbol.openParen) return false;
    let depth = 0;
    for (let ahead = 2; this.LA(ahead).tokenType !== EOF; ahead++) {
      const type = this.LA(ahead).tokenType;
      if (type === symbol.openParen) depth++;
      if (type === symbol.closeParen) depth--;
      if (depth === 0) {
        const after = this.LA(ahead + 1).tokenType;
        const isBlankAfterWord = tokenEnd(this.LA(1)) < this.LA(2).startOffset;
        return after === symbol.openParen || (after === symbol.comma && !isBlankAfterWord);
      }
    }
    return false;
  }
}
