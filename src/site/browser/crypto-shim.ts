// Stands for `node:crypto` in browsers, where the playground makes no digests.

export function hash(): never {
  throw new Error('the playground makes no digests');
}
