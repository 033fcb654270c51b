// Turns several tests of one text into every combination of results that some string gives, each with the
// shortest strings that give it. The programs of all tests are stepped together, over one code point of each
// class that no test distinguishes.

import { isWordCharacter, type PatternProgram, type ProgramPosition, programOf } from './programs.ts';

export interface TextVector {
  /** One answer for each test. */
  readonly answers: readonly boolean[];
  readonly texts: readonly string[];
}

const statesMax = 20_000;
const textsPerVector = 6;
/** How often a state is entered again to find more texts; the first time suffices for completeness. */
const visitsMax = 3;

/**
 * The combinations of answers that occur. Null if there are too many states, or if a pattern cannot be
 * stepped: then nothing is known.
 */
export function textVectors(
  patterns: readonly string[],
  avoid: ExcludedTexts = new Map(),
): readonly TextVector[] | null {
  const vectors = remembered(patterns, avoid.size > 0);
  return vectors?.map(({ answers, texts }) => ({ answers, texts: pickTexts(texts, avoid) })) ?? null;
}

/** Texts that must not stand for others. */
type ExcludedTexts = Pick<ReadonlyMap<string, unknown>, 'has' | 'size'>;

function pickTexts(texts: readonly string[], avoid: ExcludedTexts): readonly string[] {
  const picked: string[] = [];
  for (const text of texts) {
    if (!avoid.has(text)) picked.push(text);
    if (picked.length === textsPerVector) break;
  }
  return picked;
}

const vectorsByKey = new Map<string, readonly TextVector[] | null>();
const knownMax = 500;
const knownTextsMax = 200_000;
let knownTexts = 0;

/**
 * The vectors of the patterns, from a cache if they are known. `isAvoiding` asks for more texts, so that some
 * are left without the avoided ones.
 */
function remembered(patterns: readonly string[], isAvoiding: boolean): readonly TextVector[] | null {
  const key = JSON.stringify([patterns, isAvoiding]);
  const before = vectorsByKey.get(key);
  if (before !== undefined) return before;
  const programs = patterns.map(programOf);
  const vectors = programs.includes(null) ? null : walk(programs as readonly PatternProgram[], isAvoiding);
  if (vectorsByKey.size >= knownMax || knownTexts >= knownTextsMax) {
    vectorsByKey.clear();
    knownTexts = 0;
  }
  vectorsByKey.set(key, vectors);
  knownTexts += vectors?.reduce((sum, { texts }) => sum + texts.length, 0) ?? 0;
  return vectors;
}

interface State {
  readonly states: readonly number[];
  readonly text: string;
}

interface Walk {
  readonly automata: readonly Automaton[];
  readonly alphabet: readonly number[];
  readonly isAvoiding: boolean;
  readonly visits: Map<string, number>;
  readonly textsByAnswers: Map<string, { readonly answers: readonly boolean[]; readonly texts: string[] }>;
}

function walk(programs: readonly PatternProgram[], isAvoiding: boolean): readonly TextVector[] | null {
  const alphabet = alphabetOf(programs);
  const automata = programs.map((program) => automatonOf(program, alphabet));
  const one: Walk = { automata, alphabet, isAvoiding, visits: new Map(), textsByAnswers: new Map() };
  let layer: readonly State[] = [{ states: automata.map(() => 0), text: '' }];
  while (layer.length > 0) {
    for (const state of layer) note(one, state);
    const next: State[] = [];
    for (const state of layer) {
      next.push(...nextStates(one, state));
      if (one.visits.size > statesMax) return null;
    }
    layer = next;
  }
  return [...one.textsByAnswers.values()];
}

function note({ automata, isAvoiding, textsByAnswers: found }: Walk, { states, text }: State): void {
  const answers = automata.map((automaton, at) => automaton.accepts(states[at]!));
  const key = answers.join();
  const vector = found.get(key) ?? { answers, texts: [] };
  if (isAvoiding || vector.texts.length < textsPerVector) vector.texts.push(text);
  found.set(key, vector);
}

function nextStates({ automata, alphabet, isAvoiding, visits }: Walk, state: State): readonly State[] {
  const again = isAvoiding ? visitsMax : 0;
  const states: State[] = [];
  const places = automata.map(() => 0);
  for (const [letter, codePoint] of alphabet.entries()) {
    let key = '';
    for (let at = 0; at < automata.length; at += 1) {
      const place = automata[at]!.step(state.states[at]!, letter);
      places[at] = place;
      key += String.fromCharCode(place);
    }
    const visited = visits.get(key) ?? 0;
    if (visited > again) continue;
    visits.set(key, visited + 1);
    states.push({ states: [...places], text: state.text + String.fromCodePoint(codePoint) });
  }
  return states;
}

/**
 * A program whose positions are numbered as they are met, from 0 for the beginning. Each step is computed
 * once.
 */
interface Automaton {
  /** The next place; `letter` is the index of the code point in the alphabet. */
  readonly step: (state: number, letter: number) => number;
  readonly accepts: (state: number) => boolean;
}

interface AutomatonState {
  readonly position: ProgramPosition;
  readonly before: number | null;
  /**
   * The next place by letter; 0 for a step that has not been taken, since no step leads back to the
   * beginning.
   */
  readonly next: Uint16Array;
  accepts: boolean | null;
}

function automatonOf(program: PatternProgram, alphabet: readonly number[]): Automaton {
  const numbers = new Map<string, number>();
  const placeAt = (position: ProgramPosition, before: number | null): AutomatonState => ({
    position,
    before,
    next: new Uint16Array(alphabet.length),
    accepts: null,
  });
  const states = [placeAt(program.start, null)];
  const numberOf = (position: ProgramPosition, before: number): number => {
    const key = `${position.join()} ${kindOf(before)}`;
    const number = numbers.get(key) ?? states.length;
    if (number === states.length) states.push(placeAt(position, before));
    numbers.set(key, number);
    return number;
  };
  return {
    step: (at, letter) => {
      const { position, before, next } = states[at]!;
      if (next[letter] === 0) {
        const codePoint = alphabet[letter]!;
        next[letter] = numberOf(program.step(position, before, codePoint), codePoint);
      }
      return next[letter]!;
    },
    accepts: (at) => {
      const state = states[at]!;
      state.accepts ??= program.accepts(state.position, state.before);
      return state.accepts;
    },
  };
}

/** What tests for the boundaries of words and lines need to know of the code point before. */
function kindOf(codePoint: number): string {
  return codePoint === 10 ? 'newline' : isWordCharacter(codePoint) ? 'word' : 'other';
}

const beyond = 0x110000;
const ends = [0, 10, 11, 32, 33, 45, 46, 48, 58, 65, 91, 95, 96, 97, 123, 127];

/**
 * One code point for each way in which the tests together read a code point; a readable one if there is one.
 */
function alphabetOf(programs: readonly PatternProgram[]): readonly number[] {
  const readers = programs.flatMap((program) => program.readers);
  const edges = new Set([...ends, 0xd800, 0xe000, beyond, ...readers.flatMap((reader) => reader.edges)]);
  const sorted = [...edges].filter((edge) => edge <= beyond).toSorted((a, b) => a - b);
  const classes = new Map<string, number>();
  sorted.forEach((low, at) => {
    // No text holds half of a surrogate pair: JSON that holds one is refused at the door.
    if (low >= beyond || (low >= 0xd800 && low < 0xe000)) return;
    const high = (sorted[at + 1] ?? beyond) - 1;
    const key = `${kindOf(low)} ${readers.map(({ reads }) => (reads(low) ? '1' : '0')).join('')}`;
    for (const codePoint of [low, Math.min(high, low + 1), high]) {
      const cached = classes.get(key);
      if (cached === undefined || rank(codePoint) < rank(cached)) classes.set(key, codePoint);
    }
  });
  return [...classes.values()];
}

/** How readable a code point is; small letters are best, with 0. */
function rank(codePoint: number): number {
  if (codePoint >= 97 && codePoint <= 122) return 0;
  if (isWordCharacter(codePoint)) return 1;
  if (codePoint > 32 && codePoint < 127) return 2;
  return codePoint === 32 ? 3 : 4;
}
