// What every page is given: the parts of its address.

export interface PageProps {
  /** Of the pattern, `id` for instance. */
  readonly params: Readonly<Record<string, string>>;
}
