// Keeps the state in the address: the page and its filters. Links are ordinary; a click on a link within the
// dashboard changes the address without a reload. INVARIANT: everything that is shown can be shown again from
// its address alone.

import { useEffect, useState } from 'preact/hooks';

export interface PageAddress {
  readonly path: string;
  readonly query: URLSearchParams;
  /** The part after `#`. Links carry their secrets there, because it never reaches a server. */
  readonly hash: string;
}

type Listener = (address: PageAddress) => void;

const listeners = new Set<Listener>();

function currentAddress(): PageAddress {
  const { pathname, search, hash } = window.location;
  return { path: pathname, query: new URLSearchParams(search), hash: hash.slice(1) };
}

/** Goes to an address of the dashboard. `replace` adds no entry to the browser's history. */
export function go(address: string, { replace = false }: { readonly replace?: boolean } = {}): void {
  const isOtherPath = new URL(address, window.location.href).pathname !== window.location.pathname;
  if (replace) window.history.replaceState(null, '', address);
  else window.history.pushState(null, '', address);
  if (isOtherPath) window.scrollTo(0, 0);
  tell();
}

/** Sets parameters of the query; null or an empty text removes a parameter. */
export function setQuery(changes: Readonly<Record<string, string | null>>, { replace = false } = {}): void {
  const { path, query } = currentAddress();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null || value === '') query.delete(name);
    else query.set(name, value);
  }
  const text = query.toString();
  go(text === '' ? path : `${path}?${text}`, { replace });
}

export function useAddress(): PageAddress {
  const [address, setAddress] = useState(currentAddress);
  useEffect(() => {
    listeners.add(setAddress);
    // The address may have changed since this was drawn.
    setAddress((before) => (addressIn(before) === addressIn(currentAddress()) ? before : currentAddress()));
    return () => void listeners.delete(setAddress);
  }, []);
  return address;
}

/** The parameters of `pattern` (`/agents/:id`) in `path`; null when the path does not match. */
export function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | null {
  const expected = pattern.split('/');
  const segments = path.replace(/(.)\/$/, '$1').split('/');
  if (expected.length !== segments.length) return null;
  const params: Record<string, string> = {};
  for (const [index, part] of expected.entries()) {
    const value = segments[index] ?? '';
    if (part.startsWith(':')) params[part.slice(1)] = decode(value);
    else if (part !== value) return null;
  }
  return params;
}

/** Handles clicks on links within the dashboard, and the browser's back and forward. Call once. */
export function followLinks(): void {
  window.addEventListener('popstate', tell);
  document.addEventListener('click', (event) => {
    const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
    const link = (event.target as Element | null)?.closest('a');
    if (
      !isPlain ||
      event.defaultPrevented ||
      link == null ||
      link.target !== '' ||
      link.hasAttribute('download')
    )
      return;
    const url = new URL(link.href, window.location.href);
    const isOurs =
      url.origin === window.location.origin && !/^\/(v1|sso|docs|openapi\.json|metrics)/.test(url.pathname);
    if (!isOurs || link.getAttribute('href')?.startsWith('#')) return;
    event.preventDefault();
    go(url.pathname + url.search + url.hash);
  });
}

function addressIn({ path, query, hash }: PageAddress): string {
  const text = query.toString();
  return `${path}${text === '' ? '' : `?${text}`}${hash === '' ? '' : `#${hash}`}`;
}

function tell(): void {
  const address = currentAddress();
  for (const listener of [...listeners]) listener(address);
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
