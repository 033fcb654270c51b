// Recognises files that people give by mistake instead of JSON Lines of requests, by their first bytes. Each
// gets one sentence on what to give instead.

const compressed: readonly (readonly number[])[] = [
  [0x1f, 0x8b],
  [0x28, 0xb5, 0x2f, 0xfd],
  [0x50, 0x4b, 0x03, 0x04],
  [0x42, 0x5a, 0x68],
];

/** The first line of a CSV export of requests, records or changed requests. */
const csvHead = /^"?(?:request_id|sequence)"?,/;
const policyText = /^(?:policy|action|approvers|meter|let|list|hours|guarantee|group)\s|^#/;

/** Number of bytes that are enough to recognise a file. */
export const headBytes = 4_096;

/**
 * What is wrong with a file of JSON Lines as a whole, as one sentence in lower case; null when its lines can
 * be read.
 */
export function otherFileText(bytes: Uint8Array): string | null {
  const foreign = foreignText(bytes);
  if (foreign !== null) return foreign;
  const [first = '', second = ''] = linesOf(bytes);
  if (first.startsWith('['))
    return 'this is a JSON list; expected one JSON object per line: convert it with `jq -c .[]`';
  return first === '{' || (first.startsWith('{') && second.startsWith('"'))
    ? 'this is JSON over several lines; expected one JSON object per line: convert it with `jq -c .`'
    : null;
}

/** What is wrong with a file that is not JSON; null when it may be JSON. */
export function foreignText(bytes: Uint8Array): string | null {
  if (compressed.some((magic) => magic.every((byte, at) => bytes[at] === byte)))
    return 'the file is compressed: decompress it first';
  if ((bytes[0] === 0xff && bytes[1] === 0xfe) || (bytes[0] === 0xfe && bytes[1] === 0xff))
    return 'the file is in UTF-16: save it as UTF-8';
  const [first = ''] = linesOf(bytes);
  if (csvHead.test(first))
    return 'this is a CSV export, which lacks the facts of decisions: export JSON Lines instead (`writ audit export`, or the requests as JSON Lines)';
  return policyText.test(first) ? 'this is a policy file, not a file of requests' : null;
}

/** The first lines that are not empty. */
function linesOf(bytes: Uint8Array): readonly string[] {
  return Buffer.from(bytes.subarray(0, headBytes))
    .toString('utf8')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
