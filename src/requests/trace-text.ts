// The trace of a decision into the short text that a record keeps of it, and back: each reading once however many rules
// share it, and what an action's rules are, which is the same for all its requests, written once and used again.
// INVARIANT: what comes back equals what went in, whatever traces came before.

import type { Json } from '../model/json.ts';
import type { ReadValue, TracedRule, Truth } from '../model/trace.ts';

/** As it stands in a record. */
export interface KeptTrace {
  readonly rules: readonly KeptRule[];
  /** What was read, by the places that rules name. */
  readonly paths: readonly string[];
  /** A letter a rule: `f`, `u` or `t`; a capital where what the rule asks for is satisfied. */
  readonly truths: string;
  /** At the places of the paths: a list of one value, or why there is none. */
  readonly values: readonly (readonly [Json] | Missing)[];
}

type Missing = Extract<ReadValue, { readonly missing: string }>['missing'];

/** Its name, effect and points, the places of what it reads, and `shadow` where it only watches. */
type KeptRule = readonly [
  rule: TracedRule['rule'],
  effect: TracedRule['effect'],
  points: number,
  reads: readonly number[],
  shadow?: 'shadow',
];

/** What the traces of an action have in common. */
interface Form {
  readonly rules: readonly KeptRule[];
  readonly paths: readonly string[];
  /** Both as JSON, without the bracket that ends them. */
  readonly text: string;
}

/** Beyond so many all are forgotten, and made again. */
const formsMax = 1_000;
const letters = { false: 'f', unknown: 'u', true: 't' } as const satisfies Record<Truth, string>;

/** With a memory of its own of what traces have in common, by what they are of: an action's key. */
export function createTraceWriter(): (actionKey: string, trace: readonly TracedRule[]) => string {
  const forms = new Map<string, Form>();
  return (actionKey, trace) => {
    // The gate has refused the request; others of the action have their rules.
    if (trace.length === 0) return '[]';
    let form = forms.get(actionKey);
    let values = form === undefined ? null : readAs(form, trace);
    if (form === undefined || values === null) {
      form = formOf(trace);
      values = readAs(form, trace);
      // One path with two values in one trace fits no form.
      if (values === null) return JSON.stringify(trace);
      if (forms.size >= formsMax) forms.clear();
      forms.set(actionKey, form);
    }
    return `${form.text},"truths":"${truthsOf(trace)}","values":${JSON.stringify(values.map(keptValue))}}`;
  };
}

function formOf(trace: readonly TracedRule[]): Form {
  const places = new Map<string, number>();
  const placeOf = (path: string): number => {
    const place = places.get(path) ?? places.size;
    places.set(path, place);
    return place;
  };
  const rules = trace.map(({ rule, effect, points, isShadow, reads }): KeptRule => {
    const read = Object.keys(reads).map(placeOf);
    return isShadow ? [rule, effect, points, read, 'shadow'] : [rule, effect, points, read];
  });
  const paths = [...places.keys()];
  return { rules, paths, text: JSON.stringify({ rules, paths }).slice(0, -1) };
}

/** What was read, at the places of the paths; null where the trace is of another form. */
function readAs({ rules, paths }: Form, trace: readonly TracedRule[]): ReadValue[] | null {
  if (rules.length !== trace.length) return null;
  const values: ReadValue[] = [];
  for (let at = 0; at < rules.length; at += 1) {
    const [rule, effect, points, places, shadow] = rules[at]!;
    const traced = trace[at]!;
    const isSame =
      traced.rule === rule &&
      traced.effect === effect &&
      traced.points === points &&
      traced.isShadow === (shadow !== undefined);
    if (!isSame) return null;
    let next = 0;
    for (const path in traced.reads) {
      const place = places[next++];
      if (place === undefined || paths[place] !== path) return null;
      const value = traced.reads[path]!;
      // A rule that comes later names the places of rules before it, or the next.
      if (place === values.length) values.push(value);
      else if (values[place] !== value) return null;
    }
    if (next !== places.length) return null;
  }
  return values;
}

function truthsOf(trace: readonly TracedRule[]): string {
  let text = '';
  for (const { truth, isSatisfied } of trace) {
    text += isSatisfied ? letters[truth].toUpperCase() : letters[truth];
  }
  return text;
}

function keptValue(read: ReadValue): KeptTrace['values'][number] {
  return 'value' in read ? [read.value] : read.missing;
}

/** Takes a trace that fits no form, too, which is kept as it is. */
export function readTrace(kept: KeptTrace | readonly TracedRule[]): readonly TracedRule[] {
  if (!('truths' in kept)) return kept;
  const { rules, paths, truths, values } = kept;
  const read = values.map((value) => (typeof value === 'string' ? { missing: value } : { value: value[0] }));
  return rules.map(([rule, effect, points, places, shadow], at) => {
    const letter = truths[at] ?? '';
    return {
      ...{ rule, effect, truth: truthOf(letter), points, isShadow: shadow !== undefined },
      isSatisfied: letter !== letter.toLowerCase(),
      reads: Object.fromEntries(places.map((place) => [paths[place]!, read[place]!])),
    };
  });
}

function truthOf(letter: string): Truth {
  const truths: readonly Truth[] = ['false', 'unknown', 'true'];
  const found = truths.find((truth) => letters[truth] === letter.toLowerCase());
  if (found === undefined) throw new Error(`a trace holds \`${letter}\` where a truth has to stand`);
  return found;
}
