// The syntax tree: all parts of a policy file with their positions, uninterpreted. A tree keeps the order in
// which things were written, for the formatter and for diagnostics.

import type { Span, Spans } from '../../diagnostic/span.ts';
import type { DocumentedNode, Node, NodeOf } from './node.ts';

interface NamedNode<Kind extends string> extends DocumentedNode<Kind> {
  readonly name: NameNode;
}

export interface PolicyFile extends NodeOf<'file'> {
  readonly declarations: readonly Declaration[];
  /** Every comment of the file in order, `#` included, for the formatter. */
  readonly comments: readonly Comment[];
}

export interface Comment extends Node {
  readonly text: string;
  /** Whether only blanks stand before the comment on its line. */
  readonly ownLine: boolean;
  /** Whether the comment begins a paragraph: it has its own line, and the line before it is blank. */
  readonly afterBlank: boolean;
}

/** A declared or used name, or a field's name; `isQuoted` tells whether it was written in quotes. */
export interface NameNode extends NodeOf<'name'> {
  readonly text: string;
  readonly isQuoted: boolean;
}

export type Declaration =
  | ActionDeclaration
  | TypeDeclaration
  | GroupDeclaration
  | ApproversDeclaration
  | ListDeclaration
  | TableDeclaration
  | HoursDeclaration
  | LetDeclaration
  | MeterDeclaration
  | PolicyDeclaration
  | GuaranteeDeclaration;

export type DeclarationOf<Kind extends Declaration['kind']> = Extract<Declaration, { readonly kind: Kind }>;

export interface ActionDeclaration extends DocumentedNode<'action'> {
  /** Full keys such as `github.issue.create`. */
  readonly keys: readonly NameNode[];
  readonly groups: readonly NameNode[];
  /** What a request of the action is about; placeholders name payload fields. */
  readonly title: TemplateNode | null;
  readonly body: RecordBody;
  /** The shape of what a call of the action returns, as reported afterwards by whoever made the call. */
  readonly result: RecordBody | null;
}

export interface RecordBody extends Node {
  readonly fields: readonly FieldNode[];
  /** Whether the body ends with `...`. */
  readonly isOpen: boolean;
  /** True if an error ended the body or left a field out, so that what the body declares is not known. */
  readonly isBroken?: true;
}

export interface FieldNode extends NamedNode<'field'> {
  readonly isOptional: boolean;
  readonly type: TypeNode;
}

export type TypeNode =
  /** A type by its name, built in or declared. Only `string matches 're'` has a `pattern`. */
  | ({
      readonly kind: 'named-type';
      readonly name: NameNode;
      /** True for `path ignoring case`. */
      readonly ignoringCase: boolean;
      readonly pattern: TextLiteral | null;
      readonly range: TypeRange | null;
    } & Node)
  | ({ readonly kind: 'money-type'; readonly currency: NameNode; readonly range: TypeRange | null } & Node)
  | ({ readonly kind: 'text-type'; readonly text: TextLiteral } & Node)
  | ({ readonly kind: 'null-type' } & Node)
  | ({ readonly kind: 'list-type'; readonly element: TypeNode; readonly range: TypeRange | null } & Node)
  | ({ readonly kind: 'record-type'; readonly body: RecordBody } & Node)
  | ({
      readonly kind: 'modified-type';
      readonly modifier: 'secret' | 'signed';
      /** The enforcement point that vouches for the value; null if the agent signs it, and for `secret`. */
      readonly by: TextLiteral | null;
      readonly type: TypeNode;
    } & Node)
  /** Two members or more, as in `"a" | "b" | null`; never nested. A modifier applies to the whole union. */
  | ({ readonly kind: 'union-type'; readonly members: readonly TypeNode[] } & Node);

/** Bounds of a type, both inclusive; null means an open end. */
export interface TypeRange extends Node {
  readonly low: LiteralNode | null;
  readonly high: LiteralNode | null;
}

export interface TypeDeclaration extends NamedNode<'type'> {
  readonly type: TypeNode;
}

export interface GroupDeclaration extends NamedNode<'group'> {
  /** Fields that every action of the group has; null for none. */
  readonly body: RecordBody | null;
}

export interface ApproversDeclaration extends NamedNode<'approvers'> {
  readonly title: TextLiteral;
  /** Up to which risk the group may decide by chat; null for never. */
  readonly chat: ChatLimitNode | null;
}

/** `by chat up to risk N` */
export interface ChatLimitNode extends NodeOf<'chat-limit'> {
  readonly maxRisk: NumberLiteral;
}

export interface ListDeclaration extends NamedNode<'list'> {
  readonly elementType: TypeNode | null;
  readonly ignoringCase: boolean;
  readonly source: ListSource;
  readonly mayBeEmpty: boolean;
}

export type ListSource =
  | ({ readonly kind: 'entries'; readonly entries: readonly LiteralNode[] } & Node)
  | ({ readonly kind: 'join'; readonly lists: readonly NameNode[] } & Node)
  | ({ readonly kind: 'list-file'; readonly path: TextLiteral } & Node);

export interface TableDeclaration extends NamedNode<'table'> {
  readonly source: TableSource;
}

export type TableSource =
  | ({
      readonly kind: 'table-file';
      readonly path: TextLiteral;
      /** The column by which rows are found. */
      readonly key: FieldNode;
      readonly columns: RecordBody;
    } & Node)
  | ({
      readonly kind: 'pushed';
      /** Names of the enforcement points that may push rows. */
      readonly by: readonly TextLiteral[];
      readonly key: FieldNode;
      readonly columns: RecordBody;
    } & Node)
  | ({ readonly kind: 'rows'; readonly rows: readonly RowNode[] } & Node);

/** A row of a table of constants, such as `USD: 200 USD`. */
export interface RowNode extends NodeOf<'row'> {
  readonly key: NameNode;
  readonly value: LiteralNode;
}

export type WeekdayWord = 'mon' | 'tue' | 'wed' | 'thu' | 'fri' | 'sat' | 'sun';

export interface HoursDeclaration extends NamedNode<'hours'> {
  /** Empty if the hours are read from a file. */
  readonly spans: readonly HoursSpan[];
  /** The file that holds the days; null if spans are written in the declaration. */
  readonly file: TextLiteral | null;
  readonly zone: TextLiteral;
  /** A declared list of dates that are excepted; null for none. */
  readonly except: NameNode | null;
}

export type HoursSpan =
  /** Hours on weekdays, such as `mon-fri 09:00-17:00`; a single day has `firstDay` equal to `lastDay`. */
  | ({
      readonly kind: 'weekly-span';
      readonly firstDay: WeekdayWord;
      readonly lastDay: WeekdayWord;
      readonly from: ClockLiteral;
      readonly to: ClockLiteral;
    } & Node)
  /** Dates, such as `2026-12-20..2027-01-02`; a single date has `first` equal to `last`. */
  | ({ readonly kind: 'date-span'; readonly first: DateLiteral; readonly last: DateLiteral } & Node)
  /** Days of every year, such as `every year 12-18..01-03`; a single day has `first` equal to `last`. */
  | ({ readonly kind: 'yearly-span'; readonly first: YearDay; readonly last: YearDay } & Node);

/** Month and day as written, such as `12-18`. */
export interface YearDay extends Node {
  readonly text: string;
}

/** `let name = value`; with parameters, `let name(parameter: type) = value`. */
export interface LetDeclaration extends NamedNode<'let'> {
  readonly parameters: readonly ParameterNode[];
  /** True if an error left parameters out, so that how to call the let is not known. */
  readonly isBroken?: true;
  readonly value: ExpressionNode;
}

/** A parameter of a let, such as `mail: email`. */
export interface ParameterNode extends NodeOf<'parameter'> {
  readonly name: NameNode;
  readonly type: TypeNode;
}

export interface MeterDeclaration extends NamedNode<'meter'> {
  readonly aggregate: 'sum' | 'count' | 'distinct';
  /** What is summed, or counted once for each value; null for `count()`. */
  readonly argument: ExpressionNode | null;
  readonly currency: NameNode | null;
  readonly patterns: readonly Pattern[];
  readonly when: ExpressionNode | null;
  /** Actions that reset the meter: it starts again at each of their grants. */
  readonly since: readonly Pattern[];
  /** What the meter is kept per: `agent`, `owner`, `session`, `user` as bare paths, or payload paths. */
  readonly per: readonly Path[];
  readonly over: DurationLiteral | CalendarWindow;
}

/** A calendar window: `today in "Zone"`, `this week in "Zone"` or `this month in "Zone"`. */
export interface CalendarWindow extends NodeOf<'calendar-window'> {
  readonly period: 'day' | 'week' | 'month';
  readonly zone: TextLiteral;
}

/** An action key, a group's name, `area.*`, `*.verb` or `*`, as text without quotes. */
export interface Pattern extends NodeOf<'pattern'> {
  readonly text: string;
  readonly isQuoted: boolean;
}

export interface PolicyDeclaration extends NamedNode<'policy'> {
  readonly isShadow: boolean;
  readonly patterns: readonly Pattern[];
  readonly except: readonly Pattern[];
  readonly when: ExpressionNode | null;
  readonly metadata: readonly Metadata[];
  readonly rules: readonly RuleNode[];
}

export interface Metadata extends Node {
  readonly kind: 'owner' | 'tags' | 'link';
  readonly values: readonly TextLiteral[];
}

export type EffectWord = 'allow' | 'deny' | 'escalate' | 'reauth' | 'risk';

export interface RuleNode extends NamedNode<'rule'> {
  readonly effect: EffectWord;
  readonly isShadow: boolean;
  /** Parameters and clauses as written: any order, duplicates included. */
  readonly clauses: readonly Clause[];
}

export type Clause =
  | ({ readonly kind: 'for'; readonly duration: DurationLiteral } & Node)
  | ({ readonly kind: 'after-approval'; readonly asked: ApproverListNode } & Node)
  | ({ readonly kind: 'after-reauth' } & Node)
  | ({ readonly kind: 'to'; readonly asked: ApproverListNode } & Node)
  /** People who may not approve, by the paths that name them. */
  | ({ readonly kind: 'except'; readonly people: readonly Path[] } & Node)
  | ({ readonly kind: 'needs'; readonly people: NumberLiteral } & Node)
  | ({ readonly kind: 'within'; readonly duration: DurationLiteral } & Node)
  | ThenClause
  | StandingClause
  | ({ readonly kind: 'when'; readonly condition: ExpressionNode } & Node)
  | ({ readonly kind: 'unless'; readonly condition: ExpressionNode } & Node)
  /** `risk +30` as a clause, or the bare `+30` of a `risk` rule. `points` carries its sign. */
  | ({ readonly kind: 'points'; readonly points: NumberLiteral } & Node)
  | ({ readonly kind: 'because'; readonly reason: TemplateNode } & Node);

/** `then to APPROVERS [within DURATION]`: who may approve as well once the time before it is over. */
export interface ThenClause extends NodeOf<'then'> {
  readonly asked: ApproverListNode;
  readonly duration: DurationLiteral | null;
}

/** `standing per KEYS for DURATION [up to N times]`: an approval may serve later requests with equal keys. */
export interface StandingClause extends NodeOf<'standing'> {
  /** `agent`, `session` and `user` as bare paths, and payload paths. */
  readonly per: readonly Path[];
  readonly duration: DurationLiteral;
  /** How many later requests it may serve; null for any number. */
  readonly times: NumberLiteral | null;
}

/** Who is asked for approval: groups by their names, and expressions that name a person or a group. */
export interface ApproverListNode extends NodeOf<'asked'> {
  readonly each: readonly ApproverNode[];
  /** The words between them, one fewer. */
  readonly joints: readonly ('and' | 'or')[];
}

/** A path without steps is the name of a group, or of a `let`. */
export type ApproverNode = Path | LookUp;

/** A text with `{expression}` placeholders, in order; in its texts, escapes and `{{` are resolved. */
export interface TemplateNode extends NodeOf<'template'> {
  readonly parts: readonly TemplatePart[];
}

export type TemplatePart =
  | ({ readonly kind: 'template-text'; readonly text: string } & Node)
  | ({ readonly kind: 'template-value'; readonly value: ExpressionNode } & Node);

export interface GuaranteeDeclaration extends NamedNode<'guarantee'> {
  readonly patterns: readonly Pattern[];
  readonly claims: readonly GuaranteeClauseNode[];
}

export interface GuaranteeClauseNode extends DocumentedNode<'claim'> {
  /** A claim with `only` says that the effect occurs only when `when` holds. */
  readonly mode: 'never' | 'always' | 'only';
  readonly effect: 'allow' | 'deny' | 'escalate' | 'reauth' | 'ask' | 'standing';
  /** Whom an `ask` claim is about; null for other claims. */
  readonly asked: ApproverListNode | null;
  readonly people: NumberLiteral | null;
  readonly isUnapproved: boolean;
  readonly when: ExpressionNode | null;
}

export type LiteralNode =
  | TextLiteral
  | NumberLiteral
  | MoneyLiteral
  | DurationLiteral
  | DateLiteral
  | Spelling<'instant'>
  | ClockLiteral
  | MonthsLiteral
  | ({ readonly kind: 'boolean'; readonly value: boolean } & Node)
  | ({ readonly kind: 'null' } & Node);

/** A text. `value` has its escapes resolved; `isRaw` marks a text written `'...'`. */
export interface TextLiteral extends NodeOf<'text'> {
  readonly value: string;
  readonly isRaw: boolean;
}

/** A literal as it is written, its sign and its underscores included. */
interface Spelling<Kind extends string> extends NodeOf<Kind> {
  readonly text: string;
}

export type NumberLiteral = Spelling<'number'>;
export type DurationLiteral = Spelling<'duration'>;
export type DateLiteral = Spelling<'date'>;
export type ClockLiteral = Spelling<'clock'>;
/** A number of years or months, such as `18 years` or `6 months`, behind a date and `+` or `-`. */
export type MonthsLiteral = Spelling<'months'>;

/** An amount of money: `amount` as written, sign included, and `currency` as written. */
export interface MoneyLiteral extends NodeOf<'money'> {
  readonly amount: string;
  readonly currency: string;
}

export type ExpressionNode =
  | LiteralNode
  | Path
  | LookUp
  | UnaryExpression
  | BinaryExpression
  | RangeExpression
  | ListExpression
  | TextListExpression
  | Quantifier
  | PresenceTest
  | SingleScript
  | FallbackExpression
  | ConditionalExpression
  | TodayNode
  | CallNode
  | MissingNode;

/** A root name and steps, such as `payload.vendor.name`, `agent.id` or `spent_24h`. */
export interface Path extends NodeOf<'path'> {
  readonly root: NameNode;
  readonly steps: readonly NameNode[];
}

/** A look-up such as `orders[payload.order_id].owner`; `column` is null if each row is one value. */
export interface LookUp extends NodeOf<'look-up'> {
  readonly table: NameNode;
  readonly key: ExpressionNode;
  readonly column: NameNode | null;
}

export interface UnaryExpression extends NodeOf<'unary'> {
  readonly operator: 'not' | '-';
  readonly operand: ExpressionNode;
}

type Relation = '==' | '!=' | '<' | '<=' | '>' | '>=' | 'in' | 'not in';
type SingleTextRelation = 'like' | 'matches' | 'starts with' | 'ends with' | 'contains' | 'inside';
/** A relation that makes the same test for each text of a list. */
export type AnyTextRelation = `${SingleTextRelation} any of`;
type TextRelation = SingleTextRelation | AnyTextRelation | 'mentions any of' | 'within';
export type BinaryOperator = 'or' | 'and' | Relation | TextRelation | '+' | '-' | '*' | '/';

export interface BinaryExpression extends NodeOf<'binary'> {
  readonly operator: BinaryOperator;
  readonly operatorSpan: Span;
  readonly left: ExpressionNode;
  /** Span of the left operand, including parentheses around it. */
  readonly leftSpan: Span;
  readonly right: ExpressionNode;
}

/** A range such as `0.01 USD..500 USD`; stands right of `in` only. */
export interface RangeExpression extends NodeOf<'range'> {
  readonly low: ExpressionNode;
  readonly high: ExpressionNode;
}

export interface ListExpression extends NodeOf<'list-literal'> {
  readonly entries: readonly ExpressionNode[];
}

/** A list of two texts or more, all in double quotes, kept in one piece (see `writtenEntries`). */
export interface TextListExpression extends NodeOf<'text-list'> {
  readonly texts: readonly string[];
  /** The places of the texts, with their quotes. */
  readonly spans: Spans;
}

export interface Quantifier extends NodeOf<'quantifier'> {
  readonly quantifier: 'some' | 'every' | 'no' | 'count' | 'sum';
  readonly variable: NameNode;
  readonly sources: readonly ExpressionNode[];
  readonly body: ExpressionNode;
}

/**
 * A test whether a field or a cell is present, such as `payload has a.b`, `line has note` or
 * `orders[payload.id] has owner`.
 */
export interface PresenceTest extends NodeOf<'has'> {
  readonly subject: Path | LookUp;
  readonly field: readonly NameNode[];
}

/** A test of one text, such as `payload.vendor is single_script`. */
export interface SingleScript extends NodeOf<'single-script'> {
  readonly subject: ExpressionNode;
}

export interface FallbackExpression extends NodeOf<'else'> {
  readonly subject: ExpressionNode;
  readonly fallback: ExpressionNode;
}

/** `if condition then value else other`; without `else`, a condition that is true unless its `if` is true. */
export interface ConditionalExpression extends NodeOf<'if'> {
  readonly condition: ExpressionNode;
  readonly whenTrue: ExpressionNode;
  readonly otherwise: ExpressionNode | null;
}

/** Today's date in a time zone: `today in "Zone"`. */
export interface TodayNode extends NodeOf<'today'> {
  readonly zone: TextLiteral;
}

export interface CallNode extends NodeOf<'call'> {
  readonly callee: NameNode;
  readonly args: readonly ExpressionNode[];
}

/** A place where the parser found no expression and went on; a diagnostic reports it. */
export type MissingNode = NodeOf<'missing'>;
