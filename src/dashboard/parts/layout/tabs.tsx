// Tabs: parts of one page, of which one is shown. Each has an address of its own, so a tab is a link; the arrow
// keys, Home and End go to the others (the ARIA pattern of tabs). INVARIANT: the address says which tab is shown.

import type { ComponentChildren } from 'preact';
import { useId, useRef } from 'preact/hooks';
import { go, useAddress } from '../../navigation/navigation.ts';
import './tabs.css';

interface TabsProps {
  /** What the tabs are parts of. */
  readonly label: string;
  /** Titles by name. The first is shown when the address names none; the others are at `?tab=name`. */
  readonly tabs: readonly (readonly [name: string, title: string])[];
  /** The contents of the shown tab, by its name. */
  readonly children: (name: string) => ComponentChildren;
}

const steps: Readonly<Record<string, number>> = { ArrowRight: 1, ArrowLeft: -1 };

export function Tabs({ label, tabs, children }: TabsProps) {
  const { path, query } = useAddress();
  const list = useRef<HTMLDivElement>(null);
  const id = useId();
  const [first = ''] = tabs[0] ?? [];
  const shown = tabs.some(([name]) => name === query.get('tab')) ? (query.get('tab') ?? first) : first;
  const hrefOf = (name: string): string => (name === first ? path : `${path}?tab=${name}`);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(([name]) => name === shown);
    const step = steps[event.key];
    const to =
      step !== undefined
        ? (at + step + tabs.length) % tabs.length
        : event.key === 'Home'
          ? 0
          : event.key === 'End'
            ? tabs.length - 1
            : null;
    if (to === null || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(hrefOf(tabs[to]?.[0] ?? first), { replace: true });
    (list.current?.children[to] as HTMLElement | undefined)?.focus();
  };
  return (
    <>
      <div class="tabs" role="tablist" aria-label={label} ref={list} onKeyDown={onKeyDown}>
        {tabs.map(([name, title]) => (
          <a
            key={name}
            id={`${id}-${name}`}
            role="tab"
            href={hrefOf(name)}
            aria-selected={name === shown}
            aria-controls={name === shown ? `${id}-panel` : undefined}
            tabIndex={name === shown ? 0 : -1}
          >
            {title}
          </a>
        ))}
      </div>
      <div class="tab-panel" role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`}>
        {children(shown)}
      </div>
    </>
  );
}
