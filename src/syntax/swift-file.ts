// The text of a file → its tree, where no error is in it, and null for any other text: one step in place of
// tokens, mending, concrete tree and building, by the rules of grammar/parser.ts and with the nodes of build.ts. It knows
// no error: what is wrong, and whether anything is, the grammar says.

import type { Diagnostic } from '../diagnostic/diagnostic.ts';
import type { SourceText } from '../diagnostic/span.ts';
import { buildComment, documentationBefore } from './comments.ts';
import { quotedKey, writtenKey } from './keys.ts';
import { currencyKind, literalKind, signKind, weekdayKind, wordKind } from './swift-literal.ts';
import { SwiftRules } from './swift-rule.ts';
import { endKind, surprise } from './swift-scan.ts';
import type {
  Comment,
  Declaration,
  HoursSpan,
  ListSource,
  Literal,
  MeterDeclaration,
  Name,
  Path,
  PolicyFile,
  Weekday,
} from './tree.ts';

/** A tree, and warnings about how its text is written in the order in which they were met. */
export interface SoundFile {
  readonly file: PolicyFile;
  readonly warnings: readonly Diagnostic[];
}

/** The tree of a file without an error; null where there is one, or may be. */
export function readSound(source: SourceText): SoundFile | null {
  try {
    return new SwiftFile(source).read();
  } catch (thrown) {
    if (thrown === surprise) return null;
    throw thrown;
  }
}

const { assign, closeParen, closeSquare, comma, dot, minus, openParen, plus } = signKind;
const { clock, date, duration } = literalKind;

class SwiftFile extends SwiftRules {
  read(): SoundFile {
    const { source, text } = this;
    this.scan(0, text.length);
    const comments: Comment[] = [];
    for (let index = 0; index < this.comments.length; index += 2) {
      comments.push(buildComment(this.comments[index]!, this.comments[index + 1]!, source));
    }
    if (comments.length > 0) this.docBefore = documentationBefore(comments, source);
    const declarations: Declaration[] = [];
    while (this.next() !== endKind) declarations.push(this.declaration());
    const span = { file: source.path, start: 0, end: text.length };
    return { file: { kind: 'file', declarations, comments, span }, warnings: this.warnings };
  }

  private declaration(): Declaration {
    const first = this.at;
    const isShadow = this.takes(wordKind.shadow);
    if (this.takes(wordKind.policy)) return this.policy(first, isShadow);
    if (isShadow) throw surprise;
    switch (this.kinds[this.at++]) {
      case wordKind.action:
        return this.action(first);
      case wordKind.type: {
        const name = this.declaredName();
        this.take(assign);
        const type = this.type();
        return { kind: 'type', span: this.from(first), doc: this.docOf(first), name, type };
      }
      case wordKind.group: {
        const name = this.declaredName();
        return { kind: 'group', span: this.from(first), doc: this.docOf(first), name };
      }
      case wordKind.approvers: {
        const name = this.declaredName();
        const title = this.textLiteral('plain');
        return { kind: 'approvers', span: this.from(first), doc: this.docOf(first), name, title };
      }
      case wordKind.list:
        return this.list(first);
      case wordKind.hours:
        return this.hours(first);
      case wordKind.let: {
        const name = this.declaredName();
        this.take(assign);
        const value = this.expression();
        return { kind: 'let', span: this.from(first), doc: this.docOf(first), name, value };
      }
      case wordKind.meter:
        return this.meter(first);
      case wordKind.guarantee:
        return this.guarantee(first);
      default:
        throw surprise;
    }
  }

  // ---- actions and lists

  private action(first: number): Declaration {
    const keys: Name[] = [];
    do keys.push(this.key());
    while (this.takes(comma));
    const groups = this.takes(wordKind.in) ? this.names() : [];
    const body = this.recordBody();
    return { kind: 'action', span: this.from(first), doc: this.docOf(first), keys, groups, body };
  }

  private key(): Name {
    if (this.isText()) return quotedKey(this.token(this.at++), this.context());
    const first = this.takeWord();
    while (this.takes(dot)) this.takeWord();
    return writtenKey(this.joined(first), this.from(first), this.context());
  }

  private names(separator = comma): readonly Name[] {
    const names: Name[] = [];
    do names.push(this.name(this.takeWord()));
    while (this.takes(separator));
    return names;
  }

  private list(first: number): Declaration {
    const name = this.declaredName();
    const elementType = this.takes(signKind.colon) ? this.type() : null;
    const ignoringCase = this.takes(wordKind.ignoring);
    if (ignoringCase) this.take(wordKind.case);
    const source = this.takes(wordKind.from) ? this.listFile() : this.listEntries();
    const mayBeEmpty = this.takes(wordKind.may);
    if (mayBeEmpty) {
      this.take(wordKind.be);
      this.take(wordKind.empty);
    }
    const base = { span: this.from(first), doc: this.docOf(first) };
    return { kind: 'list', ...base, name, elementType, ignoringCase, source, mayBeEmpty };
  }

  private listFile(): ListSource {
    const path = this.textLiteral('plain');
    return { kind: 'list-file', path, span: path.span };
  }

  private listEntries(): ListSource {
    this.take(assign);
    const first = this.at;
    if (!this.takes(signKind.openSquare))
      return { kind: 'join', lists: this.names(plus), span: this.from(first) };
    const entries: Literal[] = [];
    while (this.next() !== closeSquare) {
      entries.push(this.constant());
      if (!this.takes(comma)) break;
    }
    this.take(closeSquare);
    return { kind: 'entries', entries, span: this.from(first) };
  }

  // ---- hours and meters

  private hours(first: number): Declaration {
    const name = this.declaredName();
    this.take(assign);
    const spans: HoursSpan[] = [];
    do spans.push(this.hoursSpan());
    while (this.takes(comma));
    this.take(wordKind.in);
    const zone = this.textLiteral('plain');
    const except = this.takes(wordKind.except) ? this.name(this.takeWord()) : null;
    return { kind: 'hours', span: this.from(first), doc: this.docOf(first), name, spans, zone, except };
  }

  private hoursSpan(): HoursSpan {
    const start = this.at;
    if (this.next() !== weekdayKind) {
      const first = this.written('date', date);
      const last = this.takes(signKind.range) ? this.written('date', date) : first;
      return { kind: 'date-span', first, last, span: this.from(start) };
    }
    const firstDay = this.image(this.at++) as Weekday;
    const lastDay = this.takes(minus) ? (this.image(this.take(weekdayKind)) as Weekday) : firstDay;
    const from = this.written('clock', clock);
    this.take(minus);
    const to = this.written('clock', clock);
    return { kind: 'weekly-span', firstDay, lastDay, from, to, span: this.from(start) };
  }

  private meter(first: number): Declaration {
    const name = this.declaredName();
    this.take(assign);
    const total = this.aggregate();
    this.take(wordKind.of);
    const patterns = this.patterns();
    const condition = this.condition();
    const per: Path[] = [];
    if (this.takes(wordKind.per)) {
      do per.push(this.path());
      while (this.takes(comma));
    }
    this.take(wordKind.over);
    const over = this.written('duration', duration);
    const base = { span: this.from(first), doc: this.docOf(first) };
    return { kind: 'meter', ...base, name, ...total, patterns, when: condition, per, over };
  }

  private aggregate(): Pick<MeterDeclaration, 'aggregate' | 'argument' | 'currency'> {
    const kind = this.kinds[this.at++];
    const isSum = kind === wordKind.sum;
    const isCount = kind === wordKind.count;
    if (!isSum && !isCount && kind !== wordKind.distinct) throw surprise;
    this.take(openParen);
    const argument = isCount ? null : this.expression();
    this.take(closeParen);
    const currency = isSum && this.takes(wordKind.in) ? this.name(this.take(currencyKind)) : null;
    return { aggregate: isSum ? 'sum' : isCount ? 'count' : 'distinct', argument, currency };
  }
}
