// LAW: the worker of the dashboard's editor and the language server agree on the packs, unchanged and while
// somebody edits them: the details of each name, the kind of each name, the completions at a place, and the
// canonical text.

import { globSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { vocabularyOf } from '../../src/analysis/vocabulary.ts';
import { occurrencesIn } from '../../src/language/assist/names.ts';
import { createPolicyAssistant } from '../../src/language/assist/policy-assistant.ts';
import { createRandom } from '../../src/language/value/random.ts';
import { coloursOf, legendTypes } from '../../src/lsp/colours.ts';
import { completionsAt } from '../../src/lsp/completion.ts';
import { formatted } from '../../src/lsp/formatting.ts';
import { hoverAt } from '../../src/lsp/hover.ts';
import { createOpenSets, documentOf, type SetSnapshot } from '../../src/lsp/set/workspace.ts';
import { third, tries } from '../support/tries.ts';

const home = join(import.meta.dirname, '../..');
const packs = [
  ...new Set(
    globSync('{policies/*,examples/packs/*,examples/policies}/**/*.policy', { cwd: home }).map((path) =>
      dirname(path),
    ),
  ),
];

test('there are packs', () => expect(packs.length).toBeGreaterThan(8));

describe.each(third(packs))('%s', (pack) => {
  test('is described alike', async () => {
    const root = join(home, pack);
    const sets = createOpenSets();
    sets.setFolders([root], null);
    const uriOf = (file: string): string => pathToFileURL(join(root, file)).href;
    const [first = ''] = globSync('**/*.policy', { cwd: root });
    const active = (await sets.snapshotOf(uriOf(first)))!;
    const desk = createPolicyAssistant();
    const files = active.files.map(({ span }) => active.texts.get(span.file)!);
    desk.take({ words: vocabularyOf(active.set!, active.files), files });
    const random = createRandom(11);
    let told = 0;
    for (const { path, text } of files) {
      told += compare({ snapshot: active, desk, file: path });
      for (let edit = 0; edit < tries(1); edit += 1) {
        const from = random.below(text.length);
        sets.put(uriOf(path), text.slice(0, from) + text.slice(from + random.below(8)));
        const snapshot = (await sets.snapshotOf(uriOf(path)))!;
        // The worker knows only the active actions. The words of a set that was just checked are left out of
        // the comparison.
        compare({ snapshot: { ...snapshot, set: null, lastSet: active.set }, desk, file: path });
      }
      sets.put(uriOf(path), null);
      sets.forget();
    }
    expect(told).toBeGreaterThan(20);
  });
});

interface Compared {
  readonly snapshot: SetSnapshot;
  readonly desk: ReturnType<typeof createPolicyAssistant>;
  readonly file: string;
}

/** Compares the two; returns the number of names with details. */
function compare({ snapshot, desk, file }: Compared): number {
  const document = documentOf(snapshot, file);
  const text = document.getText();
  const source = { path: file, text };
  let told = 0;
  for (const { span, name } of occurrencesIn(snapshot.files, file)) {
    const place = { snapshot, file, document, offset: span.end };
    const said = hoverAt(place, null);
    const shown = desk.answer('hover', { ...source, at: span.end });
    const lines = shown?.description.map((one) =>
      one.kind === 'code' ? `\`\`\`writ\n${one.text}\n\`\`\`` : one.text,
    );
    expect(lines?.join('\n\n') ?? null, name).toBe(
      (said?.contents as { value: string } | null)?.value ?? null,
    );
    if (said !== null) told += 1;
    const offered = desk.answer('complete', { ...source, at: span.end, isAsked: true });
    expect(offered?.options.map(({ label }) => label) ?? [], name).toEqual(
      completionsAt(place, true).map(({ label }) => label),
    );
  }
  const colours = desk.answer('colours', source);
  expect(colours.map(({ start, end }) => [start, end])).toEqual(
    placesOf(coloursOf(snapshot, file).data, document),
  );
  const canonical = desk.answer('format', source);
  const edits = formatted(document);
  if (canonical === null) expect(edits).toEqual([]);
  else expect(canonical === text).toBe(edits.length === 0);
  return told;
}

/** The start and end of each token. The protocol gives each token's distance from the one before it. */
function placesOf(data: readonly number[], document: ReturnType<typeof documentOf>): readonly number[][] {
  const places: number[][] = [];
  let [line, character] = [0, 0];
  for (let at = 0; at < data.length; at += 5) {
    const [lines = 0, characters = 0, length = 0, type = -1] = data.slice(at, at + 5);
    character = lines === 0 ? character + characters : characters;
    line += lines;
    expect(legendTypes[type]).toBeDefined();
    const start = document.offsetAt({ line, character });
    places.push([start, start + length]);
  }
  return places;
}
