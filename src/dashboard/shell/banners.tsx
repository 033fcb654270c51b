// What everybody must see on every page: what is stopped, what is wrong, and what has changed about their own
// sign-in. INVARIANT: one line at a time, the most urgent first; the others are one press away.

import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { useResource } from '../api/resource.ts';
import { useGrant } from '../api/session.tsx';
import { useAddress } from '../navigation/navigation.ts';
import { Button } from '../parts/layout/button.tsx';
import { Icon, type IconName } from '../parts/layout/icon.tsx';
import { Ago } from '../parts/layout/time.tsx';
import { FillGroup, gapText } from '../parts/people/group-gap.tsx';
import './banners.css';

export interface Banner {
  readonly key: string;
  readonly tone: 'deny' | 'escalate' | 'accent';
  readonly icon: IconName;
  /** What the banner is about; banners with one label are shown together. */
  readonly label: string;
  readonly words: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** Shows the first banner in one line, and all of them in full once they are opened. */
export function Banners({ banners }: { readonly banners: readonly Banner[] }) {
  const [isOpen, setOpen] = useState(false);
  const line = useRef<HTMLDivElement>(null);
  const isCut = useIsCut(line, isOpen);
  const id = useId();
  const others = banners.length - 1;
  const shown = isOpen ? banners : banners.slice(0, 1);
  const labels = [...new Set(shown.map(({ label }) => label))];
  return (
    <div
      class={isOpen ? 'banners banners-open' : 'banners'}
      id={id}
      ref={line}
      role="status"
      aria-relevant="additions"
    >
      {labels.map((label) => (
        <section key={label} aria-label={label}>
          {shown
            .filter((banner) => banner.label === label)
            .map((banner) => (
              <div key={banner.key} class={`banner banner-${banner.tone}`}>
                <Icon name={banner.icon} />
                <span class="banner-words">{banner.words}</span>
                {banner.actions}
                {banner === banners[0] && (others > 0 || isCut || isOpen) && (
                  <Button
                    variant="quiet"
                    aria-expanded={isOpen}
                    aria-controls={id}
                    onClick={() => setOpen(!isOpen)}
                  >
                    {isOpen ? 'Less' : others > 0 ? `${others} more` : 'More'}
                  </Button>
                )}
              </div>
            ))}
        </section>
      ))}
    </div>
  );
}

/** Whether the words of the first banner do not fit into its line. */
function useIsCut(line: { readonly current: HTMLDivElement | null }, isOpen: boolean): boolean {
  const [isCut, setCut] = useState(false);
  useLayoutEffect(() => {
    const words = line.current?.querySelector('.banner-words');
    if (!(words instanceof HTMLElement) || isOpen) return;
    const measure = (): void => setCut(words.scrollWidth > words.clientWidth);
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(words);
    return () => observer.disconnect();
  });
  return isCut;
}

/** Says which pending requests nobody can approve, to people who may view people. */
export function useGapBanners(): readonly Banner[] {
  const { path } = useAddress();
  const mayView = useGrant('people.view') === 'yes';
  const { data } = useResource('listGroups', mayView ? {} : null, ['people', 'policies', 'approvals']);
  // These pages say themselves what is missing.
  if (/^\/(access|welcome|requests\/.+|approvals\/.+)$/.test(path)) return [];
  return (data?.items ?? []).flatMap((group) => {
    const gap = gapText(group);
    const pending = group.pending ?? 0;
    if (gap === null || pending === 0) return [];
    return [
      {
        key: `group ${group.name}`,
        tone: 'escalate',
        icon: 'people',
        label: 'Groups without enough members',
        words: (
          <>
            <strong>
              {pending === 1
                ? '1 pending request needs'
                : `${pending.toLocaleString()} pending requests need`}{' '}
              <a href="/access">{group.name}</a>
            </strong>
            , which {gap}.
          </>
        ),
        actions: <FillGroup group={group} />,
      },
    ];
  });
}

/** Says that the policies on disk are not active; not on the page of policies, which tells more. */
export function useStaleBanners(since: string | null): readonly Banner[] {
  const { path } = useAddress();
  if (since === null || path === '/policies') return [];
  return [
    {
      key: 'policies',
      tone: 'deny',
      icon: 'warning',
      label: 'Policies',
      words: (
        <>
          The policies on disk are not active: they failed to load <Ago at={since} />. The last good set
          decides. <a href="/policies">Show the problem</a>
        </>
      ),
    },
  ];
}
