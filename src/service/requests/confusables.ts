// Finds texts of a payload that may pass for others: words with letters of several scripts, and values that
// look like a value that was granted more often (equal skeletons of UTS 39). INVARIANT: the work is bounded
// by the payload and by `knownTextsMax`, however many payloads were granted.

import confusables from 'unhomoglyph/data.json' with { type: 'json' };
import type { Json, JsonObject } from '../../language/model/json.ts';
import { countScripts, foreignLetters, mixedWords } from '../../language/value/scripts.ts';
import { cut } from '../../language/value/text.ts';

export interface Confusable {
  /** The path in the payload, in the form of a payload profile: `items[].vendor`. */
  readonly path: string;
  /** The first characters of the text. */
  readonly value: string;
  /** The scripts of the text's words that mix several scripts; empty when no word does. */
  readonly scripts: readonly string[];
  /** The look-alike that was granted before, and how often; null when there is none. */
  readonly looksLike: { readonly value: string; readonly count: number } | null;
  /**
   * Characters that do not fit the script of most other letters, or that the known value does not contain.
   */
  readonly characters: readonly string[];
}

export const confusablesMax = 50;
export const charactersMax = 20;
/** Longer texts are not names, and are not compared. */
const comparedLengthMax = 200;
/** Longer texts are cut to this length. */
export const textLengthMax = 100;
/** The most different texts that a payload is compared with. */
const knownTextsMax = 10_000;

export function findConfusables(payload: JsonObject, granted: readonly JsonObject[]): readonly Confusable[] {
  const texts = textsOf([payload], Number.POSITIVE_INFINITY);
  const knownTexts = textsOf(granted, knownTextsMax, new Set(texts.keys()));
  const results: Confusable[] = [];
  for (const [path, values] of texts) {
    const twin = twinsIn(knownTexts.get(path) ?? new Map());
    for (const text of values.keys()) {
      if (results.length === confusablesMax) return results;
      const one = confusableOf(text, twin(text));
      if (one !== null) results.push({ path, ...one });
    }
  }
  return results;
}

type Twin = Confusable['looksLike'];

function confusableOf(text: string, looksLike: Twin): Omit<Confusable, 'path'> | null {
  const words = mixedWords(text);
  if (words.length === 0 && looksLike === null) return null;
  const differing = looksLike === null ? [] : [...text].filter((one) => !looksLike.value.includes(one));
  return {
    value: cut(text, textLengthMax),
    scripts: words.length === 0 ? [] : scriptsIn(words),
    looksLike: looksLike && { ...looksLike, value: cut(looksLike.value, textLengthMax) },
    characters: [...new Set([...foreignLetters(text), ...differing])].slice(0, charactersMax),
  };
}

/**
 * How often each text occurs at each path, for at most `textsMax` different texts; the elements of a list
 * share one path.
 */
function textsOf(
  payloads: readonly JsonObject[],
  textsMax: number,
  paths: ReadonlySet<string> | null = null,
): Map<string, Map<string, number>> {
  const texts = new Map<string, Map<string, number>>();
  let count = 0;
  const walk = (value: Json, path: string): void => {
    if (Array.isArray(value)) for (const element of value) walk(element, `${path}[]`);
    else if (typeof value === 'object' && value !== null) {
      for (const [name, inner] of Object.entries(value)) walk(inner, pathStep(path, name));
    } else if (typeof value === 'string' && (paths === null || paths.has(path))) {
      const counts = texts.get(path) ?? new Map<string, number>();
      const before = counts.get(value) ?? 0;
      if (before === 0) count += 1;
      if (before === 0 && count > textsMax) return;
      texts.set(path, counts.set(value, before + 1));
    }
  };
  for (const payload of payloads) walk(payload, '');
  return texts;
}

const plainName = /^[A-Za-z_]\w{0,99}$/;

/** Returns the path of a field inside `path`: `items[].vendor`, `"odd name"`. */
export function pathStep(path: string, name: string): string {
  const short = name.length <= textLengthMax ? name : `${name.slice(0, textLengthMax - 1)}…`;
  const step = plainName.test(name) ? name : JSON.stringify(short);
  return path === '' ? step : `${path}.${step}`;
}

/**
 * Finds the most frequent known text that looks like a given text and was granted more often than that text.
 */
function twinsIn(counts: ReadonlyMap<string, number>): (text: string) => Twin {
  let bySkeleton: Map<string, { value: string; count: number }[]> | null = null;
  return (text) => {
    if (text.length > comparedLengthMax || counts.size === 0) return null;
    bySkeleton ??= Map.groupBy(
      [...counts]
        .filter(([value]) => value.length <= comparedLengthMax)
        .map(([value, count]) => ({ value, count })),
      ({ value }) => skeleton(value),
    );
    const ownCount = counts.get(text) ?? 0;
    const twins = (bySkeleton.get(skeleton(text)) ?? []).filter(
      ({ value, count }) => value !== text && count > ownCount,
    );
    return twins.toSorted((a, b) => b.count - a.count)[0] ?? null;
  };
}

const ignorable = /\p{Default_Ignorable_Code_Point}/gu;
const prototypes = new Map(Object.entries<string>(confusables));

/**
 * Returns the skeleton of a text (UTS 39, section 4). Texts with equal skeletons may be taken for one
 * another.
 */
export function skeleton(text: string): string {
  const letters = [...text.normalize('NFD').replace(ignorable, '')];
  return letters
    .map((one) => prototypes.get(one) ?? one)
    .join('')
    .normalize('NFD');
}

/** The scripts of the words, the one with the most letters first. */
function scriptsIn(words: readonly string[]): readonly string[] {
  return [...countScripts(words.join(''))].toSorted(([, a], [, b]) => b - a).map(([script]) => script);
}
