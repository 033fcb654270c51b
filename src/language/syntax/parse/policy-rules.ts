// The parser rules of policies and guarantees: patterns, metadata, rules with their clauses, claims. A clause
// that loses its substance to an error is left out. A condition that could not be read is a `missing` node,
// so that the rule stays known.

import { type Span, spanning } from '../../diagnostic/span.ts';
import type {
  ApproverListNode,
  ApproverNode,
  Clause,
  Declaration,
  DeclarationOf,
  EffectWord,
  ExpressionNode,
  GuaranteeClauseNode,
  Metadata,
  NameNode,
  Path,
  Pattern,
  RuleNode as PolicyRule,
  StandingClause,
  TemplateNode,
  TemplatePart,
  ThenClause,
} from '../tree/tree.ts';
import { checkClauses } from './clauses.ts';
import { isWritten, type Reader, tokenSpan } from './context.ts';
import { reportBlanks, reportWildcard } from './keys.ts';
import { type Draft, named, type ParserRule, push } from './node-parser.ts';
import { ShapeParser } from './shape-rules.ts';
import { quotedName } from './text-literal.ts';
import { isAnyText, isAnyWord, keyword, literal, symbol, Text, type Token, Word } from './tokens.ts';

/** A text whose placeholders are read after all tokens of the file. */
export interface WaitingTemplate {
  readonly isTitle: boolean;
  readonly token: Token;
  readonly parts: TemplatePart[];
}

/** A clause whose span is not yet known. */
type ClauseParts = Clause extends infer One ? (One extends unknown ? Omit<One, 'span'> : never) : never;

interface DottedKey<Kind> {
  readonly kind: Kind;
  readonly expected: string;
  readonly segment: (occurrence: number) => unknown;
  /** Reports what is wrong with the text of the key. */
  readonly check: (text: string, span: Span, reader: Reader) => void;
}

/** A key: segments with dots between them, or a text in quotes. */
type KeyNode<Kind> = Omit<NameNode, 'kind'> & { readonly kind: Kind };

const patternPhrase = 'a pattern such as `payment.create`, `payment.*` or `*`';

export abstract class PolicyRuleParser extends ShapeParser {
  /** The templates of the file, in order. */
  protected templates: WaitingTemplate[] = [];
  /** Whether an error ended a clause of the rule that is being read. */
  private isClauseBroken = false;

  // patterns = pattern { ',' pattern }
  patterns: ParserRule<Pattern[]> = this.always(
    'patterns',
    (): Pattern[] => [],
    (patterns) => this.listed(patternPhrase, () => this.add(patterns, this.pattern)),
    (patterns) => patterns,
  );

  // pattern = Text | segment { '.' segment }
  pattern: ParserRule<Pattern | null> = this.dottedKey('pattern', {
    kind: 'pattern',
    expected: patternPhrase,
    segment: (occurrence) => this.subrule(occurrence, this.segment),
    check: reportWildcard,
  });

  // segment = '*' | Word
  segment: ParserRule<Token | null> = this.same('segment', () => this.OR(this.segments));

  private segments = { DEF: this.eachToken(symbol.star, Word), ERR_MSG: 'a name or `*`' };

  /** Defines a rule that reads a text in quotes, or segments with dots between them. */
  protected dottedKey<Kind extends string>(
    name: string,
    { kind, expected, segment, check }: DottedKey<Kind>,
  ): ParserRule<KeyNode<Kind> | null> {
    const text = { ALT: () => void this.CONSUME(Text) };
    const segments = { ALT: () => this.separated(symbol.dot, segment) };
    const forms = { DEF: [text, segments], ERR_MSG: expected };
    return this.always(
      name,
      () => ({}),
      () => this.OR(forms),
      (_, first) => {
        const span = this.spanFrom(first);
        if (span === null) return null;
        const tokens = this.takenFrom(first).filter(({ tokenType }) => tokenType !== symbol.dot);
        const quoted = isAnyText(tokens[0]) ? quotedName(tokens[0], this) : null;
        const text = quoted?.text ?? tokens.map(({ image }) => image).join('.');
        if (quoted === null) reportBlanks(text, span, this);
        check(text, span, this);
        return { kind, text, isQuoted: quoted !== null, span };
      },
    );
  }

  // policy = [ 'shadow' ] 'policy' Word 'on' patterns [ 'except' patterns ] [ 'when' expression ]
  //   '{' { ( metadata | rule ) } '}'
  policy: ParserRule<Declaration | null> = this.node<DeclarationOf<'policy'>>(
    'policy',
    () => ({
      ...named('policy'),
      isShadow: false,
      patterns: [],
      except: [],
      when: null,
      metadata: [],
      rules: [],
    }),
    (draft) => {
      draft.isShadow = this.OPTION(() => this.CONSUME(keyword.shadow)) !== undefined;
      this.CONSUME(keyword.policy);
      draft.name = this.nameOf('a policy', 'a name for the policy');
      this.CONSUME(keyword.on);
      this.part(draft, 'patterns', this.patterns);
      this.behind(1, keyword.except, () => this.part(draft, 'except', this.patterns, 1));
      this.optionalWhen(draft);
      this.CONSUME(symbol.openCurly);
      this.MANY({
        GATE: () => this.isRuleOrMetadata() && !this.isGivenUp(),
        DEF: () =>
          this.OR([
            { ALT: () => this.add(draft.metadata, this.metadata) },
            { ALT: () => this.add(draft.rules, this.rule) },
          ]),
      });
      this.CONSUME(symbol.closeCurly);
    },
    ({ name }) => name,
  );

  // metadata = ( 'owner' | 'tags' | 'link' ) Text { ',' Text }
  metadata: ParserRule<Metadata | null> = this.node<Metadata>(
    'metadata',
    () => ({ kind: null, values: [], span: null }),
    (draft) => {
      draft.kind = this.OR(this.metadataWords).image as Metadata['kind'];
      const expected = 'a text in quotes';
      this.listed(expected, () => push(draft.values, this.text(expected)));
    },
    ({ kind, values }) => kind && values[0],
  );

  private metadataWords = this.eachToken(keyword.owner, keyword.tags, keyword.link);

  // rule = [ 'shadow' ] ( 'allow' | 'deny' | 'escalate' | 'reauth' | 'risk' ) Word { clause }
  rule: ParserRule<PolicyRule | null> = this.node<PolicyRule>(
    'rule',
    () => ({ ...named('rule'), effect: null, isShadow: false, clauses: [] }),
    (draft) => {
      this.isClauseBroken = false;
      draft.isShadow = this.OPTION(() => this.CONSUME(keyword.shadow)) !== undefined;
      draft.effect = this.OR(this.effects).image as EffectWord;
      draft.name = this.nameOf('a rule', 'a name for the rule');
      // Without the gate, a `risk` rule that follows would be taken for a clause of this rule.
      this.MANY({
        GATE: () => this.LA(1).tokenType !== keyword.risk || isSign(this.LA(2)),
        DEF: () => this.add(draft.clauses, this.clause),
      });
    },
    ({ effect, name, clauses }, isBroken) => {
      if (!effect || !name) return false;
      if (!isBroken && !this.isClauseBroken) checkClauses(effect, name.span, clauses, this);
      return true;
    },
  );

  private effects = {
    DEF: this.eachToken(keyword.allow, keyword.deny, keyword.escalate, keyword.reauth, keyword.risk),
    ERR_MSG: '`allow`, `deny`, `escalate`, `reauth` or `risk`',
  };

  // clause = forClause | afterClause | toClause | exceptClause | needsClause | withinClause | thenClause
  //   | standingClause | whenClause | unlessClause | pointsClause | becauseClause
  clause: ParserRule<Clause | null> = this.same('clause', () => {
    try {
      return this.OR(this.clauses);
    } catch (error) {
      this.isClauseBroken = true;
      throw error;
    }
  });

  // forClause = 'for' Duration
  forClause = this.durationOf('for');

  // afterClause = 'after' ( 'approval' 'by' asked | 'reauth' )
  afterClause = this.clauseOf('afterClause', () => {
    this.CONSUME(keyword.after);
    return this.OR({
      DEF: [{ ALT: () => this.afterApproval() }, { ALT: () => this.afterReauth() }],
      ERR_MSG: '`approval by` or `reauth`',
    });
  });

  private afterApproval(): ClauseParts | null {
    this.CONSUME(keyword.approval);
    this.CONSUME(keyword.by);
    const asked = this.SUBRULE(this.asked);
    return asked && { kind: 'after-approval', asked };
  }

  // asked = approver { ( 'and' | 'or' ) approver }
  asked: ParserRule<ApproverListNode | null> = this.node<ApproverListNode>(
    'asked',
    () => ({ kind: 'asked', each: [], joints: [], span: null }),
    ({ each, joints }) => {
      this.add(each, this.approver);
      this.MANY(() => {
        joints.push(this.OR(this.joints).image as ApproverListNode['joints'][number]);
        this.add(each, this.approver, 1);
      });
    },
    ({ each }) => each.length > 0,
  );

  // approver = lookUp | path
  approver: ParserRule<ApproverNode | null> = this.same('approver', () => this.OR(this.approverForms));

  private approverForms = {
    DEF: this.eachRule<ApproverNode>(this.lookUp, this.path),
    ERR_MSG: 'the name of approvers',
  };
  private joints = this.eachToken(keyword.and, keyword.or);

  private afterReauth(): ClauseParts | null {
    return isWritten(this.CONSUME(keyword.reauth)) ? { kind: 'after-reauth' } : null;
  }

  // toClause = 'to' asked
  toClause = this.clauseOf('toClause', () => {
    this.CONSUME(keyword.to);
    const asked = this.SUBRULE(this.asked);
    return asked && { kind: 'to', asked };
  });

  // exceptClause = 'except' path { 'and' path }
  exceptClause = this.clauseOf('exceptClause', () => {
    this.CONSUME(keyword.except);
    const people: Path[] = [];
    this.separated(keyword.and, (occurrence) => this.add(people, this.path, occurrence));
    return people.length === 0 ? null : { kind: 'except', people };
  });

  // needsClause = 'needs' Number
  needsClause = this.clauseOf('needsClause', () => {
    this.CONSUME(keyword.needs);
    const people = this.written('number', 'a number of people');
    return people && { kind: 'needs', people };
  });

  // withinClause = 'within' Duration
  withinClause = this.durationOf('within');

  // thenClause = 'then' 'to' asked [ 'within' Duration ]
  thenClause = this.clauseOf('thenClause', () => {
    this.CONSUME(keyword.then);
    this.CONSUME(keyword.to);
    const asked = this.SUBRULE(this.asked);
    let duration: ThenClause['duration'] = null;
    this.behind(0, keyword.within, () => {
      duration = this.written('duration');
    });
    return asked && { kind: 'then', asked, duration };
  });

  // standingClause = 'standing' 'per' path { ',' path } 'for' Duration [ 'up' 'to' Number 'times' ]
  standingClause = this.clauseOf('standingClause', () => {
    const per: Path[] = [];
    this.CONSUME(keyword.standing);
    this.CONSUME(keyword.per);
    this.listed('`session`, `user` or a payload field', () => this.add(per, this.path));
    this.CONSUME(keyword.for);
    const duration = this.written('duration');
    let times: StandingClause['times'] = null;
    this.behind(0, keyword.up, () => {
      this.CONSUME(keyword.to);
      times = this.written('number', 'a number of times');
      this.CONSUME(keyword.times);
    });
    return per.length > 0 && duration ? { kind: 'standing', per, duration, times } : null;
  });

  // whenClause = 'when' expression
  whenClause = this.conditionOf('when');

  // unlessClause = 'unless' expression
  unlessClause = this.conditionOf('unless');

  // pointsClause = [ 'risk' ] ( '+' | '-' ) Number
  pointsClause = this.clauseOf('pointsClause', () => {
    this.OPTION(() => this.CONSUME(keyword.risk));
    const sign = this.OR(this.signs);
    const number = this.CONSUME(literal.number, { ERR_MSG: 'a number of risk points' });
    if (!isWritten(sign) || !isWritten(number)) return null;
    const span = spanning(tokenSpan(sign, this), tokenSpan(number, this));
    return { kind: 'points', points: { kind: 'number', text: `${sign.image}${number.image}`, span } };
  });

  private signs = { DEF: this.eachToken(symbol.plus, symbol.minus), ERR_MSG: '`+` or `-`' };

  // becauseClause = 'because' Text
  becauseClause = this.clauseOf('becauseClause', () => {
    this.CONSUME(keyword.because);
    const token = this.CONSUME(Text, { ERR_MSG: 'a reason in quotes' });
    return isWritten(token) ? { kind: 'because', reason: this.template(token) } : null;
  });

  /** A text whose placeholders are read later: as expressions, or in a title as names of fields. */
  protected template(token: Token, isTitle = false): TemplateNode {
    const parts: TemplatePart[] = [];
    this.templates.push({ token, parts, isTitle });
    return { kind: 'template', parts, span: tokenSpan(token, this) };
  }

  private clauses = {
    DEF: [
      ...this.eachRule(this.forClause, this.afterClause, this.toClause),
      ...this.eachRule(this.exceptClause, this.needsClause, this.withinClause, this.thenClause),
      ...this.eachRule(this.standingClause, this.whenClause, this.unlessClause, this.pointsClause),
      ...this.eachRule(this.becauseClause),
    ],
    ERR_MSG: 'a clause',
  };

  // guarantee = 'guarantee' Word 'on' patterns '{' { claim } '}'
  guarantee: ParserRule<Declaration | null> = this.node<DeclarationOf<'guarantee'>>(
    'guarantee',
    () => ({ ...named('guarantee'), patterns: [], claims: [] }),
    (draft) => {
      this.CONSUME(keyword.guarantee);
      draft.name = this.nameOf('a guarantee', 'a name for the guarantee');
      this.CONSUME(keyword.on);
      this.part(draft, 'patterns', this.patterns);
      this.CONSUME(symbol.openCurly);
      this.MANY(() => this.add(draft.claims, this.claim));
      this.CONSUME(symbol.closeCurly);
    },
    ({ name }) => name,
  );

  // claim = ( 'never' | 'always' )
  //   ( ( 'allow' | 'deny' | 'escalate' | 'reauth' ) [ 'unapproved' ] | 'ask' asked [ 'needs' Number ] | 'standing' )
  //   [ 'when' expression ]
  //   | 'allow' [ 'unapproved' ] 'only' 'when' expression
  claim: ParserRule<GuaranteeClauseNode | null> = this.node<GuaranteeClauseNode>(
    'claim',
    () => ({
      kind: 'claim',
      doc: null,
      span: null,
      mode: null,
      effect: null,
      asked: null,
      people: null,
      isUnapproved: false,
      when: null,
    }),
    (draft) => {
      this.OR([{ ALT: () => this.generalClaim(draft) }, { ALT: () => this.onlyClaim(draft) }]);
    },
    ({ mode, effect }) => mode && effect,
  );

  private generalClaim(draft: Draft<GuaranteeClauseNode>): void {
    draft.mode = this.OR1(this.modes).image as GuaranteeClauseNode['mode'];
    this.OR2({
      DEF: [
        { ALT: () => this.claimedOutcome(draft) },
        { ALT: () => this.claimedAsking(draft) },
        { ALT: () => this.claimedStanding(draft) },
      ],
      ERR_MSG: '`allow`, `deny`, `escalate`, `reauth`, `ask` or `standing`',
    });
    this.optionalWhen(draft);
  }

  private claimedOutcome(draft: Draft<GuaranteeClauseNode>): void {
    draft.effect = this.OR3(this.outcomes).image as GuaranteeClauseNode['effect'];
    draft.isUnapproved = this.OPTION1(() => this.CONSUME(keyword.unapproved)) !== undefined;
  }

  private claimedAsking(draft: Draft<GuaranteeClauseNode>): void {
    draft.effect = this.CONSUME(keyword.ask).image as GuaranteeClauseNode['effect'];
    this.part(draft, 'asked', this.asked);
    this.OPTION2(() => {
      this.CONSUME(keyword.needs);
      draft.people = this.written('number', 'a number of people');
    });
  }

  private claimedStanding(draft: Draft<GuaranteeClauseNode>): void {
    draft.effect = this.CONSUME(keyword.standing).image as GuaranteeClauseNode['effect'];
  }

  private onlyClaim(draft: Draft<GuaranteeClauseNode>): void {
    draft.effect = this.CONSUME1(keyword.allow).image as GuaranteeClauseNode['effect'];
    draft.isUnapproved = this.OPTION4(() => this.CONSUME1(keyword.unapproved)) !== undefined;
    draft.mode = this.CONSUME(keyword.only).image as GuaranteeClauseNode['mode'];
    this.CONSUME1(keyword.when);
    this.whole(draft, 'when', 1);
  }

  private outcomes = this.eachToken(keyword.allow, keyword.deny, keyword.escalate, keyword.reauth);
  private modes = this.eachToken(keyword.never, keyword.always);

  /**
   * Defines the rule of a clause; null if an error leaves nothing of the clause. A rule that holds a broken
   * clause is not checked against the table of clauses.
   */
  private clauseOf(name: string, read: () => ClauseParts | null): ParserRule<Clause | null> {
    return this.always<{ clause: ClauseParts | null }, Clause | null>(
      name,
      () => ({ clause: null }),
      (draft) => {
        draft.clause = read();
      },
      ({ clause }, first, isBroken) => {
        this.isClauseBroken ||= isBroken;
        return clause && { ...clause, span: this.spanFrom(first)! };
      },
    );
  }

  private durationOf(kind: 'for' | 'within'): ParserRule<Clause | null> {
    return this.clauseOf(`${kind}Clause`, () => {
      this.CONSUME(keyword[kind]);
      const duration = this.written('duration');
      return duration && { kind, duration };
    });
  }

  /** Defines the rule of a clause whose condition may be missing. */
  private conditionOf(kind: 'when' | 'unless'): ParserRule<Clause | null> {
    return this.node<Extract<Clause, { readonly condition: ExpressionNode }>>(
      `${kind}Clause`,
      () => ({ kind, condition: null, span: null }),
      (draft) => {
        this.CONSUME(keyword[kind]);
        this.whole(draft, 'condition');
      },
      ({ condition }, isBroken) => {
        this.isClauseBroken ||= isBroken;
        return condition;
      },
    );
  }

  /**
   * Whether a rule or metadata may begin. While tokens are skipped, the `risk` of a condition must not be
   * taken for the beginning of a rule.
   */
  private isRuleOrMetadata(): boolean {
    return this.LA(1).tokenType !== keyword.risk || isAnyWord(this.LA(2));
  }
}

function isSign(token: Token): boolean {
  return token.tokenType === symbol.plus || token.tokenType === symbol.minus;
}
