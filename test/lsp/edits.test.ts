// LAW: after any edit, the server reports of a set what a check of the same texts from scratch reports. Its
// first report, on an open file, is a part of that. EDITS sets the number of edits. Test files are edited,
// too: no text of a test file makes a feature fail.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { occurrencesOf } from '../../src/language/assist/names.ts';
import { inOneList } from '../../src/language/diagnostic/by-file.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { coloursOf } from '../../src/lsp/colours.ts';
import { formatted } from '../../src/lsp/formatting.ts';
import { hoverAt } from '../../src/lsp/hover.ts';
import { lensesOf } from '../../src/lsp/lenses.ts';
import { definitionsAt } from '../../src/lsp/navigation.ts';
import { namesInTests } from '../../src/lsp/set/test-names.ts';
import { createOpenSets, documentOf } from '../../src/lsp/set/workspace.ts';
import { foldings, outline } from '../../src/lsp/symbols.ts';
import { testCompletionsAt } from '../../src/lsp/test-completion.ts';
import { checkSources, createCompileCache, findErrorsIn } from '../../src/pipeline.ts';
import { readPolicies } from '../../src/service/policies/read-policies.ts';
import { tries } from '../support/tries.ts';

const edits = Number(process.env.EDITS ?? tries(40));
const folder = join(import.meta.dirname, '../../policies');
const names = ['payments/payments.policy', 'slack/slack.policy'];

/** The text with a piece removed, inserted or doubled, as by typing and pasting. */
function edited(text: string, random: RandomSource): string {
  const from = random.below(text.length);
  const to = Math.min(text.length, from + random.below(random.below(10) === 0 ? 200 : 6));
  const other = random.below(text.length);
  const pieces = ['', ' ', '{', '}', '"', ' and ', 'payload.', '#', '\n', '5', text.slice(other, other + 30)];
  return text.slice(0, from) + pieces[random.below(pieces.length)] + text.slice(to);
}

test(`holds for ${edits} random edits`, { timeout: 60_000 + edits * 100 }, async () => {
  const seed = Number(process.env.EDITS_SEED ?? 11);
  const random = createRandom(seed);
  const workspace = createOpenSets();
  workspace.setFolders([folder], null);
  const { sources } = await readPolicies(folder);
  const texts = new Map(sources.files.map(({ path, text }) => [path, text]));
  const cache = createCompileCache();
  const seen = { errors: 0, first: 0 };
  const original = new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
  for (let at = 0; at < edits; at += 1) {
    const name = names[random.below(names.length)]!;
    // Now and then a file returns to its original text, so that the texts stay readable.
    const text = random.below(6) === 0 ? original.get(name)! : edited(texts.get(name)!, random);
    texts.set(name, text);
    const uri = pathToFileURL(join(folder, name)).href;
    workspace.put(uri, text);
    const snapshot = (await workspace.snapshotOf(uri))!;
    const files = [...texts].map(([path, one]) => ({ path, text: one }));
    const fresh = checkSources({ files, readListFile: sources.readListFile });
    expect(inOneList(snapshot.byFile), `seed ${seed}, edit ${at}`).toEqual(fresh.diagnostics);
    const first = findErrorsIn(new Set([name]), { files, readListFile: sources.readListFile }, cache);
    const errors = fresh.diagnostics.filter(
      ({ severity, span }) => severity === 'error' && span.file === name,
    );
    expect(errors, `seed ${seed}, edit ${at}`).toEqual(expect.arrayContaining([...first.diagnostics]));
    seen.errors += errors.length;
    seen.first += first.diagnostics.length;
    occurrencesOf(snapshot.files);
    outline(snapshot, name);
    foldings(snapshot, name);
    coloursOf(snapshot, name);
    formatted(documentOf(snapshot, name));
  }
  // Errors in a let that nothing reads are reported later.
  expect(seen.first).toBeGreaterThan(seen.errors * 0.9);
  expect(seen.errors).toBeGreaterThan(0);
});

test(`no text of a test file fails a feature, for ${edits} random edits`, {
  timeout: 60_000 + edits * 100,
}, async () => {
  const random = createRandom(Number(process.env.EDITS_SEED ?? 12));
  const workspace = createOpenSets();
  workspace.setFolders([folder], null);
  const file = 'payments/payments.test.yaml';
  const original = readFileSync(join(folder, file), 'utf8');
  const uri = pathToFileURL(join(folder, file)).href;
  let text = original;
  for (let at = 0; at < edits; at += 1) {
    text = random.below(6) === 0 ? original : edited(text, random);
    workspace.put(uri, text);
    const snapshot = (await workspace.snapshotOf(uri))!;
    const document = documentOf(snapshot, file);
    const offset = random.below(text.length + 1);
    const place = { snapshot, file, document, offset };
    for (const { span } of namesInTests(snapshot.tests.get(file)!))
      expect(span.end).toBeLessThanOrEqual(text.length);
    for (const { textEdit } of testCompletionsAt(place)) expect(textEdit).toBeDefined();
    hoverAt(place, null);
    definitionsAt(place);
    lensesOf(snapshot, { file, hasService: true, areChangesShown: false });
  }
});
