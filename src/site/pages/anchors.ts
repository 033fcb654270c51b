// The anchors of headings, as GitHub makes them, so that one link works there and on the site.

/** Turns the text of a heading, with its Markdown, into an anchor. */
function anchorOf(title: string): string {
  return title
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .toLowerCase()
    .replace(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-');
}

/** The anchors of all headings of a page, in order; the second heading with the same name gets `-1`. */
export function anchorsOf(titles: readonly string[]): readonly string[] {
  const anchors = titles.map(anchorOf);
  const before = (at: number) => anchors.slice(0, at).filter((anchor) => anchor === anchors[at]).length;
  return anchors.map((anchor, at) => (before(at) === 0 ? anchor : `${anchor}-${before(at)}`));
}
