// What one compilation leaves for the next: the trees of files whose text has not changed, and nothing of
// files that are gone.

import { expect, it } from 'vitest';
import { compile, createCompileCache, type PolicySources } from '../../../src/pipeline.ts';

const action = { path: 'a.policy', text: 'action pay.create { amount: number 0.. }\n' };
const policy = { path: 'b.policy', text: 'policy p on pay.create { allow a when payload.amount < 10 }\n' };

function sourcesOf(...files: PolicySources['files']): PolicySources {
  return { files, readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }) };
}

it('parses a file again only where its text has changed', () => {
  const memory = createCompileCache();
  const first = compile(sourcesOf(action, policy), memory);
  const changed = { ...policy, text: policy.text.replace('10', '20') };
  const second = compile(sourcesOf(action, changed), memory);
  expect(second.files[0]).toBe(first.files[0]);
  expect(second.files[1]).not.toBe(first.files[1]);
  const fresh = compile(sourcesOf(action, changed));
  expect(second.set).toEqual(fresh.set);
  expect(second.diagnostics).toEqual(fresh.diagnostics);
});

it('keeps nothing of a file that is gone, and takes the good set up again after an error', () => {
  const memory = createCompileCache();
  const first = compile(sourcesOf(action, policy), memory);
  const broken = compile(sourcesOf(policy), memory);
  expect(broken.set).toBeNull();
  expect([...memory.parsed.keys()]).toEqual(['b.policy']);
  const fixed = compile(sourcesOf(action, policy), memory);
  expect(fixed.set).toEqual(first.set);
  expect(fixed.diagnostics).toEqual(first.diagnostics);
});

it('reads anew what rests on the texts of a list, and what rests on their number', () => {
  const memory = createCompileCache();
  const text = (entries: string) =>
    `action file.read { path: path }\nlist folders = [${entries}] may be empty\npolicy p on file.read {\n  allow a when payload.path inside any of folders\n}\n`;
  for (const entries of ['"/a"', '"/a", "/b"', '"/b", "/c"', '', '"/a"']) {
    const sources = sourcesOf({ path: 'a.policy', text: text(entries) });
    const { engine, set } = compile(sources, memory);
    expect(set).toEqual(compile(sources).set);
    for (const folder of ['/a', '/b', '/c']) {
      const payload = { path: `${folder}/x` };
      const facts = { action: 'file.read', payload, agent: {}, request: {}, nowMs: 0, meters: {} };
      const { outcome } = engine!.decide({ ...facts, satisfied: { escalate: [], reauth: [] } });
      expect([entries, folder, outcome]).toEqual([
        entries,
        folder,
        entries.includes(folder) ? 'ALLOW' : 'DENY',
      ]);
    }
  }
});
