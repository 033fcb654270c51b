// Decides what more can be said of a broken text. A rule at whose end the parser gave up gets a missing
// condition: only a part of its condition was read, and whatever is wrong with that part follows from the
// error. The same holds for the rest of a line, since the parser only guesses behind the first error there.
// Declarations of which nothing is left still declare their names.

import { type Diagnostic, hasErrors } from '../../diagnostic/diagnostic.ts';
import type { SourceText } from '../../diagnostic/span.ts';
import type { ParserError } from '../parse/parser.ts';
import { declaring, isAnyWord, keyword, symbol, type Token, tokenEnd } from '../parse/tokens.ts';
import type { Clause, Declaration, RuleNode } from '../tree/tree.ts';
import { removedTokenMessage } from './cursor.ts';

interface SalvagedFile {
  readonly declarations: readonly Declaration[];
  /** The diagnostics without those of rules that follow from the error, or from a guess at the effect. */
  readonly diagnostics: readonly Diagnostic[];
}

export function dropFollowOnErrors(
  declarations: readonly Declaration[],
  diagnostics: readonly Diagnostic[],
  { errors, readTokens }: { readonly errors: readonly ParserError[]; readonly readTokens: readonly Token[] },
): SalvagedFile {
  const guessed = new Set(
    diagnostics.filter(({ code }) => code === 'unknown-effect').map(({ span }) => span.start),
  );
  if (errors.length === 0 && guessed.size === 0) return { declarations, diagnostics };
  const ends = endsBefore(errors, readTokens);
  const names = new Set<number>();
  const settled = declarations.map((declaration): Declaration => {
    if (declaration.kind !== 'policy') return declaration;
    const rules = declaration.rules.map((rule) => {
      if (guessed.has(rule.span.start)) names.add(rule.name.span.start);
      if (!ends.has(rule.span.end)) return rule;
      names.add(rule.name.span.start);
      return withoutCondition(rule);
    });
    return { ...declaration, rules };
  });
  const follows = ({ code, span }: Diagnostic): boolean => code === 'clause-missing' && names.has(span.start);
  return { declarations: settled, diagnostics: diagnostics.filter((one) => !follows(one)) };
}

/** Offsets at which the tokens right before the tokens that do not fit end. */
function endsBefore(errors: readonly ParserError[], tokens: readonly Token[]): ReadonlySet<number> {
  const unfit = new Set(errors.map(({ found }) => found));
  const ends = new Set<number>();
  for (let index = 1; index <= tokens.length; index++) {
    if (unfit.has(tokens[index] ?? null)) ends.add(tokenEnd(tokens[index - 1]!));
  }
  return ends;
}

function withoutCondition(rule: RuleNode): RuleNode {
  const at = { ...rule.span, start: rule.span.end };
  const missing: Clause = { kind: 'when', condition: { kind: 'missing', span: at }, span: at };
  const others = rule.clauses.filter(({ kind }) => kind !== 'when' && kind !== 'unless');
  return { ...rule, clauses: [...others, missing] };
}

/**
 * Names that the declarations in a broken text declare or were meant to declare, keys of actions included.
 */
export function namesDeclared(tokens: readonly Token[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const [index, { tokenType }] of tokens.entries()) {
    if (!declaring.has(tokenType) || !isAnyWord(tokens[index + 1])) continue;
    let last = index + 1;
    while (tokens[last + 1]?.tokenType === symbol.dot && isAnyWord(tokens[last + 2])) last += 2;
    const parts = tokens.slice(index + 1, last + 1);
    names.add(parts.map(({ image }) => image).join(''));
  }
  // Which actions have results is not known either, so `result` counts as declared.
  if (tokens.some(({ tokenType }) => tokenType === keyword.result)) names.add('result');
  return names;
}

export interface BrokenLine {
  readonly start: number;
  readonly end: number;
}

/** The lines on which the parser gave up, in order. */
export function linesOf(gaveUp: readonly Diagnostic[], { text }: SourceText): readonly BrokenLine[] {
  const lines: BrokenLine[] = [];
  for (const at of gaveUp.map(({ span }) => span.start).sort((a, b) => a - b)) {
    const last = lines.at(-1);
    if (last !== undefined && at <= last.end) continue;
    const end = text.slice(at).search(/[\r\n]/);
    const start = Math.max(text.lastIndexOf('\n', at - 1), text.lastIndexOf('\r', at - 1)) + 1;
    lines.push({ start: Math.min(start, at), end: end < 0 ? text.length : at + end });
  }
  return lines;
}

export function isOnLine({ span }: Diagnostic, lines: readonly BrokenLine[]): boolean {
  return lines.some(({ start, end }) => span.start >= start && span.start <= end);
}

/**
 * The diagnostics without errors of the parser that stand behind another error on their line. Those only show
 * how the parser went on.
 */
export function firstOfLines(
  diagnostics: readonly Diagnostic[],
  gaveUp: readonly Diagnostic[],
  lines: readonly BrokenLine[],
): readonly Diagnostic[] {
  if (gaveUp.length === 0) return diagnostics;
  const follows = new Set(gaveUp);
  const isNeedless = (one: Diagnostic) => one.message === removedTokenMessage(';') && isOnLine(one, lines);
  for (const one of diagnostics) if (isNeedless(one)) follows.add(one);
  for (const line of lines) {
    const first = diagnostics
      .filter((one) => hasErrors([one]) && isOnLine(one, [line]))
      .reduce((a, b) => (b.span.start < a.span.start ? b : a));
    follows.delete(first);
  }
  return diagnostics.filter((one) => !follows.has(one));
}
