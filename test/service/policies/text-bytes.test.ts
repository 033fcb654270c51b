// Texts over the bytes of files equal the decoded bytes, and a set's texts refer to the bytes that were read.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createReadCache } from '../../../src/service/policies/read-cache.ts';
import { readPolicies } from '../../../src/service/policies/read-policies.ts';
import { bytesOfText, createTextRoom, textOverBytes } from '../../../src/service/policies/text-bytes.ts';
import { entriesOf, packTexts, textOfFile } from '../../../src/service/policies/texts.ts';
import { createFolder, writeFiles } from './folder.ts';

const utf8 = new TextDecoder('utf-8', { fatal: true });

function decoded(bytes: Uint8Array): string | null {
  try {
    return utf8.decode(bytes);
  } catch {
    return null;
  }
}

describe('a text over bytes', () => {
  it('is what they decode to, without a byte order mark, and null where they are not UTF-8', () => {
    const text = fc.string({ unit: 'binary' }).map((one) => Buffer.from(one));
    const bytes = fc.oneof(
      text,
      text.map((one) => Buffer.concat([Buffer.from('\ufeff'), one])),
      fc.uint8Array(),
    );
    fc.assert(
      fc.property(bytes, (bytes) => {
        const made = textOverBytes('a.policy', bytes);
        expect(made?.text ?? null).toBe(decoded(bytes));
        if (made !== null) expect(Buffer.from(bytesOfText(made)).toString()).toBe(made.text);
      }),
    );
  });
});

describe('room for files', () => {
  it('holds each as it is when it is read, whatever its size was before', () => {
    const folder = createFolder({ a: 'one', b: '', c: 'three', d: 'four' });
    const room = createTextRoom(10);
    const read = (name: string, sizeBytes: number) =>
      Buffer.from(room(join(folder, name), sizeBytes)).toString();
    expect([read('a', 3), read('b', 0), read('c', 2), read('d', 5)]).toEqual(['one', '', 'three', 'four']);
  });
});

describe('the texts of a set', () => {
  it('are the memory that they were read into, and a copy once some are newer than others', async () => {
    const folder = createFolder({ 'a.policy': '# a\n', 'b/c.policy': '# ü\n' });
    const memory = createReadCache();
    const first = await readPolicies(folder, memory);
    const whole = packTexts(first, []);
    expect(first.sources.files.map((file) => bytesOfText(file).buffer)).toEqual([whole.bytes, whole.bytes]);
    writeFiles(folder, { 'b/c.policy': '# newer\n' });
    const texts = packTexts(await readPolicies(folder, memory), []);
    expect(entriesOf(texts).map((entry) => textOfFile(texts, entry))).toEqual(['# a\n', '# newer\n']);
    expect(texts.bytes.byteLength).toBe(12);
    // No other object keeps the bytes that were read before.
    const { files } = (await readPolicies(folder, memory)).sources;
    expect(files.map((file) => bytesOfText(file).buffer)).toEqual([texts.bytes, texts.bytes]);
    writeFileSync(join(folder, 'a.policy'), '\ufeff# a\n');
    const marked = packTexts(await readPolicies(folder), []);
    expect(entriesOf(marked).map((entry) => textOfFile(marked, entry))).toEqual(['# a\n', '# newer\n']);
  });
});
