// The search: a field in the head of each page. The texts of all pages are loaded when the field is first used, and
// searched in the browser, so nothing that is typed leaves it.

import MiniSearch, { type SearchResult } from 'minisearch';
import type { SearchText } from '../pages/write.ts';

type Search = (words: string) => readonly Result[];
type Result = SearchText & Pick<SearchResult, 'terms'>;

const resultsMax = 12;

export function addSearch(): void {
  const box = document.querySelector<HTMLElement>('.search');
  const address = document.documentElement.dataset.search;
  if (box === null || address === undefined) return;
  const { input, list, status } = searchElements();
  box.append(input, list, status);
  box.hidden = false;
  let loading: Promise<Search> | null = null;
  const load = (): Promise<Search> => {
    loading ??= loadSearch(address).catch((error: unknown) => {
      loading = null;
      throw error;
    });
    return loading;
  };
  const update = async (): Promise<void> => {
    const words = input.value.trim();
    if (words === '') return showResults({ input, list, status }, null);
    try {
      const search = await load();
      if (input.value.trim() === words) showResults({ input, list, status }, search(words));
    } catch {
      status.textContent = 'The search could not be loaded.';
    }
  };
  input.addEventListener('focus', () => void load().catch(() => undefined));
  input.addEventListener('input', () => void update());
  input.addEventListener('keydown', (event) => move(event, { input, list, status }));
  document.addEventListener('keydown', (event) => focusOnSlash(event, input));
  document.addEventListener('click', ({ target }) => {
    if (!(target instanceof Node) || !box.contains(target)) showResults({ input, list, status }, null);
  });
}

interface SearchElements {
  readonly input: HTMLInputElement;
  readonly list: HTMLElement;
  readonly status: HTMLElement;
}

function searchElements(): SearchElements {
  const input = document.createElement('input');
  input.type = 'search';
  input.placeholder = 'Search  /';
  input.autocomplete = 'off';
  for (const [name, value] of Object.entries({
    'aria-label': 'Search the documentation',
    role: 'combobox',
    'aria-expanded': 'false',
    'aria-controls': 'results',
    'aria-autocomplete': 'list',
  }))
    input.setAttribute(name, value);
  const list = document.createElement('div');
  list.id = 'results';
  list.setAttribute('role', 'listbox');
  list.setAttribute('aria-label', 'Results');
  list.hidden = true;
  const status = document.createElement('p');
  status.className = 'visually-hidden';
  status.setAttribute('role', 'status');
  return { input, list, status };
}

async function loadSearch(address: string): Promise<Search> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the texts of the search are missing: ${response.status}`);
  const texts = (await response.json()) as readonly SearchText[];
  const index = new MiniSearch<SearchText & { readonly id: number }>({
    fields: ['section', 'page', 'text'],
    // Codes such as `never-true` and `record_failed` are words, and so are their parts.
    tokenize: (text) => text.split(/[^\p{L}\p{N}_-]+/u).flatMap(wordsIn),
    searchOptions: { boost: { section: 4, page: 3 }, prefix: true, fuzzy: 0.15, combineWith: 'AND' },
  });
  index.addAll(texts.map((text, id) => ({ ...text, id })));
  return (words) =>
    index.search(words).flatMap(({ id, terms }) => {
      const text = texts[Number(id)];
      return text === undefined ? [] : [{ ...text, terms }];
    });
}

function wordsIn(word: string): readonly string[] {
  return [...new Set([word, ...word.split(/[_-]/)])].filter((part) => part !== '');
}

function showResults({ input, list, status }: SearchElements, results: readonly Result[] | null): void {
  list.replaceChildren(...(results ?? []).slice(0, resultsMax).map(resultElement));
  if (results?.length === 0) list.append(emptyElement(input.value));
  list.hidden = results === null;
  input.setAttribute('aria-expanded', String(results !== null && results.length > 0));
  input.removeAttribute('aria-activedescendant');
  status.textContent = results === null ? '' : `${results.length} results`;
}

function resultElement({ address, page, section, text, terms }: Result, at: number): HTMLElement {
  const link = document.createElement('a');
  link.href = address;
  link.id = `result-${at}`;
  link.setAttribute('role', 'option');
  link.setAttribute('aria-selected', 'false');
  link.tabIndex = -1;
  const title = document.createElement('strong');
  title.textContent = section === '' ? page : `${page}: ${section}`;
  const excerpt = document.createElement('span');
  excerpt.textContent = excerptOf(text, terms);
  link.append(title, excerpt);
  return link;
}

function emptyElement(words: string): HTMLElement {
  const option = document.createElement('div');
  option.className = 'search-empty';
  option.setAttribute('role', 'option');
  option.setAttribute('aria-selected', 'false');
  option.setAttribute('aria-disabled', 'true');
  option.textContent = `Nothing is found for "${words}".`;
  return option;
}

const excerptLength = 120;

/** The text around the first found word. */
function excerptOf(text: string, terms: readonly string[]): string {
  const lower = text.toLowerCase();
  const offsets = terms.map((term) => lower.indexOf(term)).filter((at) => at >= 0);
  const from = Math.max(0, Math.min(...offsets, text.length) - excerptLength / 3);
  const start = offsets.length === 0 || from < excerptLength / 3 ? 0 : text.indexOf(' ', from) + 1;
  const cut = text.slice(start, start + excerptLength);
  return `${start > 0 ? '… ' : ''}${cut}${start + excerptLength < text.length ? ' …' : ''}`;
}

function move(event: KeyboardEvent, elements: SearchElements): void {
  const { input, list } = elements;
  const options = [...list.querySelectorAll<HTMLAnchorElement>('a')];
  const at = options.findIndex((option) => option.getAttribute('aria-selected') === 'true');
  if (event.key === 'Escape') {
    input.value = '';
    showResults(elements, null);
  } else if (event.key === 'Enter') {
    event.preventDefault();
    options[Math.max(at, 0)]?.click();
  } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && options.length > 0) {
    event.preventDefault();
    const next = (at + (event.key === 'ArrowDown' ? 1 : -1) + options.length) % options.length;
    for (const [index, option] of options.entries())
      option.setAttribute('aria-selected', String(index === next));
    options[next]?.scrollIntoView({ block: 'nearest' });
    input.setAttribute('aria-activedescendant', `result-${next}`);
  }
}

function focusOnSlash(event: KeyboardEvent, input: HTMLInputElement): void {
  const { target, key } = event;
  const isWriting =
    target instanceof HTMLElement && (target.isContentEditable || target.matches('input, textarea, select'));
  // The editor is in a shadow root: its host is the target.
  const isEditor = target instanceof HTMLElement && target.shadowRoot !== null;
  if (key !== '/' || isWriting || isEditor || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  input.focus();
}
