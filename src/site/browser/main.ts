// What every page of the documentation does in a browser. Without scripts the pages can be read as well.

import '../../dashboard/styles/tokens.css';
import '../../dashboard/styles/base.css';
import '../../dashboard/parts/policy/policy-source.css';
import '../../dashboard/parts/layout/button.css';
import './site.css';
import { setTheme, themeNow, themes } from '../../dashboard/shell/theme.ts';
import { addCopyButtons } from './copy.ts';
import { addSearch } from './search.ts';

setUpTheme();
setUpMenu();
addCopyButtons();
addSearch();

function setUpTheme(): void {
  const field = document.querySelector<HTMLElement>('.theme');
  const select = field?.querySelector('select') ?? null;
  if (field === null || select === null) return;
  select.value = themeNow();
  select.addEventListener('change', () => setTheme(themes.find((one) => one === select.value) ?? 'system'));
  field.hidden = false;
}

/** On a phone the menu is closed until it is asked for; without scripts it is open. */
function setUpMenu(): void {
  const button = document.querySelector<HTMLButtonElement>('.menu-button');
  const menu = document.getElementById('menu');
  if (button === null || menu === null) return;
  const show = (isOpen: boolean): void => {
    button.setAttribute('aria-expanded', String(isOpen));
    menu.classList.toggle('menu-closed', !isOpen);
  };
  show(false);
  button.hidden = false;
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') !== 'true'));
  menu.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest' });
  document
    .querySelector<HTMLDetailsElement>('.contents')
    ?.toggleAttribute('open', window.matchMedia('(width >= 80rem)').matches);
}
