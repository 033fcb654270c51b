// Reads the `.cedar` files of a folder: each policy with its place, its id and its JSON. INVARIANT: every policy of every
// file is in the result, and the set is valid against the schema; anything else is an error.

import { SettingsError } from '../host-settings.ts';
import { type Cedar, type CedarPolicyJson, problemText } from './cedar-wasm.ts';

export interface CedarFile {
  /** The path below the folder. */
  readonly path: string;
  readonly text: string;
}

export interface CedarPolicy {
  /** Unique in the folder; by it, Cedar names the policy in its answers. */
  readonly id: string;
  /** The value of `@id`; null without one. */
  readonly name: string | null;
  readonly file: string;
  readonly line: number;
  readonly text: string;
  readonly json: CedarPolicyJson;
}

export function readCedarPolicies(
  cedar: Cedar,
  files: readonly CedarFile[],
  schema: string,
): readonly CedarPolicy[] {
  const read = files.flatMap((file) => policiesIn(cedar, file));
  const staticPolicies = Object.fromEntries(read.map(({ id, text }) => [id, text]));
  const answer = cedar.validate({ schema, policies: { staticPolicies } });
  if (answer.type === 'failure') throw new SettingsError(problemText(answer.errors));
  const [wrong] = answer.validationErrors;
  if (wrong !== undefined)
    throw new SettingsError(
      `${wrong.policyId}: ${problemText([wrong.error]).replaceAll(/for policy `[^`]*`, /g, '')}`,
    );
  return read;
}

function policiesIn(cedar: Cedar, file: CedarFile): readonly CedarPolicy[] {
  const parts = cedar.policySetTextToParts(file.text);
  if (parts.type === 'failure') {
    const start = parts.errors[0]?.sourceLocations?.[0]?.start;
    const line = start === undefined ? '' : `${lineAt(file.text, start)}: `;
    throw new SettingsError(`${file.path}:${line}${problemText(parts.errors)}`);
  }
  const [template] = parts.policy_templates;
  const places = placesOf(file, [...parts.policies, ...parts.policy_templates]);
  if (template !== undefined)
    throw new SettingsError(
      `${file.path}:${places.find(({ text }) => text === template)?.line}: this is a template, which decides nothing until it is linked: replace it by its policies`,
    );
  return places.map(({ text, line }) => {
    const answer = cedar.policyToJson(text);
    if (answer.type === 'failure')
      throw new SettingsError(`${file.path}:${line}: ${problemText(answer.errors)}`);
    const name = answer.json.annotations?.id ?? null;
    return { id: `${file.path}:${line}`, name, file: file.path, line, text, json: answer.json };
  });
}

interface PlacedText {
  readonly text: string;
  readonly line: number;
}

/**
 * The texts with their lines. Policies follow one another with blanks and comments between them, so at each place one of them
 * begins; the longest that fits is it.
 */
function placesOf({ path, text }: CedarFile, texts: readonly string[]): readonly PlacedText[] {
  const left = texts.toSorted((a, b) => b.length - a.length);
  const placed: PlacedText[] = [];
  let at = 0;
  while (left.length > 0) {
    at += /^(?:\s|\/\/[^\n]*)*/.exec(text.slice(at))?.[0].length ?? 0;
    const found = left.findIndex((one) => text.startsWith(one, at));
    const [next] = found < 0 ? [] : left.splice(found, 1);
    if (next === undefined) throw new SettingsError(`${path}: policies cannot be told apart`);
    placed.push({ text: next, line: lineOf(text, at) });
    at += next.length;
  }
  // Two policies on one line would share an id.
  const lines = placed.map(({ line }) => line);
  const twice = lines.find((line, index) => lines.indexOf(line) !== index);
  if (twice !== undefined) throw new SettingsError(`${path}:${twice}: write one policy a line at most`);
  return placed;
}

/** The line of an offset in UTF-8, as Cedar counts. */
function lineAt(text: string, bytes: number): number {
  return lineOf(
    new TextDecoder().decode(new TextEncoder().encode(text).slice(0, bytes)),
    Number.POSITIVE_INFINITY,
  );
}

function lineOf(text: string, end: number): number {
  return text.slice(0, Number.isFinite(end) ? end : undefined).split('\n').length;
}
