// The help of every page: the documentation, the keyboard shortcuts of the page, and the version.

import { useId } from 'preact/hooks';
import { docsHref } from '../navigation/docs.ts';
import { openShortcutList } from '../parts/dialog/shortcuts.tsx';
import { Button } from '../parts/layout/button.tsx';
import { Icon } from '../parts/layout/icon.tsx';

const links = [
  ['Guide', docsHref()],
  ['The language', docsHref('LANGUAGE')],
] as const;

export function Help() {
  const id = useId();
  const hide = (): void => document.getElementById(id)?.hidePopover();
  return (
    <>
      <Button variant="quiet" icon="help" popovertarget={id}>
        Help
      </Button>
      <ul class="help" id={id} popover="auto" aria-label="Help">
        {links.map(([word, href]) => (
          <li key={href}>
            {/* A page of its own, so that nothing here is lost. */}
            <a href={href} target="_blank" rel="noreferrer">
              <Icon name="open" />
              {word}
              <span class="visually-hidden"> (opens in a new tab)</span>
            </a>
          </li>
        ))}
        <li>
          <Button
            variant="quiet"
            icon="keyboard"
            onClick={() => {
              hide();
              openShortcutList();
            }}
          >
            Keyboard shortcuts
          </Button>
        </li>
        <li class="help-version">Writ {import.meta.env.VITE_WRIT_VERSION}</li>
      </ul>
    </>
  );
}
