// Made from grammar/parser.ts by `npm run grammar`: the concrete tree, every child of which recovery may leave out.

import type { CstNode, IToken } from 'chevrotain';

export interface ConstantCstNode extends CstNode {
  readonly name: 'constant';
  readonly children: ConstantCstChildren;
}

export type ConstantCstChildren = {
  Minus?: IToken[];
  literal?: LiteralCstNode[];
};

export interface LiteralCstNode extends CstNode {
  readonly name: 'literal';
  readonly children: LiteralCstChildren;
}

export type LiteralCstChildren = {
  Text?: IToken[];
  quantity?: QuantityCstNode[];
  Date?: IToken[];
  Instant?: IToken[];
  Clock?: IToken[];
  True?: IToken[];
  False?: IToken[];
  Null?: IToken[];
};

export interface QuantityCstNode extends CstNode {
  readonly name: 'quantity';
  readonly children: QuantityCstChildren;
}

export type QuantityCstChildren = {
  Number?: IToken[];
  Currency?: IToken[];
  Duration?: IToken[];
};

export interface FieldNameCstNode extends CstNode {
  readonly name: 'fieldName';
  readonly children: FieldNameCstChildren;
}

export type FieldNameCstChildren = {
  Word?: IToken[];
  Text?: IToken[];
};

export interface PathCstNode extends CstNode {
  readonly name: 'path';
  readonly children: PathCstChildren;
}

export type PathCstChildren = {
  Word?: IToken[];
  Risk?: IToken[];
  Dot?: IToken[];
  fieldName?: FieldNameCstNode[];
};

export interface ExpressionCstNode extends CstNode {
  readonly name: 'expression';
  readonly children: ExpressionCstChildren;
}

export type ExpressionCstChildren = {
  conjunction?: (ConjunctionCstNode)[];
  Or?: IToken[];
};

export interface ConjunctionCstNode extends CstNode {
  readonly name: 'conjunction';
  readonly children: ConjunctionCstChildren;
}

export type ConjunctionCstChildren = {
  inversion?: (InversionCstNode)[];
  And?: IToken[];
};

export interface InversionCstNode extends CstNode {
  readonly name: 'inversion';
  readonly children: InversionCstChildren;
}

export type InversionCstChildren = {
  Not?: IToken[];
  comparison?: ComparisonCstNode[];
};

export interface ComparisonCstNode extends CstNode {
  readonly name: 'comparison';
  readonly children: ComparisonCstChildren;
}

export type ComparisonCstChildren = {
  sum?: SumCstNode[];
  relation?: RelationCstNode[];
  membership?: MembershipCstNode[];
  presence?: PresenceCstNode[];
};

export interface RelationCstNode extends CstNode {
  readonly name: 'relation';
  readonly children: RelationCstChildren;
}

export type RelationCstChildren = {
  Equal?: IToken[];
  NotEqual?: IToken[];
  Below?: IToken[];
  AtMost?: IToken[];
  Above?: IToken[];
  AtLeast?: IToken[];
  Like?: IToken[];
  Matches?: IToken[];
  Starts?: IToken[];
  With?: (IToken)[];
  Ends?: IToken[];
  Contains?: IToken[];
  Mentions?: IToken[];
  Any?: IToken[];
  Of?: IToken[];
  Inside?: IToken[];
  sum?: SumCstNode[];
};

export interface MembershipCstNode extends CstNode {
  readonly name: 'membership';
  readonly children: MembershipCstChildren;
}

export type MembershipCstChildren = {
  Not?: IToken[];
  In?: IToken[];
  sum?: (SumCstNode)[];
  Range?: IToken[];
};

export interface PresenceCstNode extends CstNode {
  readonly name: 'presence';
  readonly children: PresenceCstChildren;
}

export type PresenceCstChildren = {
  Has?: IToken[];
  fieldName?: (FieldNameCstNode)[];
  Dot?: IToken[];
};

export interface SumCstNode extends CstNode {
  readonly name: 'sum';
  readonly children: SumCstChildren;
}

export type SumCstChildren = {
  product?: (ProductCstNode)[];
  operator?: (IToken)[];
};

export interface ProductCstNode extends CstNode {
  readonly name: 'product';
  readonly children: ProductCstChildren;
}

export type ProductCstChildren = {
  negation?: (NegationCstNode)[];
  operator?: (IToken)[];
};

export interface NegationCstNode extends CstNode {
  readonly name: 'negation';
  readonly children: NegationCstChildren;
}

export type NegationCstChildren = {
  Minus?: IToken[];
  primary?: PrimaryCstNode[];
  Else?: IToken[];
  fallback?: FallbackCstNode[];
};

export interface FallbackCstNode extends CstNode {
  readonly name: 'fallback';
  readonly children: FallbackCstChildren;
}

export type FallbackCstChildren = {
  constant?: ConstantCstNode[];
  path?: PathCstNode[];
  parentheses?: ParenthesesCstNode[];
};

export interface PrimaryCstNode extends CstNode {
  readonly name: 'primary';
  readonly children: PrimaryCstChildren;
}

export type PrimaryCstChildren = {
  literal?: LiteralCstNode[];
  parentheses?: ParenthesesCstNode[];
  listLiteral?: ListLiteralCstNode[];
  quantifier?: QuantifierCstNode[];
  today?: TodayCstNode[];
  call?: CallCstNode[];
  path?: PathCstNode[];
};

export interface ParenthesesCstNode extends CstNode {
  readonly name: 'parentheses';
  readonly children: ParenthesesCstChildren;
}

export type ParenthesesCstChildren = {
  OpenParen?: IToken[];
  expression?: ExpressionCstNode[];
  CloseParen?: IToken[];
};

export interface ListLiteralCstNode extends CstNode {
  readonly name: 'listLiteral';
  readonly children: ListLiteralCstChildren;
}

export type ListLiteralCstChildren = {
  OpenSquare?: IToken[];
  expression?: (ExpressionCstNode)[];
  Comma?: (IToken)[];
  CloseSquare?: IToken[];
};

export interface QuantifierCstNode extends CstNode {
  readonly name: 'quantifier';
  readonly children: QuantifierCstChildren;
}

export type QuantifierCstChildren = {
  Some?: IToken[];
  Every?: IToken[];
  No?: IToken[];
  Count?: IToken[];
  Sum?: IToken[];
  Word?: IToken[];
  In?: IToken[];
  source?: SourceCstNode[];
  Comma?: IToken[];
  OpenParen?: IToken[];
  expression?: ExpressionCstNode[];
  CloseParen?: IToken[];
};

export interface SourceCstNode extends CstNode {
  readonly name: 'source';
  readonly children: SourceCstChildren;
}

export type SourceCstChildren = {
  listLiteral?: ListLiteralCstNode[];
  call?: CallCstNode[];
  path?: PathCstNode[];
};

export interface TodayCstNode extends CstNode {
  readonly name: 'today';
  readonly children: TodayCstChildren;
}

export type TodayCstChildren = {
  Today?: IToken[];
  In?: IToken[];
  Text?: IToken[];
};

export interface CallCstNode extends CstNode {
  readonly name: 'call';
  readonly children: CallCstChildren;
}

export type CallCstChildren = {
  Word?: IToken[];
  OpenParen?: IToken[];
  expression?: (ExpressionCstNode)[];
  Comma?: IToken[];
  CloseParen?: IToken[];
};

export interface RecordBodyCstNode extends CstNode {
  readonly name: 'recordBody';
  readonly children: RecordBodyCstChildren;
}

export type RecordBodyCstChildren = {
  OpenCurly?: IToken[];
  field?: FieldCstNode[];
  Comma?: (IToken)[];
  Ellipsis?: IToken[];
  CloseCurly?: IToken[];
};

export interface FieldCstNode extends CstNode {
  readonly name: 'field';
  readonly children: FieldCstChildren;
}

export type FieldCstChildren = {
  fieldName?: FieldNameCstNode[];
  Colon?: IToken[];
  Optional?: IToken[];
  type?: TypeCstNode[];
};

export interface TypeCstNode extends CstNode {
  readonly name: 'type';
  readonly children: TypeCstChildren;
}

export type TypeCstChildren = {
  modifier?: (IToken)[];
  typeMember?: (TypeMemberCstNode)[];
  Bar?: IToken[];
};

export interface TypeMemberCstNode extends CstNode {
  readonly name: 'typeMember';
  readonly children: TypeMemberCstChildren;
}

export type TypeMemberCstChildren = {
  Null?: IToken[];
  Text?: IToken[];
  listType?: ListTypeCstNode[];
  recordBody?: RecordBodyCstNode[];
  moneyType?: MoneyTypeCstNode[];
  namedType?: NamedTypeCstNode[];
};

export interface ListTypeCstNode extends CstNode {
  readonly name: 'listType';
  readonly children: ListTypeCstChildren;
}

export type ListTypeCstChildren = {
  OpenSquare?: IToken[];
  type?: TypeCstNode[];
  CloseSquare?: IToken[];
  typeRange?: TypeRangeCstNode[];
};

export interface MoneyTypeCstNode extends CstNode {
  readonly name: 'moneyType';
  readonly children: MoneyTypeCstChildren;
}

export type MoneyTypeCstChildren = {
  Money?: IToken[];
  OpenParen?: IToken[];
  fieldName?: FieldNameCstNode[];
  CloseParen?: IToken[];
  typeRange?: TypeRangeCstNode[];
};

export interface NamedTypeCstNode extends CstNode {
  readonly name: 'namedType';
  readonly children: NamedTypeCstChildren;
}

export type NamedTypeCstChildren = {
  Word?: IToken[];
  Ignoring?: IToken[];
  Case?: IToken[];
  Matches?: IToken[];
  Text?: IToken[];
  typeRange?: TypeRangeCstNode[];
};

export interface TypeRangeCstNode extends CstNode {
  readonly name: 'typeRange';
  readonly children: TypeRangeCstChildren;
}

export type TypeRangeCstChildren = {
  low?: BoundCstNode[];
  Range?: IToken[];
  high?: BoundCstNode[];
};

export interface BoundCstNode extends CstNode {
  readonly name: 'bound';
  readonly children: BoundCstChildren;
}

export type BoundCstChildren = {
  Minus?: IToken[];
  quantity?: QuantityCstNode[];
  Date?: IToken[];
  Instant?: IToken[];
};

export interface PatternsCstNode extends CstNode {
  readonly name: 'patterns';
  readonly children: PatternsCstChildren;
}

export type PatternsCstChildren = {
  pattern?: PatternCstNode[];
  Comma?: IToken[];
};

export interface PatternCstNode extends CstNode {
  readonly name: 'pattern';
  readonly children: PatternCstChildren;
}

export type PatternCstChildren = {
  Text?: IToken[];
  segment?: (SegmentCstNode)[];
  Dot?: IToken[];
};

export interface SegmentCstNode extends CstNode {
  readonly name: 'segment';
  readonly children: SegmentCstChildren;
}

export type SegmentCstChildren = {
  Star?: IToken[];
  Word?: IToken[];
};

export interface PolicyCstNode extends CstNode {
  readonly name: 'policy';
  readonly children: PolicyCstChildren;
}

export type PolicyCstChildren = {
  Shadow?: IToken[];
  Policy?: IToken[];
  Word?: IToken[];
  On?: IToken[];
  patterns?: PatternsCstNode[];
  Except?: IToken[];
  except?: PatternsCstNode[];
  When?: IToken[];
  expression?: ExpressionCstNode[];
  OpenCurly?: IToken[];
  metadata?: MetadataCstNode[];
  rule?: RuleCstNode[];
  CloseCurly?: IToken[];
};

export interface MetadataCstNode extends CstNode {
  readonly name: 'metadata';
  readonly children: MetadataCstChildren;
}

export type MetadataCstChildren = {
  Owner?: IToken[];
  Tags?: IToken[];
  Link?: IToken[];
  Text?: IToken[];
  Comma?: IToken[];
};

export interface RuleCstNode extends CstNode {
  readonly name: 'rule';
  readonly children: RuleCstChildren;
}

export type RuleCstChildren = {
  Shadow?: IToken[];
  Allow?: IToken[];
  Deny?: IToken[];
  Escalate?: IToken[];
  Reauth?: IToken[];
  Risk?: IToken[];
  Word?: IToken[];
  clause?: ClauseCstNode[];
};

export interface ClauseCstNode extends CstNode {
  readonly name: 'clause';
  readonly children: ClauseCstChildren;
}

export type ClauseCstChildren = {
  forClause?: ForClauseCstNode[];
  afterClause?: AfterClauseCstNode[];
  toClause?: ToClauseCstNode[];
  needsClause?: NeedsClauseCstNode[];
  withinClause?: WithinClauseCstNode[];
  whenClause?: WhenClauseCstNode[];
  unlessClause?: UnlessClauseCstNode[];
  pointsClause?: PointsClauseCstNode[];
  becauseClause?: BecauseClauseCstNode[];
};

export interface ForClauseCstNode extends CstNode {
  readonly name: 'forClause';
  readonly children: ForClauseCstChildren;
}

export type ForClauseCstChildren = {
  For?: IToken[];
  Duration?: IToken[];
};

export interface AfterClauseCstNode extends CstNode {
  readonly name: 'afterClause';
  readonly children: AfterClauseCstChildren;
}

export type AfterClauseCstChildren = {
  After?: IToken[];
  Approval?: IToken[];
  By?: IToken[];
  Word?: IToken[];
  Reauth?: IToken[];
};

export interface ToClauseCstNode extends CstNode {
  readonly name: 'toClause';
  readonly children: ToClauseCstChildren;
}

export type ToClauseCstChildren = {
  To?: IToken[];
  Word?: IToken[];
};

export interface NeedsClauseCstNode extends CstNode {
  readonly name: 'needsClause';
  readonly children: NeedsClauseCstChildren;
}

export type NeedsClauseCstChildren = {
  Needs?: IToken[];
  Number?: IToken[];
};

export interface WithinClauseCstNode extends CstNode {
  readonly name: 'withinClause';
  readonly children: WithinClauseCstChildren;
}

export type WithinClauseCstChildren = {
  Within?: IToken[];
  Duration?: IToken[];
};

export interface WhenClauseCstNode extends CstNode {
  readonly name: 'whenClause';
  readonly children: WhenClauseCstChildren;
}

export type WhenClauseCstChildren = {
  When?: IToken[];
  expression?: ExpressionCstNode[];
};

export interface UnlessClauseCstNode extends CstNode {
  readonly name: 'unlessClause';
  readonly children: UnlessClauseCstChildren;
}

export type UnlessClauseCstChildren = {
  Unless?: IToken[];
  expression?: ExpressionCstNode[];
};

export interface PointsClauseCstNode extends CstNode {
  readonly name: 'pointsClause';
  readonly children: PointsClauseCstChildren;
}

export type PointsClauseCstChildren = {
  Risk?: IToken[];
  sign?: (IToken)[];
  Number?: IToken[];
};

export interface BecauseClauseCstNode extends CstNode {
  readonly name: 'becauseClause';
  readonly children: BecauseClauseCstChildren;
}

export type BecauseClauseCstChildren = {
  Because?: IToken[];
  Text?: IToken[];
};

export interface GuaranteeCstNode extends CstNode {
  readonly name: 'guarantee';
  readonly children: GuaranteeCstChildren;
}

export type GuaranteeCstChildren = {
  Guarantee?: IToken[];
  Word?: IToken[];
  On?: IToken[];
  patterns?: PatternsCstNode[];
  OpenCurly?: IToken[];
  claim?: ClaimCstNode[];
  CloseCurly?: IToken[];
};

export interface ClaimCstNode extends CstNode {
  readonly name: 'claim';
  readonly children: ClaimCstChildren;
}

export type ClaimCstChildren = {
  Never?: IToken[];
  Always?: IToken[];
  Allow?: IToken[];
  Deny?: IToken[];
  Escalate?: IToken[];
  Reauth?: IToken[];
  Unapproved?: IToken[];
  When?: IToken[];
  expression?: ExpressionCstNode[];
};

export interface FileCstNode extends CstNode {
  readonly name: 'file';
  readonly children: FileCstChildren;
}

export type FileCstChildren = {
  declaration?: DeclarationCstNode[];
};

export interface DeclarationCstNode extends CstNode {
  readonly name: 'declaration';
  readonly children: DeclarationCstChildren;
}

export type DeclarationCstChildren = {
  action?: ActionCstNode[];
  typeDeclaration?: TypeDeclarationCstNode[];
  group?: GroupCstNode[];
  approvers?: ApproversCstNode[];
  list?: ListCstNode[];
  hours?: HoursCstNode[];
  let?: LetCstNode[];
  meter?: MeterCstNode[];
  policy?: PolicyCstNode[];
  guarantee?: GuaranteeCstNode[];
};

export interface ActionCstNode extends CstNode {
  readonly name: 'action';
  readonly children: ActionCstChildren;
}

export type ActionCstChildren = {
  Action?: IToken[];
  key?: KeyCstNode[];
  Comma?: IToken[];
  In?: IToken[];
  names?: NamesCstNode[];
  recordBody?: RecordBodyCstNode[];
};

export interface KeyCstNode extends CstNode {
  readonly name: 'key';
  readonly children: KeyCstChildren;
}

export type KeyCstChildren = {
  Text?: IToken[];
  segment?: (IToken)[];
  Dot?: IToken[];
};

export interface NamesCstNode extends CstNode {
  readonly name: 'names';
  readonly children: NamesCstChildren;
}

export type NamesCstChildren = {
  Word?: IToken[];
  Comma?: IToken[];
};

export interface TypeDeclarationCstNode extends CstNode {
  readonly name: 'typeDeclaration';
  readonly children: TypeDeclarationCstChildren;
}

export type TypeDeclarationCstChildren = {
  Type?: IToken[];
  Word?: IToken[];
  Assign?: IToken[];
  type?: TypeCstNode[];
};

export interface GroupCstNode extends CstNode {
  readonly name: 'group';
  readonly children: GroupCstChildren;
}

export type GroupCstChildren = {
  Group?: IToken[];
  Word?: IToken[];
};

export interface ApproversCstNode extends CstNode {
  readonly name: 'approvers';
  readonly children: ApproversCstChildren;
}

export type ApproversCstChildren = {
  Approvers?: IToken[];
  Word?: IToken[];
  Text?: IToken[];
};

export interface ListCstNode extends CstNode {
  readonly name: 'list';
  readonly children: ListCstChildren;
}

export type ListCstChildren = {
  List?: IToken[];
  Word?: IToken[];
  Colon?: IToken[];
  type?: TypeCstNode[];
  Ignoring?: IToken[];
  Case?: IToken[];
  Assign?: IToken[];
  listEntries?: ListEntriesCstNode[];
  listJoin?: ListJoinCstNode[];
  From?: IToken[];
  Text?: IToken[];
  May?: IToken[];
  Be?: IToken[];
  Empty?: IToken[];
};

export interface ListEntriesCstNode extends CstNode {
  readonly name: 'listEntries';
  readonly children: ListEntriesCstChildren;
}

export type ListEntriesCstChildren = {
  OpenSquare?: IToken[];
  constant?: (ConstantCstNode)[];
  Comma?: (IToken)[];
  CloseSquare?: IToken[];
};

export interface ListJoinCstNode extends CstNode {
  readonly name: 'listJoin';
  readonly children: ListJoinCstChildren;
}

export type ListJoinCstChildren = {
  Word?: (IToken)[];
  Plus?: IToken[];
};

export interface HoursCstNode extends CstNode {
  readonly name: 'hours';
  readonly children: HoursCstChildren;
}

export type HoursCstChildren = {
  Hours?: IToken[];
  Word?: IToken[];
  Assign?: IToken[];
  hoursSpan?: HoursSpanCstNode[];
  Comma?: IToken[];
  In?: IToken[];
  Text?: IToken[];
  Except?: IToken[];
  except?: IToken[];
};

export interface HoursSpanCstNode extends CstNode {
  readonly name: 'hoursSpan';
  readonly children: HoursSpanCstChildren;
}

export type HoursSpanCstChildren = {
  Weekday?: (IToken)[];
  Minus?: (IToken)[];
  Clock?: (IToken)[];
  Date?: (IToken)[];
  Range?: IToken[];
};

export interface LetCstNode extends CstNode {
  readonly name: 'let';
  readonly children: LetCstChildren;
}

export type LetCstChildren = {
  Let?: IToken[];
  Word?: IToken[];
  Assign?: IToken[];
  expression?: ExpressionCstNode[];
};

export interface MeterCstNode extends CstNode {
  readonly name: 'meter';
  readonly children: MeterCstChildren;
}

export type MeterCstChildren = {
  Meter?: IToken[];
  Word?: IToken[];
  Assign?: IToken[];
  aggregate?: AggregateCstNode[];
  Of?: IToken[];
  patterns?: PatternsCstNode[];
  When?: IToken[];
  expression?: ExpressionCstNode[];
  Per?: IToken[];
  path?: PathCstNode[];
  Comma?: IToken[];
  Over?: IToken[];
  Duration?: IToken[];
};

export interface AggregateCstNode extends CstNode {
  readonly name: 'aggregate';
  readonly children: AggregateCstChildren;
}

export type AggregateCstChildren = {
  Sum?: IToken[];
  OpenParen?: (IToken)[];
  expression?: (ExpressionCstNode)[];
  CloseParen?: (IToken)[];
  In?: IToken[];
  Currency?: IToken[];
  Count?: IToken[];
  Distinct?: IToken[];
};
