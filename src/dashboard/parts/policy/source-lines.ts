// Turns a text cut out of a file into lines with a common indentation: lines below the first keep their
// relative depth, and the rest of the file's indentation is removed.

export function evenLines(text: string): readonly string[] {
  const [first = '', ...rest] = text.split(/\r?\n/);
  const depths = rest.flatMap((line) => (line.trim() === '' ? [] : [line.search(/\S/)]));
  const depth = depths.length === 0 ? 0 : Math.min(...depths);
  // The text begins at its first word, so the indentation of the first line is not known; two columns are
  // usual.
  return [first, ...rest.map((line) => (line.trim() === '' ? '' : `  ${line.slice(depth)}`))];
}
