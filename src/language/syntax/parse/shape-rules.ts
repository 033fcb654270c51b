// The parser rules of shapes: records, fields, types and their ranges. A type that loses its substance to an
// error is left out, and its field with it.

import type { TokenType } from 'chevrotain';
import { spanning } from '../../diagnostic/span.ts';
import type { FieldNode, RecordBody, TextLiteral, TypeNode, TypeRange } from '../tree/tree.ts';
import {
  isWritten,
  makeSpan,
  type ReadContext,
  type Reader,
  syntaxError,
  tokenSpan,
  withFix,
} from './context.ts';
import { ExpressionParser } from './expression-rules.ts';
import { type Draft, type ParserRule, tokenTable } from './node-parser.ts';
import { textLiteral } from './text-literal.ts';
import { isAnyText, isAnyWord, keyword, literal, symbol, Text, type Token } from './tokens.ts';

type TypeOf<Kind extends TypeNode['kind']> = Extract<TypeNode, { readonly kind: Kind }>;

export abstract class ShapeParser extends ExpressionParser {
  // recordBody = '{' { field [ ',' ] } [ '...' [ ',' ] ] '}'
  recordBody: ParserRule<RecordBody | null> = this.node<RecordBody>(
    'recordBody',
    () => ({ fields: [], isOpen: false, span: null }),
    (draft) => {
      const before = this.errors.length;
      this.CONSUME(symbol.openCurly);
      this.MANY(() => {
        this.add(draft.fields, this.field);
        this.OPTION(() => this.CONSUME(symbol.comma));
      });
      this.behind(1, symbol.ellipsis, () => {
        draft.isOpen = true;
        this.OPTION2(() => this.CONSUME1(symbol.comma));
      });
      this.CONSUME(symbol.closeCurly);
      // Recovery skipped a field, or a part of one.
      if (this.errors.length > before) draft.isBroken = true;
    },
    (draft, isBroken) => {
      if (isBroken) draft.isBroken = true;
      reportMissingSeparators(draft.fields, this);
      return true;
    },
  );

  // field = fieldName ( ':' | '?:' ) type
  field: ParserRule<FieldNode | null> = this.node<FieldNode>(
    'field',
    () => ({ kind: 'field', doc: null, name: null, isOptional: false, type: null, span: null }),
    (draft) => {
      draft.name = this.SUBRULE(this.fieldName);
      const separator = this.OR(this.fieldSigns);
      draft.isOptional = separator.tokenType === symbol.optional;
      this.part(draft, 'type', this.type);
    },
    ({ name, type }) => name && type,
  );

  private fieldSigns = { DEF: this.eachToken(symbol.colon, symbol.optional), ERR_MSG: '`:` or `?:`' };

  // type = { ( 'secret' | 'signed' ) [ 'by' Text ] } typeMember { '|' typeMember }
  type: ParserRule<TypeNode | null> = this.same('type', () => {
    if (this.isNext(isModifierWord)) return this.compoundType([]);
    const first = this.SUBRULE(this.typeMember);
    return this.isNext(isBar) ? this.compoundType(first === null ? [] : [first]) : first;
  });

  /** Reads the rest of a type of which nothing has been read, or only the first member. */
  private compoundType(members: TypeNode[]): TypeNode | null {
    const modifiers: Modifier[] = [];
    const readRest = () => {
      if (this.isNext(isModifierWord)) {
        this.MANY({
          GATE: () => this.isModifier(),
          DEF: () => this.modifier(modifiers),
        });
        this.add(members, this.typeMember);
      }
      this.MANY1(() => {
        this.CONSUME(symbol.bar);
        this.add(members, this.typeMember, 1);
      });
    };
    return this.making(readRest, () => this.typeOf(modifiers, members));
  }

  private modifier(into: Modifier[]): void {
    const token = this.OR(this.modifiers);
    const modifier: Modifier = { token, by: null };
    into.push(modifier);
    this.OPTION({
      // A text must follow, since a type may have the name `by`.
      GATE: () => token.tokenType === keyword.signed && isAnyText(this.LA(2)),
      DEF: () => {
        this.CONSUME(keyword.by);
        modifier.by = this.text('the name of an enforcement point in quotes');
      },
    });
  }

  private typeOf(modifiers: readonly Modifier[], members: readonly TypeNode[]): TypeNode | null {
    const [first] = members;
    if (first === undefined) return null;
    const span = spanning(first.span, members.at(-1)!.span);
    const type: TypeNode = members.length === 1 ? first : { kind: 'union-type', members, span };
    return modifiers.reduceRight((inner, modifier) => modified(inner, modifier, this), type);
  }

  private modifiers = this.eachToken(keyword.secret, keyword.signed);

  // typeMember = 'null' | Text | listType | recordBody | moneyType | namedType
  typeMember: ParserRule<TypeNode | null> = this.same('typeMember', () => this.OR(this.typeMembers));

  private recordType(): TypeNode | null {
    const draft: { body: RecordBody | null } = { body: null };
    return this.making<TypeNode>(
      () => this.part(draft, 'body', this.recordBody),
      () => draft.body && { kind: 'record-type', body: draft.body, span: draft.body.span },
    );
  }

  // listType = '[' type ']' [ typeRange ]
  listType: ParserRule<TypeNode | null> = this.node<TypeOf<'list-type'>>(
    'listType',
    () => ({ kind: 'list-type', element: null, range: null, span: null }),
    (draft) => {
      this.CONSUME(symbol.openSquare);
      this.part(draft, 'element', this.type);
      this.CONSUME(symbol.closeSquare);
      this.OPTION(() => this.part(draft, 'range', this.typeRange));
    },
    ({ element }) => element,
  );

  // moneyType = 'money' '(' fieldName ')' [ typeRange ]
  moneyType: ParserRule<TypeNode | null> = this.node<TypeOf<'money-type'>>(
    'moneyType',
    () => ({ kind: 'money-type', currency: null, range: null, span: null }),
    (draft) => {
      this.CONSUME(keyword.money);
      this.CONSUME(symbol.openParen);
      draft.currency = this.SUBRULE(this.fieldName);
      this.CONSUME(symbol.closeParen);
      this.OPTION(() => this.part(draft, 'range', this.typeRange));
    },
    ({ currency }) => currency,
  );

  // namedType = Word [ 'ignoring' 'case' ] [ 'matches' Text ] [ typeRange ]
  namedType: ParserRule<TypeNode | null> = this.node<TypeOf<'named-type'>>(
    'namedType',
    () => ({ kind: 'named-type', name: null, ignoringCase: false, pattern: null, range: null, span: null }),
    (draft) => {
      draft.name = this.used('a type');
      if (this.isNext(isNarrowing)) this.readNarrowing(draft);
    },
    ({ name }) => name,
  );

  private readNarrowing(draft: Draft<TypeOf<'named-type'>>): void {
    this.OPTION({
      // Only the type `path` takes these words. Behind any other type they belong to the declaration of a
      // list.
      GATE: () => draft.name?.text === 'path' && this.LA(2).tokenType === keyword.case,
      DEF: () => {
        this.CONSUME(keyword.ignoring);
        draft.ignoringCase = isWritten(this.CONSUME(keyword.case));
      },
    });
    this.behind(1, keyword.matches, () => {
      const pattern = this.CONSUME(Text, { ERR_MSG: 'a pattern in quotes' });
      draft.pattern = textLiteral(pattern, { source: this.source, report: this.report, textMode: 'pattern' });
    });
    this.OPTION2(() => this.part(draft, 'range', this.typeRange));
  }

  private typeMembers = {
    DEF: [
      { ALT: (): TypeNode => ({ kind: 'null-type', span: tokenSpan(this.CONSUME(keyword.null), this) }) },
      { ALT: (): TypeNode | null => textType(this.CONSUME(Text), this) },
      { ALT: (): TypeNode | null => this.SUBRULE(this.listType) },
      { ALT: (): TypeNode | null => this.recordType() },
      ...this.eachRule<TypeNode>(this.moneyType, this.namedType),
    ],
    ERR_MSG: 'a type',
  };

  // typeRange = [ bound ] '..' [ bound ]
  typeRange: ParserRule<TypeRange | null> = this.node<TypeRange>(
    'typeRange',
    () => ({ low: null, high: null, span: null }),
    (draft) => {
      this.OPTION(() => this.part(draft, 'low', this.bound));
      this.CONSUME(symbol.range);
      this.OPTION1(() => this.part(draft, 'high', this.bound, 1));
    },
  );

  /**
   * Whether `secret` or `signed` modifies a type that follows. Before the next field, the word is the name of
   * a type.
   */
  private isModifier(): boolean {
    const next = this.LA(2);
    const startsType = isAnyWord(next) || startsTypeBesideWords.has(next.tokenType);
    const afterNext = this.LA(3).tokenType;
    return startsType && afterNext !== symbol.colon && afterNext !== symbol.optional;
  }
}

const isModifierWord = tokenTable(keyword.secret, keyword.signed);
const isBar = tokenTable(symbol.bar);
const isNarrowing = tokenTable(
  ...[keyword.ignoring, keyword.matches, symbol.range, symbol.minus],
  ...[literal.number, literal.duration, literal.date, literal.instant],
);

const startsTypeBesideWords: ReadonlySet<TokenType> = new Set([
  ...[literal.quoted, literal.raw, symbol.openSquare, symbol.openCurly, keyword.null],
]);

function textType(token: Token, ctx: ReadContext): TypeNode | null {
  const text = textLiteral(token, ctx);
  return text && { kind: 'text-type', text, span: text.span };
}

/** `secret`, or `signed` with the enforcement point that has to vouch for the value. */
interface Modifier {
  readonly token: Token;
  by: TextLiteral | null;
}

function modified(type: TypeNode, { token, by }: Modifier, reader: Reader): TypeNode {
  const modifier = token.image === 'secret' ? 'secret' : 'signed';
  return { kind: 'modified-type', modifier, by, type, span: spanning(tokenSpan(token, reader), type.span) };
}

// Line breaks mean nothing to the parser, so this function enforces that a comma or a line break separates
// two fields.
function reportMissingSeparators(fields: readonly FieldNode[], reader: Reader): void {
  for (const [index, field] of fields.entries()) {
    const before = fields[index - 1];
    if (before === undefined) continue;
    const between = reader.source.text.slice(before.span.end, field.span.start);
    if (/[,\n\r#]/.test(between) || between.trim() !== '') continue;
    const message = `\`${field.name.text}\` begins a field on the line of another one`;
    const help = 'separate fields by a comma or a line break';
    const diagnostic = syntaxError('missing-separator', field.name.span, message, help);
    const span = makeSpan(reader, before.span.end, before.span.end);
    reader.report(withFix(diagnostic, { title: 'add a comma', text: ',', span }));
  }
}
