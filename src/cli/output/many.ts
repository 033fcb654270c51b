// Words for a number of things.

/** A number with its noun, such as `1 file` or `1,200 files`. */
export function many(count: number, one: string, more = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : more}`;
}
