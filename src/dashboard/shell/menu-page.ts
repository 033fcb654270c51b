// Finds the entry of the menu that is marked as the current one.

import { matchPath } from '../navigation/navigation.ts';
import type { Page } from './page.ts';

/** The page of the menu to which the address belongs; null when it belongs to none. */
export function menuPageOf(pages: readonly Page[], path: string): Page | null {
  const shown = pages.find(({ pattern }) => matchPath(pattern, path) !== null);
  const isAbove = ({ pattern, menu }: Page): boolean =>
    menu !== undefined && (path === pattern || path.startsWith(`${pattern}/`));
  return pages.find(({ pattern }) => pattern === shown?.within) ?? pages.find(isAbove) ?? null;
}
