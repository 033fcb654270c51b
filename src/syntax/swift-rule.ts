// Tokens → policies and guarantees of the tree in one step, for text that the grammar accepts as it stands: the rules of
// grammar/policy-rules.ts, the nodes of build.ts and build-rule.ts.

import { checkClauses, type WrittenClause } from './clauses.ts';
import { quotedPattern, writtenPattern } from './keys.ts';
import { literalKind, signKind, wordKind } from './swift-literal.ts';
import { endKind, escapedText, type Kind, surprise } from './swift-scan.ts';
import { SwiftShapes } from './swift-shape.ts';
import { buildTemplate, templateParts } from './template.ts';
import type {
  Claim,
  Clause,
  Declaration,
  Effect,
  Expression,
  Metadata,
  NumberLiteral,
  Pattern,
  Rule,
  Template,
  TextLiteral,
} from './tree.ts';

const { closeCurly, comma, dot, minus, openCurly, plus } = signKind;
const { allow, deny, escalate, reauth, risk, shadow, when } = wordKind;
const { duration } = literalKind;

export abstract class SwiftRules extends SwiftShapes {
  /** The text from a token to the last one read, which stand without blanks. */
  protected joined(first: number): string {
    for (let index = first; index + 1 < this.at; index++) {
      if (this.ends[index] !== this.starts[index + 1]) throw surprise;
    }
    return this.text.slice(this.starts[first], this.ends[this.at - 1]);
  }

  protected patterns(): readonly Pattern[] {
    const patterns: Pattern[] = [];
    do patterns.push(this.pattern());
    while (this.takes(comma));
    return patterns;
  }

  private pattern(): Pattern {
    if (this.isText()) return quotedPattern(this.token(this.at++), this.context());
    const first = this.at;
    do this.takes(signKind.star) || this.takeWord();
    while (this.takes(dot));
    return writtenPattern(this.joined(first), this.from(first), this.context());
  }

  /** The `when` of a declaration or claim; null where none is written. */
  protected condition(): Expression | null {
    return this.takes(when) ? this.expression() : null;
  }

  protected policy(first: number, isShadow: boolean): Declaration {
    const name = this.declaredName();
    this.take(wordKind.on);
    const patterns = this.patterns();
    const except = this.takes(wordKind.except) ? this.patterns() : [];
    const condition = this.condition();
    this.take(openCurly);
    const metadata: Metadata[] = [];
    const rules: Rule[] = [];
    while (!this.takes(closeCurly)) {
      const line = this.metadata();
      if (line === null) rules.push(this.rule());
      else metadata.push(line);
    }
    const base = { span: this.from(first), doc: this.docOf(first) };
    return { kind: 'policy', ...base, name, isShadow, patterns, except, when: condition, metadata, rules };
  }

  private metadata(): Metadata | null {
    const first = this.at;
    const kind = this.next();
    if (kind !== wordKind.owner && kind !== wordKind.tags && kind !== wordKind.link) return null;
    const values: TextLiteral[] = [];
    this.at++;
    do values.push(this.textLiteral('plain'));
    while (this.takes(comma));
    return { kind: this.image(first) as Metadata['kind'], values, span: this.from(first) };
  }

  private rule(): Rule {
    const first = this.at;
    const isShadow = this.takes(shadow);
    const effect = this.effect();
    if (effect === null) throw surprise;
    const name = this.declaredName();
    const written: WrittenClause[] = [];
    for (let clause = this.clause(); clause !== null; clause = this.clause()) written.push(clause);
    checkClauses(effect, name.span, written, this.context());
    const clauses = written.map((one) => one.clause);
    const span = this.from(first);
    return { kind: 'rule', doc: this.docOf(first), effect, name, isShadow, clauses, span };
  }

  private effect(): Effect | null {
    const kind = this.next();
    const isEffect = kind === allow || kind === deny || kind === escalate || kind === reauth || kind === risk;
    return isEffect ? (this.image(this.at++) as Effect) : null;
  }

  private clause(): WrittenClause | null {
    const kind = this.next();
    const after = this.kinds[this.at + 1];
    const isPoints =
      kind === plus || kind === minus || (kind === risk && (after === plus || after === minus));
    if (isPoints) return { clause: this.points(), isBarePoints: kind !== risk };
    const clause = this.otherClause(this.at, kind);
    return clause === null ? null : { clause, isBarePoints: false };
  }

  private points(): Clause {
    const first = this.at;
    this.takes(risk);
    const sign = this.at++;
    const text = `${this.kinds[sign] === minus ? '-' : '+'}${this.image(this.number())}`;
    const points: NumberLiteral = { kind: 'number', text, span: this.from(sign) };
    return { kind: 'points', points, span: this.from(first) };
  }

  private otherClause(first: number, kind: Kind): Clause | null {
    this.at++;
    switch (kind) {
      case when:
        return { kind: 'when', condition: this.expression(), span: this.from(first) };
      case wordKind.unless:
        return { kind: 'unless', condition: this.expression(), span: this.from(first) };
      case wordKind.because:
        return { kind: 'because', reason: this.reason(), span: this.from(first) };
      case wordKind.for:
        return { kind: 'for', duration: this.written('duration', duration), span: this.from(first) };
      case wordKind.within:
        return { kind: 'within', duration: this.written('duration', duration), span: this.from(first) };
      case wordKind.to:
        return { kind: 'to', group: this.name(this.takeWord()), span: this.from(first) };
      case wordKind.needs: {
        const index = this.number();
        const people: NumberLiteral = {
          kind: 'number',
          text: this.image(index),
          span: this.span(index, index),
        };
        return { kind: 'needs', people, span: this.from(first) };
      }
      case wordKind.after:
        if (this.takes(reauth)) return { kind: 'after-reauth', span: this.from(first) };
        this.take(wordKind.approval);
        this.take(wordKind.by);
        return { kind: 'after-approval', group: this.name(this.takeWord()), span: this.from(first) };
      default:
        this.at--;
        return null;
    }
  }

  /** A reason; its expressions are scanned behind the tokens of the file and forgotten again. */
  private reason(): Template {
    const index = this.at;
    if (!this.isText()) throw surprise;
    this.at++;
    if (this.kinds[index] === escapedText) return buildTemplate(this.token(index), this.context());
    const [start, end] = [this.starts[index]! + 1, this.ends[index]! - 1];
    const resolved = { value: this.text.slice(start, end), offsetOf: (at: number) => start + at };
    const parts = templateParts(resolved, this.context(), (_, from, to) =>
      this.embedded(start + from, start + to),
    );
    return { kind: 'template', parts, span: this.span(index, index) };
  }

  private embedded(from: number, to: number): Expression {
    const [resume, mark, comments] = [this.at, this.count, this.comments.length];
    this.scan(from, to);
    this.at = mark;
    const value = this.expression();
    if (this.next() !== endKind || this.comments.length !== comments) throw surprise;
    this.at = resume;
    this.count = mark;
    return value;
  }

  protected guarantee(first: number): Declaration {
    const name = this.declaredName();
    this.take(wordKind.on);
    const patterns = this.patterns();
    this.take(openCurly);
    const claims: Claim[] = [];
    while (!this.takes(closeCurly)) claims.push(this.claim());
    return { kind: 'guarantee', span: this.from(first), doc: this.docOf(first), name, patterns, claims };
  }

  private claim(): Claim {
    const first = this.at;
    const isNever = this.takes(wordKind.never);
    if (!isNever) this.take(wordKind.always);
    const effect = this.effect();
    if (effect === null || effect === 'risk') throw surprise;
    const isUnapproved = this.takes(wordKind.unapproved);
    const condition = this.condition();
    const [doc, span] = [this.docOf(first), this.from(first)];
    return {
      kind: 'claim',
      doc,
      span,
      mode: isNever ? 'never' : 'always',
      effect,
      isUnapproved,
      when: condition,
    };
  }
}
