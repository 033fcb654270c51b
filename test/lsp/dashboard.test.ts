// LAW: the editor of the dashboard and the language server agree on the same text: its diagnostics, their
// fixes, and the completions at a place.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { tryRequest } from '../../src/analysis/try-request.ts';
import { vocabularyOf } from '../../src/analysis/vocabulary.ts';
import { createWorkspace } from '../../src/analysis/workspace.ts';
import { completePolicy } from '../../src/language/assist/complete-policy.ts';
import { inOneList } from '../../src/language/diagnostic/by-file.ts';
import { diagnosticToJson } from '../../src/language/diagnostic/render.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { completionsAt } from '../../src/lsp/completion.ts';
import { createOpenSets, documentOf } from '../../src/lsp/set/workspace.ts';
import { textsOf } from '../analysis/playground/texts.ts';

const folder = join(import.meta.dirname, '../../policies/slack');
const file = 'slack.policy';
const original = readFileSync(join(folder, file), 'utf8');
const edits = 60;

const desk = createWorkspace();
desk.take(textsOf({ [file]: original }));
const active = desk.compileWith([]);
const words = vocabularyOf(active.policies!.set, active.trees);
const sets = createOpenSets();
sets.setFolders([folder], null);
const uri = pathToFileURL(join(folder, file)).href;

async function snapshotOf(text: string) {
  sets.put(uri, text);
  return (await sets.snapshotOf(uri))!;
}

/** A text with a piece removed or inserted, and the place of the change. */
function edited(random: RandomSource): { readonly text: string; readonly at: number } {
  const from = random.below(original.length);
  const pieces = ['', 'payload.', 'when ', ' and ', 'x', '"', '\n'];
  const piece = pieces[random.below(pieces.length)] ?? '';
  const to = Math.min(original.length, from + random.below(12));
  return { text: original.slice(0, from) + piece + original.slice(to), at: from + piece.length };
}

test(`what is wrong, and how it is fixed: ${edits} random edits`, async () => {
  const random = createRandom(7);
  let told = 0;
  for (let at = 0; at < edits; at += 1) {
    const { text } = edited(random);
    const laid = desk.compileWith([{ path: file, text }]);
    const shown = tryRequest(laid, null).diagnostics;
    const { byFile, texts } = await snapshotOf(text);
    const diagnostics = inOneList(byFile);
    const said = diagnostics.map((one) => diagnosticToJson(one, (path) => texts.get(path)?.text ?? null));
    told += said.length;
    const brief = (all: readonly { code: string; message: string; help: string | null }[]) =>
      all.map(({ code, message, help }) => [code, message, help]);
    expect(brief(shown), `edit ${at}`).toEqual(brief(said).slice(0, 100));
    expect(shown.map(({ fix }) => fix?.title ?? null)).toEqual(said.map(({ fix }) => fix?.title ?? null));
    expect(shown.map(({ line, column }) => [line, column])).toEqual(
      said.map(({ start }) => [start?.line, start?.column]),
    );
  }
  expect(told).toBeGreaterThan(edits);
});

test(`what may stand at a place: ${edits} random edits`, async () => {
  const random = createRandom(8);
  let offered = 0;
  for (let at = 0; at < edits; at += 1) {
    const { text, at: offset } = edited(random);
    const snapshot = await snapshotOf(text);
    const isAsked = random.below(2) === 0;
    const place = {
      snapshot: { ...snapshot, lastSet: active.policies!.set, files: active.trees },
      file,
      offset,
    };
    const document = documentOf(snapshot, file);
    const ours = completionsAt({ ...place, document }, isAsked).map(({ label }) => label);
    const theirs =
      completePolicy(words, text, { at: offset, isAsked })?.options.map(({ label }) => label) ?? [];
    offered += ours.length;
    expect(theirs, `edit ${at}`).toEqual(ours);
  }
  expect(offered).toBeGreaterThan(edits);
});
