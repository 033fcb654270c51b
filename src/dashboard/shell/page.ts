// A page as the menu and the app know it: its address, title, access and loader.

import type { ComponentType } from 'preact';
import type { PageProps } from '../navigation/page-props.ts';
import type { IconName } from '../parts/layout/icon.tsx';

export interface Page {
  /** In the pattern, `:name` stands for one part of the address. */
  readonly pattern: string;
  readonly title: string;
  /**
   * The operation that a reader's roles must grant; `signed-in` needs a session alone, `public` needs none.
   */
  readonly access: string | 'signed-in' | 'public';
  /** Present for pages in the menu. */
  readonly menu?: { readonly icon: IconName; readonly group: 'work' | 'set-up' };
  /** The pattern of the page in the menu to which this page belongs; absent when its address says so. */
  readonly within?: string;
  readonly load: () => Promise<{ readonly default: ComponentType<PageProps> }>;
}
