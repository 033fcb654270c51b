// One slip in a whole pack gives one diagnostic, at the slip, and no diagnostics for code that uses the
// broken part. Each slip is a pattern and a replacement for its first match in each pack.

import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { createRandom, type RandomSource } from '../../../src/language/value/random.ts';
import { findErrors, type PolicySources } from '../../../src/pipeline.ts';

const root = join(import.meta.dirname, '../../..');
const packs = [
  'policies/payments',
  'examples/packs/mail',
  'examples/packs/support',
  'examples/packs/browser',
];

type Slip = readonly [what: string, pattern: RegExp, write: string];

const slips: readonly Slip[] = [
  // Slips in words.
  ['effect misspelt', /^ {2}deny /m, '  denny '],
  ['effect in capitals', /^ {2}allow /m, '  ALLOW '],
  ['clause misspelt', /^ {4}when /m, '    wen '],
  ['reason misspelt', /^ {4}because /m, '    becuse '],
  ['unless misspelt', /^ {4}unless /m, '    unles '],
  ['policy misspelt', /^policy /m, 'polciy '],
  ['list in the plural', /^list /m, 'lists '],
  ['meter misspelt', /^meter /m, 'metre '],
  ['let of another language', /^let /m, 'var '],
  // Slips in operators.
  ['two ampersands', / and /, ' && '],
  ['one equals sign', / == /, ' = '],
  ['at most the wrong way round', / <= /, ' =< '],
  ['tilde', / matches '/, " ~ '"],
  ['not in as one word', / not in /, ' nin '],
  ['for all', /every (\w+) in /, 'for all $1 in '],
  ['colon before the parentheses', /every (\w+) in ([\w.()]+) \(/, 'every $1 in $2: ('],
  // Slips in rules.
  ['no name before to', /^ {2}escalate \w+ to /m, '  escalate to '],
  ['no name before after', /^ {2}allow \w+ after /m, '  allow after '],
  ['colon behind the name', /^ {2}escalate (\w+) to /m, '  escalate $1: to '],
  ['name in quotes', /^ {2}(deny|escalate) (\w+)/m, '  $1 "$2"'],
  ['the word rule first', /^ {2}(deny|escalate) (\w+)/m, '  rule $2 $1'],
  ['reason without quotes', /because "([^"{]*)"/, 'because $1'],
  ['reason without its first quote', /because "([^"{]*)"/, 'because $1"'],
  ['reason without its last quote', /because "([^"{]*)"/, 'because "$1'],
  ['reason with placeholders without quotes', /because "([^"]*\{[^"]*)"/, 'because $1'],
  [
    'reason that begins with a placeholder, without quotes',
    /because "([^"]*\{[^"]*)"/,
    'because {payload.x} $1',
  ],
  ['reason in curly quotes', /because "([^"]*)"/, 'because “$1”'],
  ['reason behind an equals sign', /because "/, 'because = "'],
  ['message for because', /because "/, 'message: "'],
  ['colon behind when', /^ {4}when /m, '    when: '],
  ['colon behind needs', / needs (\d)/, ' needs: $1'],
  ['colon behind risk', /^ {4}risk \+/m, '    risk: +'],
  ['group in quotes', / to (finance|support|security|owner)\b/, ' to "$1"'],
  // Slips in policies.
  ['for before the patterns', /^policy (\w+) on /m, 'policy $1 for '],
  ['patterns in brackets', /^policy (\w+) on ([\w.*]+) \{/m, 'policy $1 on [$2] {'],
  ['no brace of a policy', /^policy (.*)\{$/m, 'policy $1'],
  // Slips in shapes.
  ['no colon in a field', /^ {2}(\w+): +(string|path|url|money|number)/m, '  $1 $2'],
  ['three dots', /(\d)\.\.(\d)/, '$1...$2'],
  ['a dash in a range', /string (\d)\.\.(\d)/, 'string $1-$2'],
  ['an enumeration as a call', /: +("\w+") \| ("\w+")$/m, ': enum($1, $2)'],
  ['an enumeration as a list', /: +"(\w+)" \| "(\w+)"$/m, ': ["$1", "$2"]'],
  ['an enumeration with or', /: +"(\w+)" \| /, ': "$1" or '],
  ['an unknown type', /: +string/, ': strnig'],
  ['to in a range', /^ {2}(\w+): +string (\d)\.\.(\d)/m, '  $1: string $2 to $3'],
  ['no brace of an action', /^action ([\w.]+)(.*)\{$/m, 'action $1$2'],
  ['no brace at the end of an action', /^\}$/m, ''],
  ['a brace more', /^\}$/m, '}\n}'],
  // Slips in lists.
  ['a list in braces', /^list (\w+)([^"[\n]*)= \[([^\]]*)\]/m, 'list $1$2= {$3}'],
  ['a list behind a colon', /^list (\w+) += \[/m, 'list $1: ['],
  ['an entry without quotes', /^list (\w+)([^"[\n]*)= \["(\w+)"/m, 'list $1$2= [$3'],
  ['a comma missing', /^list (\w+)([^"[\n]*)= \[("[^"]*"), /m, 'list $1$2= [$3 '],
];

describe.each(packs)('%s', (pack) => {
  const sources = sourcesOf(pack);

  test('has no errors', () => {
    expect(findErrors(sources).diagnostics).toEqual([]);
  });

  test.each(slips)('%s', (_, pattern, write) => {
    const [file, ...others] = sources.files;
    const place = matchIn(file!.text, pattern);
    if (place === null) return;
    const { from, to, found } = place;
    const text = file!.text.slice(0, from) + found.replace(pattern, write) + file!.text.slice(to);
    const { diagnostics } = findErrors({ ...sources, files: [{ ...file!, text }, ...others] });
    expect(diagnostics.map(({ code, message, help }) => `${code}: ${message}, ${help}`)).toHaveLength(1);
    // The diagnostic does not end before the slip.
    expect(diagnostics[0]!.span.end).toBeGreaterThanOrEqual(from - 1);
  });
});

test.each(packs)('of two slips in %s each is told', (pack) => {
  const sources = sourcesOf(pack);
  const [file, ...others] = sources.files;
  const random = createRandom(pack.length);
  let tried = 0;
  for (let count = 0; count < 60; count += 1) {
    const two = [random.pick(slips), random.pick(slips)].flatMap((slip) => {
      const place = matchIn(file!.text, slip[1], random);
      return place === null ? [] : [{ slip, ...place }];
    });
    const [first, second] = two.toSorted((a, b) => a.from - b.from);
    // The two slips are far apart, so that neither is a part of the other.
    if (first === undefined || second === undefined || second.from - first.to < 60) continue;
    const text = [second, first].reduce(
      (text, { from, to, found, slip: [, pattern, write] }) =>
        text.slice(0, from) + found.replace(pattern, write) + text.slice(to),
      file!.text,
    );
    const { diagnostics } = findErrors({ ...sources, files: [{ ...file!, text }, ...others] });
    // The same slip twice in one declaration gives one diagnostic with two places.
    const places = diagnostics.reduce(
      (sum, { related = [] }) => sum + 1 + (related.length > 0 && first.slip === second.slip ? 1 : 0),
      0,
    );
    expect(places, `${first.slip[0]} and ${second.slip[0]}: ${JSON.stringify(diagnostics)}`).toBe(2);
    tried += 1;
  }
  expect(tried).toBeGreaterThan(15);
});

test('each slip is tried', () => {
  const texts = packs.map((pack) => sourcesOf(pack).files[0]!.text);
  const untried = slips.filter(([, pattern]) => texts.every((text) => matchIn(text, pattern) === null));
  expect(untried.map(([what]) => what)).toEqual([]);
});

function sourcesOf(pack: string): PolicySources {
  const folder = join(root, pack);
  const names = readdirSync(folder).filter((name) => name.endsWith('.policy'));
  const files = names.map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
  const readListFile: PolicySources['readListFile'] = (path) =>
    existsSync(join(folder, path))
      ? { text: readFileSync(join(folder, path), 'utf8') }
      : { code: 'list-file-missing', message: 'there is none' };
  return { files, readListFile };
}

/** The place of a match outside of comments and texts: the first match, or a random one. */
function matchIn(text: string, pattern: RegExp, random?: RandomSource) {
  const places = placesOf(text, pattern);
  return (random === undefined || places.length === 0 ? places[0] : random.pick(places)) ?? null;
}

function placesOf(text: string, pattern: RegExp) {
  const places: { readonly from: number; readonly to: number; readonly found: string }[] = [];
  for (const { 0: found, index: from } of text.matchAll(new RegExp(pattern, `${pattern.flags}g`))) {
    const line = text.slice(text.lastIndexOf('\n', from) + 1, from);
    const isInText = (line.split('"').length + line.split("'").length) % 2 === 1 || line.includes('#');
    if (!isInText && !found.startsWith('#')) places.push({ from, to: from + found.length, found });
  }
  return places;
}
