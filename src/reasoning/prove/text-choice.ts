// Chooses a text for a leaf that has no named text in the model: a text for which every condition on the
// leaf, or on a function of it, has the model's truth. If no such text is found, the plainest fitting text is
// taken, and deciding the request shows whether it will do.

import { descendants } from '../../language/model/children.ts';
import { unknown } from '../../language/model/value.ts';
import type { SpecTruth } from '../../language/spec/truth.ts';
import { type Decimal, toNumber } from '../../language/value/decimal.ts';
import { truthAtValue } from '../cells/cell-spans.ts';
import { type Cell, type CellValue, isValue, type Leaf, type LeafAtom } from '../cells/leaf.ts';
import { textLemma } from '../cells/text-lemmas.ts';
import { textVectors } from '../cells/text-vectors.ts';
import { arePairsRequired, jointPatternsMax } from '../cells/texts.ts';
import type { Pair } from '../solver/circuit.ts';
import { notLiteral, type SolverClause, type SolverLiteral } from '../solver/literal.ts';
import type { ProofContext } from './context.ts';
import { matching, plainTexts } from './sample.ts';

const joinedMax = 12;
const lengthMax = 100_000;
const hintsMax = 20;
const linksMax = 1_000;
const textLemmasMax = 1_000;

export function cellOf({ circuit }: ProofContext, leaf: Leaf): Cell {
  let [first, last] = [0, leaf.cells.length - 1];
  while (first < last) {
    const middle = (first + last + 1) >> 1;
    if (circuit.solver.holds(leaf.order[middle]!)) first = middle;
    else last = middle - 1;
  }
  return leaf.cells[first]!;
}

export function textTruth({ circuit: { solver } }: ProofContext, { isTrue, isFalse }: Pair): SpecTruth {
  if (solver.holds(isTrue)) return true;
  return solver.holds(isFalse) ? false : unknown;
}

export function chooseText(ctx: ProofContext, leaf: Leaf): string {
  const family = [...ctx.leaves.values()].filter((one) => rootOf(one) === leaf);
  const firsts: { fitting: string | null; named: string | null } = { fitting: null, named: null };
  for (const text of withLength(candidatesFor(ctx, leaf, family), lengthIn(ctx, leaf))) {
    if (!leaf.fits(text)) continue;
    firsts.named ??= text;
    if (leaf.indexes.has(text)) continue;
    firsts.fitting ??= text;
    if (isAsInModel(ctx, family, text)) return text;
  }
  return firsts.fitting ?? firsts.named ?? 'x';
}

/** The texts, and each shorter text filled up to the wanted length. */
function* withLength(texts: Iterable<string>, length: number): Generator<string> {
  for (const text of texts) {
    yield text;
    if (text.length < length) yield text.padEnd(length, 'x');
  }
}

/** The length that the text has in the model; 0 if no condition reads it. */
function lengthIn(ctx: ProofContext, { key }: Leaf): number {
  const length = ctx.leaves.get(`length(${key})`);
  const value = length === undefined ? null : cellOf(ctx, length).value;
  return isValue(value) ? Math.min(toNumber(value as Decimal), lengthMax) : 0;
}

/**
 * Makes the solver prefer models in which few tests of a text hold. Of many tests few can hold together, and
 * the formula does not know which.
 */
export function preferPlainTexts({ circuit, leaves }: ProofContext): void {
  const literals: SolverLiteral[] = [];
  for (const { rest, atoms } of leaves.values()) {
    if (rest === null || rest.patterns.length <= jointPatternsMax) continue;
    literals.push(...rest.literals.map(notLiteral));
    for (const { understood, pair } of atoms)
      if (understood.kind === 'pattern') literals.push(notLiteral(pair.isTrue), pair.isFalse);
  }
  circuit.prefer(literals);
}

/** The answer of `solve`, with a model whose texts are possible as far as pairs of tests tell. */
export function withPossibleTexts(ctx: ProofContext, solve: () => boolean | null): boolean | null {
  for (let round = 0; round < textLemmasMax; round += 1) {
    const answer = solve();
    const lemma = answer === true ? lemmaOfTexts(ctx) : null;
    if (lemma === null) return answer;
    ctx.circuit.require(lemma);
  }
  return solve();
}

/**
 * A clause that forbids the texts of the model; null when no two tests of one text are known to exclude each
 * other.
 */
function lemmaOfTexts(ctx: ProofContext): SolverClause | null {
  for (const leaf of ctx.leaves.values()) {
    const { rest } = leaf;
    // The formula already holds which pairs of tests are possible, so nothing has to be added.
    if (rest === null || arePairsRequired(rest) || !cellOf(ctx, leaf).isOther) continue;
    const lemma = textLemma(rest, (literal) => ctx.circuit.solver.holds(literal));
    if (lemma !== null) return lemma;
  }
  return null;
}

function rootOf(leaf: Leaf): Leaf {
  return leaf.base === null ? leaf : rootOf(leaf.base.leaf);
}

function isAsInModel(ctx: ProofContext, family: readonly Leaf[], text: string): boolean {
  return family.every((leaf) => {
    const value = derivedValue(leaf, text);
    return leaf.atoms.every((atom) => truthAtValue(leaf, atom, value) === textTruth(ctx, atom.pair));
  });
}

/**
 * The value of the leaf when the text at its root is `text`: the leaf may be a function of the text, or a
 * function of a function.
 */
function derivedValue({ base }: Leaf, text: string): CellValue {
  if (base === null) return text;
  const value = derivedValue(base.leaf, text);
  return isValue(value) ? base.of(value) : unknown;
}

function* candidatesFor(ctx: ProofContext, leaf: Leaf, family: readonly Leaf[]): Generator<string> {
  for (const one of family) yield* listedTexts(ctx, one);
  const texts = family.flatMap((one) => [
    ...vectorTexts(ctx, one),
    ...one.atoms.flatMap((atom) => hints(ctx, atom)),
  ]);
  const derived = family.filter((one) => one !== leaf).flatMap((one) => derivedTexts(ctx, one));
  yield* texts;
  yield* webTexts(ctx, leaf, family);
  yield* derived;
  if (leaf.patterns.length > 0) yield* matching(leaf.patterns);
  yield* plainTexts.map((text) => ofLength(leaf, text));
  const pieces = [...new Set([...texts, ...derived])].slice(0, joinedMax);
  for (const first of pieces) for (const second of pieces) yield `${first} ${second}`;
  yield 'x'.repeat(20);
}

/** The text cut or filled to the declared length. */
function ofLength({ lengths: { low, high } }: Leaf, text: string): string {
  const least = low === null ? 0 : Math.min(toNumber(low), lengthMax);
  return text.slice(0, high === null ? undefined : toNumber(high)).padEnd(least, 'x');
}

/** Texts for which the pattern tests have the answers of the model. */
function vectorTexts(ctx: ProofContext, leaf: Leaf): readonly string[] {
  if (leaf.rest === null || !cellOf(ctx, leaf).isOther) return [];
  const { patterns, literals } = leaf.rest;
  const answers = literals.map((literal) => ctx.circuit.solver.holds(literal));
  const vectors =
    patterns.length > jointPatternsMax ? null : textVectors([...patterns, ...leaf.patterns], leaf.indexes);
  if (vectors === null) return matching(patterns.filter((_, at) => answers[at]).slice(0, jointPatternsMax));
  const expectedAnswers = [...answers, ...leaf.patterns.map(() => true)].join();
  return vectors.find((vector) => vector.answers.join() === expectedAnswers)?.texts ?? [];
}

/** Texts for which a loose condition probably has the truth of the model. */
function hints(ctx: ProofContext, { understood, pair }: LeafAtom): readonly string[] {
  if (understood.kind !== 'loose') return [];
  if (textTruth(ctx, pair) !== true) return understood.hints.slice(0, hintsMax);
  const values = understood.values.filter((value) => typeof value === 'string').slice(0, hintsMax);
  const folded = values.flatMap((value) => [value.toUpperCase(), ` ${value} `, value.toLowerCase()]);
  return [...folded, ...understood.hints.slice(0, hintsMax)];
}

const programs = ['ls', 'make', 'git'] as const;

/** Texts whose links or commands probably are those of the model. */
function listedTexts(ctx: ProofContext, leaf: Leaf): readonly string[] {
  const links = placesIn(ctx, `links(${leaf.key})`);
  const commands = placesIn(ctx, `commands(${leaf.key})`);
  return [
    ...(links.length === 0
      ? []
      : [links.map((key) => textOf(ctx, key) ?? 'https://www.example.com/a').join(' ')]),
    ...(commands.length === 0 ? [] : programs.flatMap((program) => linesOf(ctx, commands, program))),
  ];
}

/** The keys of the elements that a list has in the model. */
function placesIn({ lists, circuit: { solver } }: ProofContext, key: string): readonly string[] {
  return (lists.get(key)?.present ?? []).flatMap((one, at) => (solver.holds(one) ? [`${key}[${at}]`] : []));
}

/** The text of a leaf; null if no condition reads the leaf or it has no text. */
function textOf(ctx: ProofContext, key: string): string | null {
  const leaf = ctx.leaves.get(key);
  if (leaf === undefined) return null;
  const { value, isOther } = cellOf(ctx, leaf);
  if (isOther && leaf.domain === 'text') return chooseText(ctx, leaf);
  return typeof value === 'string' ? value : null;
}

/** A line of the commands, some of which may be any program: with and without their other words. */
function linesOf(ctx: ProofContext, commands: readonly string[], program: string): readonly string[] {
  const wordsOf = (key: string, lists: readonly string[]): readonly string[] => {
    const named = (part: string): readonly string[] => {
      const text = textOf(ctx, `${key}.${part}`);
      return text === null || text === '' ? [] : [text];
    };
    const listed = lists.flatMap((list) =>
      placesIn(ctx, `${key}.${list}`).flatMap((place) => textOf(ctx, place) ?? []),
    );
    const [own = program] = named('program');
    // The words begin with the subcommand.
    const first = lists.includes('words') ? [] : named('subcommand');
    return [own, ...first, ...new Set(listed)];
  };
  const line = (lists: readonly string[]): string =>
    commands.map((key) => wordsOf(key, lists).map(quotedWord).join(' ')).join(' && ');
  const begun = prefixesIn(ctx).map((texts) =>
    commands
      .map((key) => [textOf(ctx, `${key}.program`) || program, ...texts].map(quotedWord).join(' '))
      .join(' && '),
  );
  return [...[['words', 'options', 'args', 'files'], ['options', 'args', 'files'], []].map(line), ...begun];
}

const prefixesMax = 8;

/** Texts with which conditions test how a list begins. */
function prefixesIn({ conditions }: ProofContext): readonly (readonly string[])[] {
  const found = conditions
    .flatMap(({ expression }) => descendants(expression))
    .flatMap((part) => (part.kind === 'list-prefix' ? [part.texts] : []));
  return [...new Map(found.map((texts) => [texts.join(' '), texts])).values()].slice(0, prefixesMax);
}

function quotedWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Texts for which a function probably yields the model's value. */
function derivedTexts(ctx: ProofContext, leaf: Leaf): readonly string[] {
  const { value, isOther } = cellOf(ctx, leaf);
  if (leaf.key.startsWith('length(links(')) {
    const linkCount = isValue(value) ? Math.min(toNumber(value as Decimal), linksMax) : 0;
    return linkCount > 0 ? linksOf(linkCount) : [];
  }
  if (leaf.key.startsWith('length(') && isValue(value)) {
    const maxLength = Math.min(toNumber(value as Decimal), lengthMax);
    return plainTexts.map((text) => text.slice(0, maxLength).padEnd(maxLength, 'x'));
  }
  const named = isOther ? vectorTexts(ctx, leaf) : typeof value === 'string' ? [value] : [];
  // A domain begins with a label.
  const texts = named.map((text) => text.replace(/^\./, 'any.'));
  return texts.flatMap((text) => [text, ` ${text}`, text.toUpperCase(), `ann@${text}`, `https://${text}/`]);
}

/** Texts with `count` links: one as short as possible, one as people write it. */
function linksOf(count: number): readonly string[] {
  const numbers = Array.from({ length: count }, (_, at) => at + 1);
  return [
    count === 1 ? 'www.x' : numbers.map((number) => `www.${number}`).join(' '),
    numbers.map((number) => `https://${number}.example/a`).join(' '),
  ];
}

function webTexts(ctx: ProofContext, leaf: Leaf, family: readonly Leaf[]): readonly string[] {
  const part = (name: string): string | null => {
    const of = family.find(({ key }) => key === `${name}(${leaf.key})`);
    const cell = of === undefined ? null : cellOf(ctx, of);
    if (cell === null || !isValue(cell.value)) return null;
    if (!cell.isOther)
      return typeof cell.value === 'string' ? cell.value : String(toNumber(cell.value as Decimal));
    const text = of?.rest === null ? undefined : vectorTexts(ctx, of!)[0];
    // A host begins with a label.
    return text?.replace(/^\./, 'any.') ?? null;
  };
  if (!family.some(({ key }) => /^(?:host|scheme|port)\(/.test(key))) return [];
  const [scheme, host, port] = [part('scheme') ?? 'https', part('host') ?? 'www.example.net', part('port')];
  const ports = port === null ? ['', ':8443'] : ['', `:${port}`];
  const tails = ['/', '/a', '/a?b', '/a?b#c', ...vectorTexts(ctx, leaf).map((text) => `/${text}`)];
  return ports.flatMap((at) => tails.map((tail) => `${scheme}://${host}${at}${tail}`));
}
