// A text cut out of a file into lines that begin together: what hangs under the first line keeps its own depth, and the
// rest of the file's indentation goes.

export function evenLines(text: string): readonly string[] {
  const [first = '', ...rest] = text.split(/\r?\n/);
  const depths = rest.flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  const depth = depths.length === 0 ? 0 : Math.min(...depths);
  // The text begins at its first word, so how deep that stood in the file is not known: two columns are usual.
  return [first, ...rest.map((line) => (line.trim() === '' ? '' : `  ${line.slice(depth)}`))];
}
