// Joins PNG pictures into an animated PNG (APNG), which browsers show as a picture that plays again and again. A frame may
// be a part of the picture. INVARIANT: the first frame is the whole picture, and no frame reaches beyond it.

import { crc32, deflateSync, inflateSync } from 'node:zlib';

export interface Frame {
  readonly png: Buffer;
  /** Where the frame lies in the picture, in pixels. */
  readonly left: number;
  readonly top: number;
  /** How long the frame is shown, in milliseconds, up to 65,535. */
  readonly shownMs: number;
}

interface Chunk {
  readonly kind: string;
  readonly data: Buffer;
}

const signature = Buffer.from('89504e470d0a1a0a', 'hex');
const headBytes = 13;

export function animatedPng(frames: readonly Frame[]): Buffer {
  const pictures = frames.map((frame) => ({ ...frame, ...readPng(frame.png) }));
  const [first] = pictures;
  if (first === undefined) throw new Error('an animation needs a frame');
  const chunks: Chunk[] = [
    { kind: 'IHDR', data: first.head },
    { kind: 'acTL', data: numbers(frames.length, 0) },
  ];
  let sequence = 0;
  for (const { head, pixels, left, top, shownMs } of pictures) {
    const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
    checkFits({ head, left, top }, first.head);
    const shown = Buffer.from([shownMs >> 8, shownMs & 0xff, 1_000 >> 8, 1_000 & 0xff, 0, 0]);
    chunks.push({
      kind: 'fcTL',
      data: Buffer.concat([numbers(sequence++, width, height, left, top), shown]),
    });
    if (head === first.head) chunks.push({ kind: 'IDAT', data: pixels });
    else chunks.push({ kind: 'fdAT', data: Buffer.concat([numbers(sequence++), pixels]) });
  }
  return Buffer.concat([signature, ...[...chunks, { kind: 'IEND', data: Buffer.alloc(0) }].map(chunkBytes)]);
}

/** The header, and the pixels in the smallest form. */
function readPng(png: Buffer): { readonly head: Buffer; readonly pixels: Buffer } {
  const chunks = chunksOf(png);
  const head = chunks.find(({ kind }) => kind === 'IHDR')?.data;
  if (head?.length !== headBytes) throw new Error('this is no PNG');
  const packed = Buffer.concat(chunks.filter(({ kind }) => kind === 'IDAT').map(({ data }) => data));
  return { head, pixels: deflateSync(inflateSync(packed), { level: 9 }) };
}

function chunksOf(png: Buffer): readonly Chunk[] {
  if (!png.subarray(0, signature.length).equals(signature)) throw new Error('this is no PNG');
  const chunks: Chunk[] = [];
  for (let at = signature.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const kind = png.toString('latin1', at + 4, at + 8);
    chunks.push({ kind, data: png.subarray(at + 8, at + 8 + length) });
    at += length + 12;
  }
  return chunks;
}

function checkFits(
  { head, left, top }: { readonly head: Buffer; readonly left: number; readonly top: number },
  whole: Buffer,
): void {
  const fits =
    left + head.readUInt32BE(0) <= whole.readUInt32BE(0) &&
    top + head.readUInt32BE(4) <= whole.readUInt32BE(4) &&
    // The depth, the colours and how the pixels are packed.
    head.subarray(8).equals(whole.subarray(8));
  if (!fits) throw new Error('a frame does not fit into the first one');
}

function chunkBytes({ kind, data }: Chunk): Buffer {
  const named = Buffer.concat([Buffer.from(kind, 'latin1'), data]);
  return Buffer.concat([numbers(data.length), named, numbers(crc32(named))]);
}

function numbers(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [index, value] of values.entries()) bytes.writeUInt32BE(value, 4 * index);
  return bytes;
}
