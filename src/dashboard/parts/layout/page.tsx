// The frame of a page: its heading, which takes the focus when the page opens, its actions, and its sections.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import './page.css';
import { setPageTitle } from './page-title.ts';

interface PageFrameProps {
  readonly title: string;
  /** Shown as the heading in place of the title, such as the subject of a request. */
  readonly heading?: ComponentChildren;
  /** Shown beside the heading, such as badges or a name. */
  readonly beside?: ComponentChildren;
  /** One sentence under the heading. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

let isFirst = true;

export function PageFrame({
  title,
  heading: shown = title,
  beside,
  lead,
  actions,
  children,
}: PageFrameProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    // On the first page the browser has set the focus. A part of the page that has taken the focus meanwhile
    // keeps it.
    const isTaken = document.activeElement?.closest('#content > *') != null;
    if (!isFirst && !isTaken) heading.current?.focus({ preventScroll: true });
    isFirst = false;
  }, []);
  useEffect(() => {
    setPageTitle(title);
  }, [title]);
  return (
    <>
      <header class="page-head">
        <div class="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {shown}
          </h1>
          {beside}
        </div>
        {actions !== undefined && <div class="page-actions">{actions}</div>}
        {lead !== undefined && <p class="page-lead">{lead}</p>}
      </header>
      {children}
    </>
  );
}

interface SectionProps {
  readonly title: string;
  readonly actions?: ComponentChildren;
  readonly children: ComponentChildren;
}

export function Section({ title, actions, children }: SectionProps) {
  return (
    <section class="card" aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {actions}
      </header>
      <div class="card-body">{children}</div>
    </section>
  );
}

/** A list of names with their values. */
export function Facts({ items }: { readonly items: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl class="facts">
      {items.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
