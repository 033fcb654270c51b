// Turns the Markdown of one page into HTML for a strict content policy: no styles or scripts inside, code of
// policies coloured by the product's own words, an anchor on each heading, and links rewritten for the site.

import createMarkdown, { type MarkdownIt, type Token } from 'markdown-it';
import { piecesOf } from '../../language/assist/policy-words.ts';
import { anchorsOf } from './anchors.ts';

export interface Heading {
  readonly level: number;
  readonly title: string;
  readonly anchor: string;
}

export interface RenderedPage {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  /** The plain text below each heading, in the order of the headings. */
  readonly texts: readonly string[];
}

/** Where a link or picture leads. */
export interface LinkTarget {
  readonly address: string;
  /** The title of the page, which replaces the name of its file as the text of the link. */
  readonly title: string | null;
}

/** Returns null when the target is not on the site. */
export type ResolveLink = (target: string) => LinkTarget | null;

type Tokens = readonly Token[];

export function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}

export function renderMarkdown(source: string, resolve: ResolveLink): RenderedPage {
  const markdown = new createMarkdown({ html: false, linkify: false });
  const tokens = markdown.parse(source, {});
  const headings = headingsOf(tokens);
  setRules(markdown, headings);
  for (const { children } of tokens) {
    for (const [at, child] of (children ?? []).entries()) rewrite(child, children?.[at + 1], resolve);
    if (children !== null) unlink(children);
  }
  return {
    title: headings.find(({ level }) => level === 1)?.title ?? '',
    html: markdown.renderer.render(tokens, markdown.options, {}),
    headings,
    texts: textsOf(tokens),
  };
}

function headingsOf(tokens: Tokens): readonly Heading[] {
  const headings = tokens.flatMap((token, at) => {
    const inline = tokens[at + 1];
    return token.type === 'heading_open' && inline !== undefined ? [{ token, inline }] : [];
  });
  const anchors = anchorsOf(headings.map(({ inline }) => inline.content));
  return headings.map(({ token, inline }, at) => {
    const anchor = anchors[at] ?? '';
    token.attrSet('id', anchor);
    return { level: Number(token.tag.slice(1)), title: plainText(inline), anchor };
  });
}

function plainText({ children }: Token): string {
  return (children ?? [])
    .map(({ type, content }) => (type === 'softbreak' || type === 'hardbreak' ? ' ' : content))
    .join('');
}

/** The texts between the headings; code is left out where it is an example of several lines. */
function textsOf(tokens: Tokens): readonly string[] {
  const texts: string[][] = [];
  tokens.forEach((token, at) => {
    if (token.type === 'heading_open') texts.push([]);
    else if (token.type === 'inline' && tokens[at - 1]?.type !== 'heading_open')
      texts.at(-1)?.push(plainText(token));
  });
  return texts.map((parts) => parts.join(' '));
}

function attribute(token: Token, name: string): string | null {
  const value = token.attrGet(name);
  return value === null ? null : String(value);
}

/** A link out of the site leads nowhere without the repository: its text stays, without the link. */
const gone = 'data-gone';

function rewrite(token: Token, next: Token | undefined, resolve: ResolveLink): void {
  const name = token.type === 'link_open' ? 'href' : token.type === 'image' ? 'src' : null;
  const target = name === null ? null : attribute(token, name);
  if (name === null || target === null) return;
  const page = resolve(target);
  token.attrSet(page === null ? gone : name, page?.address ?? target);
  if (next?.type === 'text' && next.content.endsWith('.md') && page?.title != null) next.content = page.title;
}

function unlink(children: Tokens): void {
  let isGone = false;
  for (const token of children) {
    if (token.type === 'link_open') isGone = token.attrGet(gone) !== null;
    if (!isGone || (token.type !== 'link_open' && token.type !== 'link_close')) continue;
    token.tag = 'span';
    if (token.type === 'link_open')
      token.attrs = [
        ['class', 'in-repository'],
        ['title', 'in the repository'],
      ];
  }
}

function setRules({ renderer }: MarkdownIt, headings: readonly Heading[]): void {
  renderer.rules.heading_close = (tokens, at) => {
    const opening = tokens[at - 2];
    const { title = '', anchor = '' } = headings.find((one) => one.anchor === opening?.attrGet('id')) ?? {};
    const link =
      opening?.tag === 'h1'
        ? ''
        : ` <a class="anchor" href="#${anchor}" aria-label="Link to ${escapeHtml(title)}">#</a>`;
    return `${link}</${tokens[at]?.tag}>\n`;
  };
  renderer.rules.table_open = () =>
    '<div class="table" tabindex="0" role="group" aria-label="Table"><table>\n';
  renderer.rules.table_close = () => '</table></div>\n';
  // The content policy allows no `style`, which is how the renderer aligns cells.
  for (const cell of ['th_open', 'td_open'] as const) {
    renderer.rules[cell] = (tokens, at, options, _env, self) => {
      const token = tokens[at];
      if (token !== undefined) {
        // A head cell without words, as in lists of pages, is no head.
        if (cell === 'th_open' && tokens[at + 1]?.content === '') token.tag = 'td';
        const [, align] = /text-align:(\w+)/.exec(attribute(token, 'style') ?? '') ?? [];
        token.attrs = align === undefined ? null : [['class', `align-${align}`]];
      }
      return self.renderToken(tokens, at, options);
    };
  }
  renderer.rules.th_close = (tokens, at) => `</${tokens[at - 2]?.tag ?? 'th'}>\n`;
  renderer.rules.fence = (tokens, at) => codeBlock(tokens[at]?.content ?? '', tokens[at]?.info.trim() ?? '');
  renderer.rules.code_block = (tokens, at) => codeBlock(tokens[at]?.content ?? '', '');
}

function codeBlock(text: string, language: string): string {
  const lines = text.replace(/\n$/, '').split('\n');
  const isPolicy = language === 'writ';
  const html = lines.map((line) => (isPolicy ? colouredLine(line) : escapeHtml(line))).join('\n');
  const name = language === 'sh' || language === 'console' ? 'Commands' : isPolicy ? 'Policy' : 'Example';
  return `<div class="code"><pre tabindex="0" role="group" aria-label="${name}"><code>${html}</code></pre></div>\n`;
}

function colouredLine(line: string): string {
  return piecesOf(line)
    .map(({ text, kind }) => {
      const html = escapeHtml(text);
      if (kind === 'other' || kind === 'name') return html;
      const word = kind === 'outcome' ? ` data-word="${html}"` : '';
      return `<span class="token-${kind}"${word}>${html}</span>`;
    })
    .join('');
}
