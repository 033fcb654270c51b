// The props of every page: the parameters in its address.

export interface PageProps {
  /** Parameters of the pattern, for example `id`. */
  readonly params: Readonly<Record<string, string>>;
}
