// The law of titles, over random sets: a title shows the texts of a payload as rules see them, each with the
// spelling in which it was sent. The function gives the payload that rules see as a by-product of its decision;
// the definition converts the payload as a whole.

import type { JsonObject } from '../../src/language/model/json.ts';
import { type Facts, valueAt } from '../../src/language/model/request.ts';
import { type Title, type TitleField, titleText } from '../../src/language/model/title.ts';
import type { Shape } from '../../src/language/model/type.ts';
import { resolveRecord } from '../../src/language/spec/payload.ts';
import { createRandom } from '../../src/language/value/random.ts';
import type { CaseFiles } from './cases.ts';
import { compileSet, ruleIdsOf } from './differential.ts';
import { randomSet } from './policies.ts';
import { randomFacts } from './requests.ts';

interface Breach {
  readonly seed: number;
  readonly problem: string;
  readonly files: CaseFiles['files'];
  readonly facts: Facts;
}

interface Run {
  readonly titles: number;
  /** Titles that show the spelling of an agent beside the canonical one. */
  readonly withSpelling: number;
  readonly breaches: readonly Breach[];
}

/** Fills at least `count` titles of single fields, from `seed` on. */
export function titlesAgree(count: number, seed: number): Run {
  const breaches: Breach[] = [];
  let titles = 0;
  let withSpelling = 0;
  for (let at = seed; titles < count && breaches.length < 3; at += 1) {
    const random = createRandom(at);
    const generated = randomSet(random);
    const { set, engine } = compileSet(generated);
    if (set === null || engine === null) throw new Error(`the set of seed ${at} does not compile`);
    const ruleIds = ruleIdsOf(set);
    for (let i = 0; i < 200; i += 1) {
      const facts = randomFacts(random, generated, ruleIds);
      const shape = set.actions.get(facts.action)?.shape;
      const { payload: seen, decision } = engine.decideTraced(facts);
      if (shape === undefined || decision.by === 'invalid_payload') continue;
      const defined = resolveRecord(shape, facts.payload);
      for (const field of textFields(shape)) {
        titles += 1;
        const title: Title = ['Of ', field];
        const shown = titleText(title, facts.payload, seen);
        const problem = problemOf({ shown, field, sent: facts.payload, defined });
        if (problem !== null) breaches.push({ seed: at, problem, files: generated.files, facts });
        if (shown.includes('(given as "')) withSpelling += 1;
      }
    }
  }
  return { titles, withSpelling, breaches };
}

interface ShownField {
  readonly shown: string;
  readonly field: TitleField;
  readonly sent: JsonObject;
  readonly defined: JsonObject;
}

function problemOf({ shown, field, sent, defined }: ShownField): string | null {
  const byDefinition = titleText(['Of ', field], sent, defined);
  if (shown !== byDefinition) return `the function shows ${shown}, the definition ${byDefinition}`;
  const [given, canonical] = [valueAt(sent, field.steps), valueAt(defined, field.steps)];
  const isPlain = typeof canonical === 'string' && /^[!#-[\]-~]{1,60}$/.test(canonical);
  if (isPlain && !shown.startsWith(`Of ${canonical}`)) return `${shown} does not begin with ${canonical}`;
  return (given !== canonical) === shown.includes('(given as "') ? null : `${shown} is of ${String(given)}`;
}

/** The fields of a payload that are one text, those of inner records included. */
function textFields(shape: Shape, steps: readonly string[] = []): readonly TitleField[] {
  return shape.fields.flatMap(({ name, type }) => {
    const path = [...steps, name];
    if (type.kind === 'record') return textFields(type.shape, path);
    return type.kind === 'text' ? [{ steps: path, currency: null }] : [];
  });
}
