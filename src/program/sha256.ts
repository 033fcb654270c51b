// SHA-256 (FIPS 180-4) of bytes, for the parts that may not ask the platform: what tells one content from another.

const blockBytes = 64;
const roots = /* of the first 64 primes, the fractions of their cube roots */ constants(64, 1 / 3);
const initial = constants(8, 1 / 2);
const schedule = new Int32Array(64);

/** The digest, 32 bytes. */
export function sha256(bytes: Uint8Array): Uint8Array {
  const state = initial.slice();
  const whole = bytes.length - (bytes.length % blockBytes);
  for (let at = 0; at < whole; at += blockBytes) compress(state, bytes, at);
  const rest = bytes.subarray(whole);
  const last = new Uint8Array(rest.length + 9 > blockBytes ? 2 * blockBytes : blockBytes);
  last.set(rest);
  last[rest.length] = 0x80;
  const view = new DataView(last.buffer);
  view.setUint32(last.length - 8, Math.floor(bytes.length / 2 ** 29));
  view.setUint32(last.length - 4, (bytes.length * 8) % 2 ** 32);
  for (let at = 0; at < last.length; at += blockBytes) compress(state, last, at);
  const digest = new DataView(new ArrayBuffer(32));
  for (const [at, word] of state.entries()) digest.setInt32(4 * at, word);
  return new Uint8Array(digest.buffer);
}

function compress(state: Int32Array, bytes: Uint8Array, from: number): void {
  const w = schedule;
  for (let at = 0; at < 16; at += 1) {
    const byte = from + 4 * at;
    w[at] = (bytes[byte]! << 24) | (bytes[byte + 1]! << 16) | (bytes[byte + 2]! << 8) | bytes[byte + 3]!;
  }
  for (let at = 16; at < 64; at += 1) {
    const x = w[at - 15]!;
    const y = w[at - 2]!;
    const small = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
    w[at] = (w[at - 16]! + small + w[at - 7]! + (rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10))) | 0;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let at = 0; at < 64; at += 1) {
    const one = (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + ((e & f) ^ (~e & g));
    const first = (h + one + roots[at]! + w[at]!) | 0;
    const second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
    h = g;
    g = f;
    f = e;
    e = (d + first) | 0;
    d = c;
    c = b;
    b = a;
    a = (first + second) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function rotate(word: number, by: number): number {
  return (word >>> by) | (word << (32 - by));
}

/** The first 32 bits of the fractions of a root of the first primes; doubles hold more than these. */
function constants(count: number, exponent: number): Int32Array {
  const primes: number[] = [];
  for (let candidate = 2; primes.length < count; candidate += 1) {
    if (primes.every((prime) => candidate % prime !== 0)) primes.push(candidate);
  }
  return Int32Array.from(primes, (prime) => {
    const root = prime ** exponent;
    return Math.floor((root - Math.floor(root)) * 2 ** 32) | 0;
  });
}
