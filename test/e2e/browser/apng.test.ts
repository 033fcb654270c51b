// An animated PNG made of small pictures: its chunks, and what may not be joined.

import { crc32, deflateSync, inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { animatedPng } from './apng.ts';

/** A PNG of one grey, eight bits a pixel. */
function grey(width: number, height: number, tone: number): Buffer {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head[8] = 8;
  const rows = Buffer.alloc((width + 1) * height, tone);
  for (let row = 0; row < height; row += 1) rows[row * (width + 1)] = 0;
  const chunks = [chunk('IHDR', head), chunk('IDAT', deflateSync(rows)), chunk('IEND', Buffer.alloc(0))];
  return Buffer.concat([Buffer.from('89504e470d0a1a0a', 'hex'), ...chunks]);
}

function chunk(kind: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(kind), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

function chunksOf(png: Buffer): readonly { readonly kind: string; readonly data: Buffer }[] {
  const found: { kind: string; data: Buffer }[] = [];
  for (let at = 8; at < png.length; at += png.readUInt32BE(at) + 12) {
    const named = png.subarray(at + 4, at + 8 + png.readUInt32BE(at));
    expect(png.readUInt32BE(at + 4 + named.length)).toBe(crc32(named));
    found.push({ kind: named.toString('latin1', 0, 4), data: named.subarray(4) });
  }
  return found;
}

test('the frames are in order, the first one as a plain picture', () => {
  const joined = animatedPng([
    { png: grey(4, 3, 0), left: 0, top: 0, shownMs: 1_500 },
    { png: grey(2, 2, 255), left: 1, top: 1, shownMs: 300 },
  ]);
  const chunks = chunksOf(joined);
  expect(chunks.map(({ kind }) => kind)).toEqual(['IHDR', 'acTL', 'fcTL', 'IDAT', 'fcTL', 'fdAT', 'IEND']);
  const [, count, whole, , part, pixels] = chunks.map(({ data }) => data);
  expect([count?.readUInt32BE(0), count?.readUInt32BE(4)]).toEqual([2, 0]);
  expect([whole?.readUInt16BE(20), whole?.readUInt16BE(22)]).toEqual([1_500, 1_000]);
  const numbers = [0, 4, 8, 12, 16].map((at) => part?.readUInt32BE(at));
  expect(numbers).toEqual([1, 2, 2, 1, 1]);
  expect(pixels?.readUInt32BE(0)).toBe(2);
  expect([...inflateSync(pixels?.subarray(4) ?? Buffer.alloc(0))]).toEqual([0, 255, 255, 0, 255, 255]);
});

test('too many frames are refused, and so is none', () => {
  const whole = { png: grey(4, 3, 0), left: 0, top: 0, shownMs: 100 };
  expect(() => animatedPng([whole, { ...whole, left: 1 }])).toThrow('does not fit');
  expect(() => animatedPng([])).toThrow('needs a frame');
  expect(() => animatedPng([{ ...whole, png: Buffer.from('no picture') }])).toThrow('no PNG');
});
