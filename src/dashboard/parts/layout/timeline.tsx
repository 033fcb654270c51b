// A list of events in order, each with its sign, its time if known, and the comment of a person.

import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from './icon.tsx';
import { Ago } from './time.tsx';
import './timeline.css';

export interface TimelineEntry {
  readonly key: string;
  readonly icon: IconName;
  readonly tone: 'allow' | 'deny' | 'escalate' | 'reauth' | 'unknown';
  readonly title: ComponentChildren;
  /** RFC 3339; null when the time was not recorded. */
  readonly at: string | null;
  readonly detail?: ComponentChildren;
}

export function Timeline({ entries }: { readonly entries: readonly TimelineEntry[] }) {
  return (
    <ol class="timeline">
      {entries.map(({ key, icon, tone, title, at, detail }) => (
        <li key={key} class={`timeline-entry timeline-${tone}`}>
          <span class="timeline-sign">
            <Icon name={icon} size={14} />
          </span>
          <div>
            <p class="timeline-head">
              <span>{title}</span>
              {at !== null && <Ago at={at} />}
            </p>
            {detail !== undefined && <div class="timeline-detail">{detail}</div>}
          </div>
        </li>
      ))}
    </ol>
  );
}
