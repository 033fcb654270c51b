// The parser rules of a file and of all declarations other than policies and guarantees. A declaration that
// loses its substance to an error is left out, so every declaration of the tree is whole.

import { spanning } from '../../diagnostic/span.ts';
import type {
  ChatLimitNode,
  Declaration,
  DeclarationOf,
  HoursSpan,
  ListSource,
  NameNode,
  ParameterNode,
  TemplateNode,
  WeekdayWord,
  YearDay,
} from '../tree/tree.ts';
import { isWritten, plainName, tokenSpan } from './context.ts';
import { reportKeyShape } from './keys.ts';
import { writtenLiteral } from './literal-rules.ts';
import { type Draft, named, type ParserRule, push } from './node-parser.ts';
import { TableParser } from './table-rules.ts';
import { Currency, keyword, literal, symbol, Text, type Token, WeekdayToken, Word } from './tokens.ts';

type AggregatePart = Pick<DeclarationOf<'meter'>, 'aggregate' | 'argument' | 'currency'>;

const nothingAggregated: Draft<AggregatePart> = { aggregate: null, argument: null, currency: null };

type ListEntries = Extract<ListSource, { readonly kind: 'entries' }>;
type ListJoin = Extract<ListSource, { readonly kind: 'join' }>;

const yearDayPhrase = 'a month and a day such as `12-18`';
const hoursPhrase = 'hours such as `mon-fri 09:00-17:00`';

export abstract class DeclarationParser extends TableParser {
  // file = { declaration }
  file: ParserRule<readonly Declaration[]> = this.always(
    'file',
    (): Declaration[] => [],
    (declarations) =>
      this.MANY({
        GATE: () => !this.isGivenUp(),
        DEF: () => this.add(declarations, this.declaration),
      }),
    (declarations) => declarations,
  );

  // declaration = action | typeDeclaration | group | approvers | list | table | hours | let | meter | policy | guarantee
  declaration: ParserRule<Declaration | null> = this.same('declaration', () => this.OR(this.declarations));

  // action = 'action' key { ',' key } [ 'in' names ] [ title ] recordBody [ 'result' recordBody ]
  action: ParserRule<Declaration | null> = this.node<DeclarationOf<'action'>>(
    'action',
    () => ({
      kind: 'action',
      doc: null,
      keys: [],
      groups: [],
      title: null,
      body: null,
      result: null,
      span: null,
    }),
    (draft) => {
      this.CONSUME(keyword.action);
      this.listed('an action key', () => this.add(draft.keys, this.key));
      this.behind(0, keyword.in, () => this.part(draft, 'groups', this.names));
      this.option(1, () => this.part(draft, 'title', this.title));
      this.part(draft, 'body', this.recordBody);
      this.behind(2, keyword.result, () => this.part(draft, 'result', this.recordBody, 1));
    },
    ({ keys, body }) => keys && body,
  );

  // title = Text
  title: ParserRule<TemplateNode | null> = this.always(
    'title',
    () => ({}),
    () => this.CONSUME(Text),
    (_, begin) => {
      const [token] = this.takenFrom(begin);
      return token === undefined ? null : this.template(token, true);
    },
  );

  // key = Text | Word { '.' Word }
  key: ParserRule<NameNode | null> = this.dottedKey('key', {
    kind: 'name',
    expected: 'an action key such as `payment.create`',
    segment: (occurrence) => (occurrence === 0 ? this.CONSUME(Word) : this.CONSUME1(Word)),
    check: reportKeyShape,
  });

  // names = Word { ',' Word }
  names: ParserRule<NameNode[]> = this.always(
    'names',
    (): NameNode[] => [],
    (names) => this.listed('a name', () => push(names, this.used('a name'))),
    (names) => names,
  );

  // typeDeclaration = 'type' Word '=' type
  typeDeclaration: ParserRule<Declaration | null> = this.node<DeclarationOf<'type'>>(
    'typeDeclaration',
    () => ({ ...named('type'), type: null }),
    (draft) => {
      this.CONSUME(keyword.type);
      draft.name = this.nameOf('a type', 'a name for the type');
      this.CONSUME(symbol.assign);
      this.part(draft, 'type', this.type);
    },
    ({ name, type }) => name && type,
  );

  // group = 'group' Word [ recordBody ]
  group: ParserRule<Declaration | null> = this.node<DeclarationOf<'group'>>(
    'group',
    () => ({ ...named('group'), body: null }),
    (draft) => {
      this.CONSUME(keyword.group);
      draft.name = this.nameOf('a group', 'a name for the group');
      this.option(0, () => this.part(draft, 'body', this.recordBody));
    },
    ({ name }) => name,
  );

  // approvers = 'approvers' Word Text [ chatLimit ]
  approvers: ParserRule<Declaration | null> = this.node<DeclarationOf<'approvers'>>(
    'approvers',
    () => ({ ...named('approvers'), title: null, chat: null }),
    (draft) => {
      this.CONSUME(keyword.approvers);
      draft.name = this.nameOf('an approval group', 'a name for the approvers');
      draft.title = this.text('a title in quotes');
      this.option(0, () => this.part(draft, 'chat', this.chatLimit));
    },
    ({ name, title }) => name && title,
  );

  // chatLimit = 'by' 'chat' 'up' 'to' 'risk' Number
  chatLimit: ParserRule<ChatLimitNode | null> = this.node<ChatLimitNode>(
    'chatLimit',
    () => ({ kind: 'chat-limit', maxRisk: null, span: null }),
    (draft) => {
      this.CONSUME(keyword.by);
      this.CONSUME(keyword.chat);
      this.CONSUME(keyword.up, { ERR_MSG: '`up to risk` and a number' });
      this.CONSUME(keyword.to);
      this.CONSUME(keyword.risk);
      draft.maxRisk = this.written('number', 'a number from 0 to 100');
    },
    ({ maxRisk }) => maxRisk,
  );

  // list = 'list' Word [ ':' type ] [ 'ignoring' 'case' ] ( '=' ( listEntries | listJoin ) | 'from' Text )
  //   [ 'may' 'be' 'empty' ]
  list: ParserRule<Declaration | null> = this.node<DeclarationOf<'list'>>(
    'list',
    () => ({ ...named('list'), elementType: null, ignoringCase: false, source: null, mayBeEmpty: false }),
    (draft) => {
      this.CONSUME(keyword.list);
      draft.name = this.nameOf('a list', 'a name for the list');
      this.behind(0, symbol.colon, () => this.part(draft, 'elementType', this.type));
      this.behind(1, keyword.ignoring, () => (draft.ignoringCase = isWritten(this.CONSUME(keyword.case))));
      this.OR({
        DEF: [{ ALT: () => this.readListValues(draft) }, { ALT: () => this.readListFile(draft) }],
        ERR_MSG: '`=` or `from`',
      });
      this.behind(2, keyword.may, () => {
        this.CONSUME(keyword.be);
        draft.mayBeEmpty = isWritten(this.CONSUME(keyword.empty));
      });
    },
    ({ name, source }) => name && source,
  );

  private readListValues(draft: Draft<DeclarationOf<'list'>>): void {
    this.CONSUME(symbol.assign);
    this.OR1({
      DEF: [
        { ALT: () => this.part(draft, 'source', this.listEntries) },
        { ALT: () => this.part(draft, 'source', this.listJoin) },
      ],
      ERR_MSG: '`[` or the name of a list',
    });
  }

  private readListFile(draft: Draft<DeclarationOf<'list'>>): void {
    const path = this.fromFile();
    draft.source = path && { kind: 'list-file', path, span: path.span };
  }

  // listEntries = '[' [ constant { ',' constant } [ ',' ] ] ']'
  listEntries: ParserRule<ListSource | null> = this.node<ListEntries>(
    'listEntries',
    () => ({ kind: 'entries', entries: [], span: null }),
    ({ entries }) => {
      this.CONSUME(symbol.openSquare);
      this.items(symbol.closeSquare, (occurrence) => this.add(entries, this.constant, occurrence));
    },
  );

  // listJoin = Word { '+' Word }
  listJoin: ParserRule<ListSource | null> = this.node<ListJoin>(
    'listJoin',
    () => ({ kind: 'join', lists: [], span: null }),
    ({ lists }) => {
      this.separated(symbol.plus, (occurrence) => push(lists, this.used('the name of a list', occurrence)));
    },
    ({ lists }) => lists[0],
  );

  // hours = 'hours' Word ( '=' hoursSpan { ',' hoursSpan } | 'from' Text ) 'in' Text [ 'except' Word ]
  hours: ParserRule<Declaration | null> = this.node<DeclarationOf<'hours'>>(
    'hours',
    () => ({ ...named('hours'), spans: [], file: null, zone: null, except: null }),
    (draft) => {
      this.CONSUME(keyword.hours);
      draft.name = this.nameOf('hours', 'a name for the hours');
      this.OR({
        DEF: [{ ALT: () => this.readHoursSpans(draft) }, { ALT: () => (draft.file = this.fromFile()) }],
        ERR_MSG: '`=` or `from`',
      });
      this.CONSUME(keyword.in);
      draft.zone = this.zone(1);
      this.behind(0, keyword.except, () => (draft.except = this.used('the name of a list of dates', 1)));
    },
    ({ name, spans, file, zone }) => name && zone && (file ?? spans[0]),
  );

  private readHoursSpans({ spans }: Draft<DeclarationOf<'hours'>>): void {
    this.CONSUME(symbol.assign);
    this.listed(hoursPhrase, () => this.add(spans, this.hoursSpan));
  }

  // hoursSpan = Weekday [ '-' Weekday ] Clock '-' Clock | Date [ '..' Date ]
  //   | 'every' 'year' Number '-' Number [ '..' Number '-' Number ]
  hoursSpan: ParserRule<HoursSpan | null> = this.always(
    'hoursSpan',
    () => ({}),
    () => this.OR(this.hoursSpans),
    (_, begin) => {
      const tokens = this.takenFrom(begin);
      const of = (type: Token['tokenType']) => tokens.filter(({ tokenType }) => tokenType === type);
      const span = this.spanFrom(begin);
      const [opening, closing = opening] = this.yearDays(of(literal.number));
      if (span && opening && closing) return { kind: 'yearly-span', first: opening, last: closing, span };
      const [first, last = first] = of(literal.date).map((token) => writtenLiteral('date', token, this));
      if (span && first && last) return { kind: 'date-span', first, last, span };
      const [firstDay, lastDay = firstDay] = of(WeekdayToken).map(({ image }) => image as WeekdayWord);
      const [from, to] = of(literal.clock).map((token) => writtenLiteral('clock', token, this));
      if (!span || !firstDay || !lastDay || !from || !to) return null;
      return { kind: 'weekly-span', firstDay, lastDay, from, to, span };
    },
  );

  private readWeeklySpan(): void {
    this.CONSUME(WeekdayToken);
    this.behind(0, symbol.minus, () => this.CONSUME1(WeekdayToken));
    this.CONSUME(literal.clock);
    this.CONSUME1(symbol.minus);
    this.CONSUME1(literal.clock);
  }

  private readDateSpan(): void {
    this.CONSUME(literal.date);
    this.behind(1, symbol.range, () => this.CONSUME1(literal.date));
  }

  private readYearlySpan(): void {
    this.CONSUME(keyword.every);
    this.CONSUME(keyword.year);
    this.CONSUME(literal.number, { ERR_MSG: yearDayPhrase });
    this.CONSUME2(symbol.minus, { ERR_MSG: yearDayPhrase });
    this.CONSUME1(literal.number, { ERR_MSG: yearDayPhrase });
    this.option(2, () => {
      this.CONSUME1(symbol.range);
      this.CONSUME2(literal.number, { ERR_MSG: yearDayPhrase });
      this.CONSUME3(symbol.minus, { ERR_MSG: yearDayPhrase });
      this.CONSUME3(literal.number, { ERR_MSG: yearDayPhrase });
    });
  }

  /** Days of the year, each made of two numbers: a month and a day. */
  private yearDays(numbers: readonly Token[]): readonly YearDay[] {
    const ends = numbers.length > 2 ? [numbers.slice(0, 2), numbers.slice(2)] : [numbers];
    return ends.flatMap(([month, day]) => {
      if (!isWritten(month) || !isWritten(day)) return [];
      const span = spanning(tokenSpan(month, this), tokenSpan(day, this));
      return [{ text: `${month.image}-${day.image}`, span }];
    });
  }

  private hoursSpans = {
    DEF: [
      { ALT: () => this.readWeeklySpan() },
      { ALT: () => this.readDateSpan() },
      { ALT: () => this.readYearlySpan() },
    ],
    ERR_MSG: hoursPhrase,
  };

  // let = 'let' Word [ '(' parameter { ',' parameter } ')' ] '=' expression
  let: ParserRule<Declaration | null> = this.node<DeclarationOf<'let'>>(
    'let',
    () => ({ ...named('let'), parameters: [], value: null }),
    (draft) => {
      this.CONSUME(keyword.let);
      draft.name = this.nameOf('a value', 'a name for the value');
      this.behind(0, symbol.openParen, () => {
        const before = this.errors.length;
        this.listed('a parameter', () => this.add(draft.parameters, this.parameter));
        this.CONSUME(symbol.closeParen);
        if (this.errors.length > before) draft.isBroken = true;
      });
      this.CONSUME(symbol.assign);
      this.whole(draft, 'value');
    },
    (draft, isBroken) => {
      if (isBroken && draft.parameters.length === 0) draft.isBroken = true;
      draft.value ??= this.missing(this.count);
      return draft.name;
    },
  );

  // parameter = Word ':' type
  parameter: ParserRule<ParameterNode | null> = this.node<ParameterNode>(
    'parameter',
    () => ({ kind: 'parameter', name: null, type: null, span: null }),
    (draft) => {
      draft.name = this.nameOf('a parameter', 'a name for the parameter');
      this.CONSUME(symbol.colon);
      this.part(draft, 'type', this.type);
    },
    ({ name, type }) => name && type,
  );

  // meter = 'meter' Word '=' aggregate 'of' patterns [ 'when' expression ] [ 'since' patterns ]
  //   [ 'per' path { ',' path } ] 'over' meterWindow
  meter: ParserRule<Declaration | null> = this.node<DeclarationOf<'meter'>>(
    'meter',
    () => ({
      ...named('meter'),
      ...nothingAggregated,
      patterns: [],
      when: null,
      since: [],
      per: [],
      over: null,
    }),
    (draft) => {
      this.CONSUME(keyword.meter);
      draft.name = this.nameOf('a meter', 'a name for the meter');
      this.CONSUME(symbol.assign);
      Object.assign(draft, this.SUBRULE(this.aggregate));
      this.CONSUME(keyword.of);
      this.part(draft, 'patterns', this.patterns);
      this.optionalWhen(draft);
      this.behind(2, keyword.since, () => this.part(draft, 'since', this.patterns, 1));
      this.behind(1, keyword.per, () =>
        this.listed('`agent`, `owner`, `session`, `user`, `delegate` or a payload field', () =>
          this.add(draft.per, this.path),
        ),
      );
      this.CONSUME(keyword.over);
      this.part(draft, 'over', this.meterWindow);
    },
    ({ name, aggregate, over }) => name && aggregate && over,
  );

  // aggregate = 'sum' '(' expression ')' [ 'in' Currency ] | 'count' '(' ')' | 'distinct' '(' expression ')'
  aggregate: ParserRule<AggregatePart | null> = this.always(
    'aggregate',
    () => ({ ...nothingAggregated }),
    (draft) => {
      const sum = () => {
        this.CONSUME(keyword.sum);
        draft.aggregate = 'sum';
        this.CONSUME(symbol.openParen);
        this.whole(draft, 'argument');
        this.CONSUME(symbol.closeParen);
        this.behind(0, keyword.in, () => (draft.currency = plainName(this.CONSUME(Currency), this)));
      };
      const count = () => {
        this.CONSUME(keyword.count);
        draft.aggregate = 'count';
        this.CONSUME1(symbol.openParen);
        this.CONSUME1(symbol.closeParen);
      };
      const distinct = () => {
        this.CONSUME(keyword.distinct);
        draft.aggregate = 'distinct';
        this.CONSUME2(symbol.openParen);
        this.whole(draft, 'argument', 1);
        this.CONSUME2(symbol.closeParen);
      };
      const message = '`sum(...)`, `count()` or `distinct(...)`';
      this.OR({ DEF: [{ ALT: sum }, { ALT: count }, { ALT: distinct }], ERR_MSG: message });
    },
    ({ aggregate, argument, currency }) => {
      if (!aggregate) return null;
      const value = aggregate === 'count' ? null : (argument ?? this.missing(this.count));
      return { aggregate, argument: value, currency };
    },
  );

  private declarations = [
    ...this.eachRule(this.action, this.typeDeclaration, this.group, this.approvers, this.list, this.table),
    ...this.eachRule(this.hours, this.let, this.meter, this.policy, this.guarantee),
  ];
}
