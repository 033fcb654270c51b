// The rules of policies and guarantees: patterns, metadata, rules with their clauses, claims. A clause that an error leaves
// without its substance is left out; a condition that could not be read is missing, so that the rule stays known.

import { spanning } from '../../diagnostic/span.ts';
import type {
  ClaimNode,
  Clause,
  Declaration,
  EffectWord,
  ExpressionNode,
  GuaranteeDeclaration,
  Metadata,
  Pattern,
  PolicyDeclaration,
  RuleNode as PolicyRule,
  TemplatePart,
} from '../tree/tree.ts';
import { checkClauses, type WrittenClause } from './clauses.ts';
import { isWritten, tokenSpan, writtenImage } from './context.ts';
import { quotedPattern, writtenPattern } from './keys.ts';
import { numberLiteral, writtenLiteral } from './literal-rules.ts';
import type { Draft, ParserRule } from './node-parser.ts';
import { ShapeParser } from './shape-rules.ts';
import { isAnyWord, literal, sign, Text, type Token, Word, word } from './tokens.ts';

/** A reason whose text is read when the tokens of the file have been. */
export interface WaitingReason {
  readonly token: Token;
  readonly parts: TemplatePart[];
}

/** A clause before its place is known. */
type ClauseParts = Clause extends infer One ? (One extends unknown ? Omit<One, 'span'> : never) : never;

interface RuleParts extends Draft<Omit<PolicyRule, 'clauses'>> {
  clauses?: WrittenClause[];
}

export abstract class PolicyRuleParser extends ShapeParser {
  /** The reasons of the file in order. */
  protected reasons: WaitingReason[] = [];
  /** Whether an error ended a clause of the rule that is read. */
  private isClauseBroken = false;

  // patterns = pattern { ',' pattern }
  patterns: ParserRule<Pattern[]> = this.always(
    'patterns',
    (draft: { patterns?: Pattern[] }) => {
      this.listed(draft, 'patterns', 'a pattern such as `payment.create`, `payment.*` or `*`', () =>
        this.SUBRULE(this.pattern),
      );
    },
    ({ patterns = [] }) => patterns,
  );

  // pattern = Text | segment { '.' segment }
  pattern: ParserRule<Pattern | null> = this.node(
    'pattern',
    (draft: { text?: Token; segments?: string[] }) => {
      const segment = (index: number) => this.subrule(index, this.segment);
      this.OR({
        DEF: [
          { ALT: () => this.part(draft, 'text', () => this.CONSUME(Text)) },
          { ALT: () => this.dotted(draft, 'segments', segment) },
        ],
        ERR_MSG: 'a pattern such as `payment.create`, `payment.*` or `*`',
      });
    },
    ({ text, segments = [] }, span) =>
      text === undefined ? writtenPattern(segments.join('.'), span, this) : quotedPattern(text, this),
  );

  // segment = '*' | Word
  segment: ParserRule<string | null> = this.node(
    'segment',
    (draft: { token?: Token }) => {
      draft.token = this.OR({ DEF: this.segments, ERR_MSG: 'a name or `*`' });
    },
    ({ token }) => writtenImage(token),
  );

  private segments = this.eachToken(sign.star, Word);

  // policy = [ 'shadow' ] 'policy' Word 'on' patterns [ 'except' patterns ] [ 'when' expression ]
  //   '{' { ( metadata | rule ) } '}'
  policy: ParserRule<Declaration | null> = this.node(
    'policy',
    (draft: Draft<PolicyDeclaration>) => {
      draft.isShadow = this.OPTION(() => this.CONSUME(word.shadow)) !== undefined;
      this.CONSUME(word.policy);
      draft.name = this.nameOf('a policy', 'a name for the policy');
      this.CONSUME(word.on);
      this.part(draft, 'patterns', () => this.SUBRULE(this.patterns));
      this.OPTION1(() => {
        this.CONSUME(word.except);
        this.part(draft, 'except', () => this.SUBRULE1(this.patterns));
      });
      this.OPTION2(() => {
        this.CONSUME(word.when);
        this.whole(draft, 'when');
      });
      this.CONSUME(sign.openCurly);
      this.MANY({
        GATE: () => this.isRuleOrMetadata() && !this.isGivenUp(),
        DEF: () =>
          this.OR([
            { ALT: () => this.each(draft, 'metadata', () => this.SUBRULE(this.metadata)) },
            { ALT: () => this.each(draft, 'rules', () => this.SUBRULE(this.rule)) },
          ]),
      });
      this.CONSUME(sign.closeCurly);
    },
    ({ name, isShadow, patterns, except, when, metadata, rules }, span) =>
      name && {
        kind: 'policy',
        span,
        doc: this.docBefore(span.start),
        name,
        isShadow: isShadow ?? false,
        patterns: patterns ?? [],
        except: except ?? [],
        when: when ?? null,
        metadata: metadata ?? [],
        rules: rules ?? [],
      },
  );

  // metadata = ( 'owner' | 'tags' | 'link' ) Text { ',' Text }
  metadata: ParserRule<Metadata | null> = this.node(
    'metadata',
    (draft: Draft<Metadata>) => {
      draft.kind = this.OR(this.metadataWords).image as Metadata['kind'];
      this.listed(draft, 'values', 'a text in quotes', () => this.text('a text in quotes'));
    },
    ({ kind, values }, span) => kind && values?.[0] && { kind, values, span },
  );

  private metadataWords = this.eachToken(word.owner, word.tags, word.link);

  // rule = [ 'shadow' ] ( 'allow' | 'deny' | 'escalate' | 'reauth' | 'risk' ) Word { clause }
  rule: ParserRule<PolicyRule | null> = this.node(
    'rule',
    (draft: RuleParts) => {
      this.isClauseBroken = false;
      draft.isShadow = this.OPTION(() => this.CONSUME(word.shadow)) !== undefined;
      const message = '`allow`, `deny`, `escalate`, `reauth` or `risk`';
      draft.effect = this.OR({ DEF: this.effects, ERR_MSG: message }).image as EffectWord;
      draft.name = this.nameOf('a rule', 'a name for the rule');
      // Without the gate the `risk` of a following rule would be taken for a clause of this one.
      this.MANY({
        GATE: () => this.LA(1).tokenType !== word.risk || isSign(this.LA(2)),
        DEF: () => this.each(draft, 'clauses', () => this.SUBRULE(this.clause)),
      });
    },
    ({ effect, name, isShadow, clauses: written = [] }, span, isBroken) => {
      if (!effect || !name) return null;
      if (!isBroken && !this.isClauseBroken) checkClauses(effect, name.span, written, this);
      const clauses = written.map(({ clause }) => clause);
      const doc = this.docBefore(span.start);
      return { kind: 'rule', doc, effect, name, isShadow: isShadow ?? false, clauses, span };
    },
  );

  private effects = this.eachToken(word.allow, word.deny, word.escalate, word.reauth, word.risk);

  // clause = forClause | afterClause | toClause | needsClause | withinClause | whenClause | unlessClause
  //   | pointsClause | becauseClause
  clause: ParserRule<WrittenClause | null> = this.node(
    'clause',
    (draft: { clause?: Clause | null }) => {
      this.part(draft, 'clause', () => this.OR(this.clauses));
    },
    ({ clause }, span, isBroken) => {
      this.isClauseBroken ||= isBroken;
      if (!clause) return null;
      const isBarePoints = clause.kind === 'points' && clause.points.span.start === span.start;
      return { clause, isBarePoints };
    },
  );

  // forClause = 'for' Duration
  forClause = this.clauseOf('forClause', () => {
    this.CONSUME(word.for);
    const duration = writtenLiteral('duration', this.CONSUME(literal.duration), this);
    return duration && { kind: 'for', duration };
  });

  // afterClause = 'after' ( 'approval' 'by' Word | 'reauth' )
  afterClause = this.clauseOf('afterClause', () => {
    this.CONSUME(word.after);
    return this.OR({
      DEF: [{ ALT: () => this.afterApproval() }, { ALT: () => this.afterReauth() }],
      ERR_MSG: '`approval by` or `reauth`',
    });
  });

  private afterApproval(): ClauseParts | null {
    this.CONSUME(word.approval);
    this.CONSUME(word.by);
    const group = this.used('the name of approvers');
    return group && { kind: 'after-approval', group };
  }

  private afterReauth(): ClauseParts | null {
    return isWritten(this.CONSUME(word.reauth)) ? { kind: 'after-reauth' } : null;
  }

  // toClause = 'to' Word
  toClause = this.clauseOf('toClause', () => {
    this.CONSUME(word.to);
    const group = this.used('the name of approvers');
    return group && { kind: 'to', group };
  });

  // needsClause = 'needs' Number
  needsClause = this.clauseOf('needsClause', () => {
    this.CONSUME(word.needs);
    const people = numberLiteral(this.CONSUME(literal.number, { ERR_MSG: 'a number of people' }), this);
    return people && { kind: 'needs', people };
  });

  // withinClause = 'within' Duration
  withinClause = this.clauseOf('withinClause', () => {
    this.CONSUME(word.within);
    const duration = writtenLiteral('duration', this.CONSUME(literal.duration), this);
    return duration && { kind: 'within', duration };
  });

  // whenClause = 'when' expression
  whenClause = this.conditionOf('whenClause', 'when');

  // unlessClause = 'unless' expression
  unlessClause = this.conditionOf('unlessClause', 'unless');

  // pointsClause = [ 'risk' ] ( '+' | '-' ) Number
  pointsClause = this.clauseOf('pointsClause', () => {
    this.OPTION(() => this.CONSUME(word.risk));
    const sign = this.OR({ DEF: this.signs, ERR_MSG: '`+` or `-`' });
    const number = this.CONSUME(literal.number, { ERR_MSG: 'a number of risk points' });
    if (!isWritten(sign) || !isWritten(number)) return null;
    const span = spanning(tokenSpan(sign, this), tokenSpan(number, this));
    return { kind: 'points', points: { kind: 'number', text: `${sign.image}${number.image}`, span } };
  });

  private signs = this.eachToken(sign.plus, sign.minus);

  // becauseClause = 'because' Text
  becauseClause = this.clauseOf('becauseClause', () => {
    this.CONSUME(word.because);
    const token = this.CONSUME(Text, { ERR_MSG: 'a reason in quotes' });
    const parts: TemplatePart[] = [];
    if (!isWritten(token)) return null;
    this.reasons.push({ token, parts });
    return { kind: 'because', reason: { kind: 'template', parts, span: tokenSpan(token, this) } };
  });

  private clauses = {
    DEF: [
      ...this.eachRule(this.forClause, this.afterClause, this.toClause, this.needsClause, this.withinClause),
      ...this.eachRule(this.whenClause, this.unlessClause, this.pointsClause, this.becauseClause),
    ],
    ERR_MSG: 'a clause',
  };

  // guarantee = 'guarantee' Word 'on' patterns '{' { claim } '}'
  guarantee: ParserRule<Declaration | null> = this.node(
    'guarantee',
    (draft: Draft<GuaranteeDeclaration>) => {
      this.CONSUME(word.guarantee);
      draft.name = this.nameOf('a guarantee', 'a name for the guarantee');
      this.CONSUME(word.on);
      this.part(draft, 'patterns', () => this.SUBRULE(this.patterns));
      this.CONSUME(sign.openCurly);
      this.MANY(() => this.each(draft, 'claims', () => this.SUBRULE(this.claim)));
      this.CONSUME(sign.closeCurly);
    },
    ({ name, patterns, claims }, span) => {
      if (!name) return null;
      const doc = this.docBefore(span.start);
      return { kind: 'guarantee', span, doc, name, patterns: patterns ?? [], claims: claims ?? [] };
    },
  );

  // claim = generalClaim | onlyClaim
  claim: ParserRule<ClaimNode | null> = this.same('claim', () => this.OR(this.claims));

  // generalClaim = ( 'never' | 'always' )
  //   ( ( 'allow' | 'deny' | 'escalate' | 'reauth' ) [ 'unapproved' ] | 'ask' Word [ 'needs' Number ] )
  //   [ 'when' expression ]
  generalClaim = this.claimOf('generalClaim', (draft) => {
    draft.mode = this.OR(this.modes).image as ClaimNode['mode'];
    this.OR1({
      DEF: [{ ALT: () => this.claimedOutcome(draft) }, { ALT: () => this.claimedAsking(draft) }],
      ERR_MSG: '`allow`, `deny`, `escalate`, `reauth` or `ask`',
    });
    this.OPTION2(() => {
      this.CONSUME(word.when);
      this.whole(draft, 'when');
    });
  });

  private claimedOutcome(draft: Draft<ClaimNode>): void {
    draft.effect = this.OR2(this.outcomes).image as ClaimNode['effect'];
    draft.isUnapproved = this.OPTION(() => this.CONSUME(word.unapproved)) !== undefined;
  }

  private claimedAsking(draft: Draft<ClaimNode>): void {
    draft.effect = this.CONSUME(word.ask).image as ClaimNode['effect'];
    this.part(draft, 'group', () => this.used('the name of approvers'));
    this.OPTION1(() => {
      this.CONSUME(word.needs);
      const people = this.CONSUME(literal.number, { ERR_MSG: 'a number of people' });
      this.part(draft, 'people', () => numberLiteral(people, this));
    });
  }

  // onlyClaim = 'allow' [ 'unapproved' ] 'only' 'when' expression
  onlyClaim = this.claimOf('onlyClaim', (draft) => {
    draft.effect = this.CONSUME(word.allow).image as ClaimNode['effect'];
    draft.isUnapproved = this.OPTION(() => this.CONSUME(word.unapproved)) !== undefined;
    draft.mode = this.CONSUME(word.only).image as ClaimNode['mode'];
    this.CONSUME(word.when);
    this.whole(draft, 'when');
  });

  private claims = this.eachRule(this.generalClaim, this.onlyClaim);
  private outcomes = this.eachToken(word.allow, word.deny, word.escalate, word.reauth);
  private modes = this.eachToken(word.never, word.always);

  private claimOf(name: string, read: (draft: Draft<ClaimNode>) => void): ParserRule<ClaimNode | null> {
    return this.node(name, read, ({ mode, effect, group, people, isUnapproved, when }, place) => {
      if (!mode || !effect) return null;
      const [doc, span] = [this.docBefore(place.start), when ? spanning(place, when.span) : place];
      const asked = { group: group ?? null, people: people ?? null };
      return {
        kind: 'claim',
        doc,
        span,
        mode,
        effect,
        ...asked,
        isUnapproved: isUnapproved ?? false,
        when: when ?? null,
      };
    });
  }

  /** A clause of which an error leaves nothing; a rule with a broken one is not held to the table of clauses. */
  private clauseOf(name: string, read: () => ClauseParts | null): ParserRule<Clause | null> {
    return this.node(
      name,
      (draft: { clause?: ClauseParts | null }) => {
        draft.clause = read();
      },
      ({ clause }, span, isBroken) => {
        this.isClauseBroken ||= isBroken;
        return clause && { ...clause, span };
      },
    );
  }

  /** A clause whose condition may be missing. */
  private conditionOf(name: string, kind: 'when' | 'unless'): ParserRule<Clause | null> {
    return this.node(
      name,
      (draft: { condition?: ExpressionNode }) => {
        this.CONSUME(word[kind]);
        this.whole(draft, 'condition');
      },
      ({ condition }, span, isBroken) => {
        this.isClauseBroken ||= isBroken;
        return condition && { kind, condition, span: spanning(span, condition.span) };
      },
    );
  }

  /** While tokens are skipped, the `risk` of a condition must not be taken for the beginning of a rule. */
  private isRuleOrMetadata(): boolean {
    return this.LA(1).tokenType !== word.risk || isAnyWord(this.LA(2));
  }
}

function isSign(token: Token): boolean {
  return token.tokenType === sign.plus || token.tokenType === sign.minus;
}
