// The rules of a file and of declarations other than policies and guarantees. A declaration that an error leaves without
// its substance is left out, so every declaration of the tree is whole.

import type {
  ActionDeclaration,
  ApproversDeclaration,
  Declaration,
  GroupDeclaration,
  HoursDeclaration,
  HoursSpan,
  LetDeclaration,
  ListDeclaration,
  ListSource,
  MeterDeclaration,
  NameNode,
  TypeDeclaration,
  WeekdayWord,
} from '../tree/tree.ts';
import { isWritten, plainName, writtenImage } from './context.ts';
import { quotedKey, writtenKey } from './keys.ts';
import { writtenLiteral } from './literal-rules.ts';
import type { Draft, ParserRule } from './node-parser.ts';
import { PolicyRuleParser } from './policy-rules.ts';
import { Currency, literal, sign, Text, type Token, WeekdayToken, Word, word } from './tokens.ts';

type Aggregated = Pick<MeterDeclaration, 'aggregate' | 'argument' | 'currency'>;

export abstract class DeclarationParser extends PolicyRuleParser {
  // file = { declaration }
  file: ParserRule<readonly Declaration[]> = this.always(
    'file',
    (draft: { declarations?: Declaration[] }) => {
      this.MANY({
        GATE: () => !this.isGivenUp(),
        DEF: () => this.each(draft, 'declarations', () => this.SUBRULE(this.declaration)),
      });
    },
    ({ declarations = [] }) => declarations,
  );

  // declaration = action | typeDeclaration | group | approvers | list | hours | let | meter | policy | guarantee
  declaration: ParserRule<Declaration | null> = this.same('declaration', () => this.OR(this.declarations));

  // action = 'action' key { ',' key } [ 'in' names ] recordBody
  action: ParserRule<Declaration | null> = this.node(
    'action',
    (draft: Draft<ActionDeclaration>) => {
      this.CONSUME(word.action);
      this.listed(draft, 'keys', 'an action key', () => this.SUBRULE(this.key));
      this.OPTION(() => {
        this.CONSUME(word.in);
        this.part(draft, 'groups', () => this.SUBRULE(this.names));
      });
      this.part(draft, 'body', () => this.SUBRULE(this.recordBody));
    },
    ({ keys, groups, body }, span) => {
      if (!keys || !body) return null;
      return { kind: 'action', span, doc: this.docBefore(span.start), keys, groups: groups ?? [], body };
    },
  );

  // key = Text | Word { '.' Word }
  key: ParserRule<NameNode | null> = this.node(
    'key',
    (draft: { text?: Token; segments?: string[] }) => {
      const segment = (index: number) => writtenImage(this.consume(index, Word));
      this.OR({
        DEF: [
          { ALT: () => this.part(draft, 'text', () => this.CONSUME(Text)) },
          { ALT: () => this.dotted(draft, 'segments', segment) },
        ],
        ERR_MSG: 'an action key such as `payment.create`',
      });
    },
    ({ text, segments = [] }, span) =>
      text === undefined ? writtenKey(segments.join('.'), span, this) : quotedKey(text, this),
  );

  // names = Word { ',' Word }
  names: ParserRule<NameNode[]> = this.always(
    'names',
    (draft: { names?: NameNode[] }) => {
      this.listed(draft, 'names', 'a name', () => this.used('a name'));
    },
    ({ names = [] }) => names,
  );

  // typeDeclaration = 'type' Word '=' type
  typeDeclaration: ParserRule<Declaration | null> = this.node(
    'typeDeclaration',
    (draft: Draft<TypeDeclaration>) => {
      this.CONSUME(word.type);
      draft.name = this.nameOf('a type', 'a name for the type');
      this.CONSUME(sign.assign);
      this.part(draft, 'type', () => this.SUBRULE(this.type));
    },
    ({ name, type }, span) =>
      name && type && { kind: 'type', span, doc: this.docBefore(span.start), name, type },
  );

  // group = 'group' Word
  group: ParserRule<Declaration | null> = this.node(
    'group',
    (draft: Draft<GroupDeclaration>) => {
      this.CONSUME(word.group);
      draft.name = this.nameOf('a group', 'a name for the group');
    },
    ({ name }, span) => name && { kind: 'group', span, doc: this.docBefore(span.start), name },
  );

  // approvers = 'approvers' Word Text
  approvers: ParserRule<Declaration | null> = this.node(
    'approvers',
    (draft: Draft<ApproversDeclaration>) => {
      this.CONSUME(word.approvers);
      draft.name = this.nameOf('a group of approvers', 'a name for the approvers');
      draft.title = this.text('a title in quotes');
    },
    ({ name, title }, span) =>
      name && title && { kind: 'approvers', span, doc: this.docBefore(span.start), name, title },
  );

  // list = 'list' Word [ ':' type ] [ 'ignoring' 'case' ] ( '=' ( listEntries | listJoin ) | 'from' Text )
  //   [ 'may' 'be' 'empty' ]
  list: ParserRule<Declaration | null> = this.node(
    'list',
    (draft: Draft<ListDeclaration>) => {
      this.CONSUME(word.list);
      draft.name = this.nameOf('a list', 'a name for the list');
      this.OPTION(() => {
        this.CONSUME(sign.colon);
        this.part(draft, 'elementType', () => this.SUBRULE(this.type));
      });
      this.OPTION1(() => {
        this.CONSUME(word.ignoring);
        draft.ignoringCase = isWritten(this.CONSUME(word.case));
      });
      this.OR({
        DEF: [
          {
            ALT: () => {
              this.CONSUME(sign.assign);
              const message = '`[` or the name of a list';
              this.part(draft, 'source', () => this.OR1({ DEF: this.listValues, ERR_MSG: message }));
            },
          },
          {
            ALT: () => {
              this.CONSUME(word.from);
              const path = this.text('the path of a file in quotes');
              draft.source = path && { kind: 'list-file', path, span: path.span };
            },
          },
        ],
        ERR_MSG: '`=` or `from`',
      });
      this.OPTION2(() => {
        this.CONSUME(word.may);
        this.CONSUME(word.be);
        draft.mayBeEmpty = isWritten(this.CONSUME(word.empty));
      });
    },
    ({ name, elementType, ignoringCase, source, mayBeEmpty }, span) =>
      name &&
      source && {
        kind: 'list',
        span,
        doc: this.docBefore(span.start),
        name,
        elementType: elementType ?? null,
        ignoringCase: ignoringCase ?? false,
        source,
        mayBeEmpty: mayBeEmpty ?? false,
      },
  );

  // listEntries = '[' [ constant { ',' constant } [ ',' ] ] ']'
  listEntries: ParserRule<ListSource | null> = this.node(
    'listEntries',
    (draft: Draft<Extract<ListSource, { readonly kind: 'entries' }>>) => {
      this.CONSUME(sign.openSquare);
      this.items(draft, 'entries', sign.closeSquare, (index) => this.subrule(index, this.constant));
    },
    ({ entries }, span) => ({ kind: 'entries', entries: entries ?? [], span }),
  );

  // listJoin = Word { '+' Word }
  listJoin: ParserRule<ListSource | null> = this.node(
    'listJoin',
    (draft: { lists?: NameNode[] }) => {
      this.each(draft, 'lists', () => plainName(this.CONSUME(Word), this));
      this.MANY(() => {
        this.CONSUME(sign.plus);
        const message = 'the name of a list';
        this.each(draft, 'lists', () => plainName(this.CONSUME1(Word, { ERR_MSG: message }), this));
      });
    },
    ({ lists }, span) => lists?.[0] && { kind: 'join', lists, span },
  );

  private listValues = this.eachRule(this.listEntries, this.listJoin);

  // hours = 'hours' Word '=' hoursSpan { ',' hoursSpan } 'in' Text [ 'except' Word ]
  hours: ParserRule<Declaration | null> = this.node(
    'hours',
    (draft: Draft<HoursDeclaration>) => {
      this.CONSUME(word.hours);
      draft.name = this.nameOf('hours', 'a name for the hours');
      this.CONSUME(sign.assign);
      this.listed(draft, 'spans', 'hours such as `mon-fri 09:00-17:00`', () => this.SUBRULE(this.hoursSpan));
      this.CONSUME(word.in);
      draft.zone = this.text('a time zone in quotes such as `"Europe/Berlin"`');
      this.OPTION(() => {
        this.CONSUME(word.except);
        draft.except = plainName(this.CONSUME1(Word, { ERR_MSG: 'the name of a list of dates' }), this);
      });
    },
    ({ name, spans, zone, except }, span) => {
      if (!name || !zone || !spans?.[0]) return null;
      const doc = this.docBefore(span.start);
      return { kind: 'hours', span, doc, name, spans, zone, except: except ?? null };
    },
  );

  // hoursSpan = Weekday [ '-' Weekday ] Clock '-' Clock | Date [ '..' Date ]
  hoursSpan: ParserRule<HoursSpan | null> = this.node(
    'hoursSpan',
    (draft: { tokens?: Token[] }) => {
      const message = 'hours such as `mon-fri 09:00-17:00`';
      const first = this.count;
      try {
        this.OR({ DEF: this.hoursSpans, ERR_MSG: message });
      } finally {
        draft.tokens = this.taken.slice(first, this.count);
      }
    },
    ({ tokens = [] }, span) => {
      const of = (type: Token['tokenType']) => tokens.filter(({ tokenType }) => tokenType === type);
      const [first, last = first] = of(literal.date).map((token) => writtenLiteral('date', token, this));
      if (first && last) return { kind: 'date-span', first, last, span };
      const [firstDay, lastDay = firstDay] = of(WeekdayToken).map(({ image }) => image as WeekdayWord);
      const [from, to] = of(literal.clock).map((token) => writtenLiteral('clock', token, this));
      if (!firstDay || !lastDay || !from || !to) return null;
      return { kind: 'weekly-span', firstDay, lastDay, from, to, span };
    },
  );

  private hoursSpans = [
    {
      ALT: () => {
        this.CONSUME(WeekdayToken);
        this.OPTION(() => {
          this.CONSUME(sign.minus);
          this.CONSUME1(WeekdayToken);
        });
        this.CONSUME(literal.clock);
        this.CONSUME1(sign.minus);
        this.CONSUME1(literal.clock);
      },
    },
    {
      ALT: () => {
        this.CONSUME(literal.date);
        this.OPTION1(() => {
          this.CONSUME(sign.range);
          this.CONSUME1(literal.date);
        });
      },
    },
  ];

  // let = 'let' Word '=' expression
  let: ParserRule<Declaration | null> = this.node(
    'let',
    (draft: Draft<LetDeclaration>) => {
      this.CONSUME(word.let);
      draft.name = this.nameOf('a value', 'a name for the value');
      this.CONSUME(sign.assign);
      this.whole(draft, 'value');
    },
    ({ name, value }, span) =>
      name && {
        kind: 'let',
        span,
        doc: this.docBefore(span.start),
        name,
        value: value ?? this.missing(this.count),
      },
  );

  // meter = 'meter' Word '=' aggregate 'of' patterns [ 'when' expression ] [ 'per' path { ',' path } ] 'over' Duration
  meter: ParserRule<Declaration | null> = this.node(
    'meter',
    (draft: Draft<MeterDeclaration> & { total?: Aggregated | null }) => {
      this.CONSUME(word.meter);
      draft.name = this.nameOf('a meter', 'a name for the meter');
      this.CONSUME(sign.assign);
      this.part(draft, 'total', () => this.SUBRULE(this.aggregate));
      this.CONSUME(word.of);
      this.part(draft, 'patterns', () => this.SUBRULE(this.patterns));
      this.OPTION(() => {
        this.CONSUME(word.when);
        this.whole(draft, 'when');
      });
      this.OPTION1(() => {
        this.CONSUME(word.per);
        this.listed(draft, 'per', '`agent`, `owner`, `session` or a payload field', () =>
          this.SUBRULE(this.path),
        );
      });
      this.CONSUME(word.over);
      draft.over = writtenLiteral('duration', this.CONSUME(literal.duration), this);
    },
    ({ name, total, patterns, when, per, over }, span) => {
      if (!name || !total || !over) return null;
      const base = { kind: 'meter', span, doc: this.docBefore(span.start), name } as const;
      return { ...base, ...total, patterns: patterns ?? [], when: when ?? null, per: per ?? [], over };
    },
  );

  // aggregate = 'sum' '(' expression ')' [ 'in' Currency ] | 'count' '(' ')' | 'distinct' '(' expression ')'
  aggregate: ParserRule<Aggregated | null> = this.node(
    'aggregate',
    (draft: Draft<Aggregated>) => {
      this.OR({
        DEF: [
          {
            ALT: () => {
              this.CONSUME(word.sum);
              draft.aggregate = 'sum';
              this.CONSUME(sign.openParen);
              this.whole(draft, 'argument');
              this.CONSUME(sign.closeParen);
              this.OPTION(() => {
                this.CONSUME(word.in);
                draft.currency = plainName(this.CONSUME(Currency), this);
              });
            },
          },
          {
            ALT: () => {
              this.CONSUME(word.count);
              draft.aggregate = 'count';
              this.CONSUME1(sign.openParen);
              this.CONSUME1(sign.closeParen);
            },
          },
          {
            ALT: () => {
              this.CONSUME(word.distinct);
              draft.aggregate = 'distinct';
              this.CONSUME2(sign.openParen);
              this.whole(draft, 'argument', 1);
              this.CONSUME2(sign.closeParen);
            },
          },
        ],
        ERR_MSG: '`sum(...)`, `count()` or `distinct(...)`',
      });
    },
    ({ aggregate, argument, currency }) => {
      if (!aggregate) return null;
      const value = aggregate === 'count' ? null : (argument ?? this.missing(this.count));
      return { aggregate, argument: value, currency: currency ?? null };
    },
  );

  private declarations = [
    ...this.eachRule(this.action, this.typeDeclaration, this.group, this.approvers, this.list, this.hours),
    ...this.eachRule(this.let, this.meter, this.policy, this.guarantee),
  ];
}
