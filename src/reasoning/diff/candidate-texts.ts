// Texts to try in a request that is not decided as wanted yet: texts that the rules name, alone or joined to
// sentences, hosts and addresses. Also draws requests at random. No proof depends on them: the definition
// decides each request.

import { descendants } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { Json } from '../../language/model/json.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { type Facts, nothingSatisfied } from '../../language/model/request.ts';
import { canonicalText, type FieldKind } from '../../language/value/canonical-text.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { scriptExamples } from '../../language/value/scripts.ts';
import { randomRequest, requestSource } from '../guarantees/request.ts';
import { noElements, type ProofContext } from '../prove/context.ts';
import { writtenOut } from '../prove/rewrite.ts';
import { matching, plainTexts } from '../prove/sample.ts';
import { jointFacts } from './finding.ts';
import type { JointProblem } from './joint-problem.ts';
import { type BothSides, type JointSet, sides } from './joint-set.ts';

const entriesMax = 8;
const attemptsMax = 1_500;
/** The most pieces that are joined to sentences, and the bound on pieces in one sentence. */
const piecesMax = 10;
const togetherMax = 4;
/** The number of sentences that are put between a beginning and an end. */
const framedMax = 60;
const framesMax = 6;

/** The texts to try: texts that the rules name come first, and those that take longest to make come last. */
export function candidateTexts({ ctx, validity, rules }: JointProblem): readonly string[] {
  const conditions = rules.map(({ condition }) => writtenOut(ctx, condition, noElements));
  const named = [...new Set(conditions.flatMap((condition) => [...textsIn(ctx.set, condition)]))];
  const links = conditions.some(readsLinks) ? linksToTry : [];
  const hosts = named.flatMap((text) =>
    /^[\w-]*(\.[\w-]+)+$/.test(text) ? [text.replace(/^\./, 'any.')] : [],
  );
  const parts = named.filter((text) => text.length <= 4 && !/^\w*$/.test(text));
  const addresses = hosts.flatMap((host) => [`https://${host}/`, `http://${host}/a`]);
  const joined = addresses.flatMap((address) =>
    parts.flatMap((part) => [`${address}${part}`, `${address}a${part}a`]),
  );
  const sentences = sentencesOf([...links, ...named].slice(0, piecesMax));
  const frames = framesOf(conditions);
  const framed = frames.flatMap(([start, end]) =>
    sentences.slice(0, framedMax).map((text) => `${start} ${text} ${end}`),
  );
  const filled = frames.map(([start, end]) => `${start}any${end}`);
  const forms = changedForms(validity);
  const all = [
    ...named,
    ...forms.flatMap((form) => otherSpellings(form, [...named, ...filled])),
    ...(forms.length === 0 ? [] : [ofNoForm, ...frames.map(([start, end]) => `${start}\\${end}`)]),
    ...links,
    ...plainTexts,
    ...lengthsOf(ctx),
    ...addresses,
    ...joined,
    ...framed,
    ...sentences,
  ];
  return [...new Set(all)];
}

/** Text kinds with a canonical form, from fields that have another text kind on the other side. */
function changedForms({ fields }: JointProblem['validity']): readonly FieldKind[] {
  const forms = fields.flatMap(({ field }) => {
    const [was, is] = [field.before?.type, field.after?.type];
    return was?.kind === 'text' && is?.kind === 'text' && was.of !== is.of ? [was.of, is.of] : [];
  });
  return [...new Set(forms)].filter((form) => form !== 'string' && form !== 'network');
}

const ofNoForm = '../x';

/** Spellings that people may use for texts that the rules name in canonical form. */
function otherSpellings(form: FieldKind, canonical: readonly string[]): readonly string[] {
  return canonical.flatMap((text) => {
    const spelled = [
      text.toUpperCase(),
      text.replace(/@.*/, (domain) => domain.toUpperCase()),
      text.replace(/\/\/[^/]*/, (host) => host.toUpperCase()),
      text.replace(/\/(?=[^/]*$)/, '/./'),
      text.replace('/', '/./'),
      text,
    ];
    return spelled.filter((one) => canonicalText(form, one) === text);
  });
}

const longMax = 10_000;

/** Texts of the shortest and longest lengths that the sides admit. */
function lengthsOf({ leaves }: ProofContext): readonly string[] {
  const ends = [...leaves.values()].flatMap(({ domain, lengths: { low, high } }) =>
    domain === 'text' ? [low, high] : [],
  );
  const lengths = ends.flatMap((end) => (end === null ? [] : [toNumber(end)]));
  return [...new Set(lengths)].flatMap((length) => (length <= longMax ? ['x'.repeat(length)] : []));
}

/** The plainest address comes first; texts with several addresses are for conditions that count links. */
const linksToTry: readonly string[] = [
  'www.x',
  'https://one.example/a https://two.example/b',
  'https://one.example/a https://two.example/b https://three.example/c https://four.example/d',
];

function readsLinks(condition: Expression): boolean {
  return descendants(condition).some((part) => part.kind === 'call' && part.builtin === 'links');
}

/**
 * Beginnings and ends between which a condition leaves room, from globs, patterns, `starts with` and `ends
 * with`.
 */
function framesOf(conditions: readonly Expression[]): readonly (readonly [string, string])[] {
  const parts = conditions.flatMap(descendants);
  const frames = parts.flatMap((part): readonly (readonly [string, string])[] => {
    if (part.kind === 'like') return frameOf(part.pattern, '*');
    if (part.kind === 'matches') return frameOf(part.pattern.replace(/^\(\?[a-z]+\)/, ''), '.*');
    if (part.kind !== 'text-test' || part.right.kind !== 'literal') return [];
    const text = String(part.right.value);
    if (part.operator === 'starts with') return [[text, '']];
    return part.operator === 'ends with' ? [['', text]] : [];
  });
  return frames.slice(0, framesMax);
}

function frameOf(pattern: string, gap: string): readonly (readonly [string, string])[] {
  const [start, ...ends] = pattern.split(gap);
  return start === undefined || ends.length === 0 ? [] : [[start, ends.join('')]];
}

/**
 * Joins each choice of a few pieces by blanks, in the order of the pieces; the shortest choices come first.
 */
function sentencesOf(pieces: readonly string[]): readonly string[] {
  let longest: readonly (readonly number[])[] = pieces.map((_, at) => [at]);
  const chosen: (readonly number[])[] = [];
  while (longest[0] !== undefined && longest[0].length < togetherMax) {
    longest = longest.flatMap((chosen) =>
      pieces.flatMap((_, at) => (at > chosen.at(-1)! ? [[...chosen, at]] : [])),
    );
    chosen.push(...longest);
  }
  return chosen.map((chosen) => chosen.map((at) => pieces[at]).join(' '));
}

function* textsIn({ lists }: PolicySet, condition: Expression): Generator<string> {
  const entriesOf = (name: string): readonly string[] =>
    (lists.get(name)?.entries ?? []).slice(0, entriesMax).filter((entry) => typeof entry === 'string');
  for (const part of descendants(condition)) {
    if (part.kind === 'literal' && typeof part.value === 'string') yield part.value;
    if (part.kind === 'in-list') yield* entriesOf(part.list);
    if (part.kind === 'mentions')
      yield* part.words.kind === 'list' ? entriesOf(part.words.list) : part.words.words.slice(0, entriesMax);
    if (part.kind === 'single-script') yield* scriptExamples;
    if (part.kind === 'list-prefix') yield* prefixTexts(part.texts.slice(0, entriesMax));
    if (part.kind === 'like') yield part.pattern.replaceAll('*', 'x');
    if (part.kind === 'matches') yield* matching([part.pattern]).slice(0, 1);
  }
}

/** The first texts of a list in their order, and each of them, the last first. */
function prefixTexts(texts: readonly string[]): readonly string[] {
  return [texts.join(' '), ...texts.toReversed()];
}

/**
 * The first request that differs in one text of the payload and that `isOne` accepts; null when there is
 * none.
 */
export function withAnotherText(
  facts: Facts,
  texts: readonly string[],
  isOne: (facts: Facts) => boolean,
): Facts | null {
  let attempts = 0;
  const paths = [...textPaths(facts.payload)];
  for (const text of texts) {
    for (const path of paths) {
      attempts += 1;
      if (attempts > attemptsMax) return null;
      const next = { ...facts, payload: replacedAt(facts.payload, path, text) as Facts['payload'] };
      if (isOne(next)) return next;
    }
  }
  return null;
}

type Path = readonly (string | number)[];

function* textPaths(json: Json, path: Path = []): Generator<Path> {
  if (typeof json === 'string') yield path;
  else if (Array.isArray(json))
    for (const [at, one] of json.entries()) yield* textPaths(one as Json, [...path, at]);
  else if (typeof json === 'object' && json !== null)
    for (const [key, one] of Object.entries(json)) yield* textPaths(one as Json, [...path, key]);
}

function replacedAt(json: Json, [first, ...rest]: Path, text: string): Json {
  if (first === undefined) return text;
  if (Array.isArray(json))
    return json.map((one: Json, at: number) => (at === first ? replacedAt(one, rest, text) : one));
  const record = json as Readonly<Record<string, Json>>;
  return { ...record, [first]: replacedAt(record[first]!, rest, text) };
}

const drawn = { seed: 5, max: 300 };

/**
 * The first random request that `isOne` accepts, in the names of the joint set; null when no drawn request
 * does.
 */
export function drawnRequest(
  joint: JointSet,
  key: string,
  isOne: (isAccepted: BothSides<Facts>) => boolean,
): Facts | null {
  for (const side of sides) {
    const set = joint.original[side];
    const action = set.actions.get(key);
    if (action === undefined) continue;
    const source = requestSource(set, drawn.seed);
    for (let round = 0; round < drawn.max; round += 1) {
      const facts = { ...randomRequest(source, action), satisfied: nothingSatisfied };
      const drawn = { before: facts, after: facts };
      if (isOne(drawn)) return jointFacts(joint, facts, drawn);
    }
  }
  return null;
}
