// The frame around every page of a signed-in person: the menu, what is stopped, and whether the service can
// be reached.

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { useReachable } from '../api/connection.ts';
import { useResource } from '../api/resource.ts';
import { useGrant, usePerson, useSession } from '../api/session.tsx';
import { useAddress } from '../navigation/navigation.ts';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { Button } from '../parts/layout/button.tsx';
import { Icon } from '../parts/layout/icon.tsx';
import { narrowQuery } from '../parts/layout/narrow.ts';
import { At } from '../parts/layout/time.tsx';
import { Banners, useGapBanners, useStaleBanners } from './banners.tsx';
import { KillSwitchButton, stoppedBanners } from './kill-switch.tsx';
import type { Page } from './page.ts';
import { demoBanners, SignInForm } from './sign-in.tsx';
import './layout.css';
import { useShortcutsOfAllPages } from '../parts/dialog/shortcuts.tsx';
import { setTitleCount } from '../parts/layout/page-title.ts';
import { useIsPrinting } from '../parts/layout/printing.ts';
import { useKillSwitches } from '../parts/policy/kill-switches.tsx';
import { PlainText } from '../parts/text/plain-text.tsx';
import { Help } from './help.tsx';
import { menuPageOf } from './menu-page.ts';
import { useNoticeBanners } from './notices.tsx';
import { setTheme, type Theme, themeNow, themes } from './theme.ts';
import { PaletteButton, usePalette } from './use-palette.tsx';

interface LayoutProps {
  /** All pages; the menu shows those with a menu entry. */
  readonly pages: readonly Page[];
  readonly children: ComponentChildren;
}

export function Layout({ pages, children }: LayoutProps) {
  const { isMenuOpen, setMenuOpen, opener } = useMenu();
  const killSwitches = useKillSwitches();
  const staleSince = useStaleSince();
  const pending = usePendingCount();
  const banners = [
    ...stoppedBanners(killSwitches),
    ...useStaleBanners(staleSince),
    ...useGapBanners(),
    ...useNoticeBanners(),
    ...demoBanners(),
  ];
  const palette = usePalette(pages);
  const shortcuts = useShortcutsOfAllPages();
  const inMenu = { pages, pending, arePoliciesStale: staleSince !== null };
  // The page is built at once but shown only when it is known whether the kill switch's banner is above it,
  // so that the page does not move.
  const isCutOff = useReachable() === 'no';
  const isPlaceKnown = killSwitches.data !== null || !killSwitches.isLoading || isCutOff;
  return (
    <div class="layout">
      <a class="skip" href="#content">
        Skip to content
      </a>
      <header class="bar" ref={opener}>
        <Button
          variant="quiet"
          icon={isMenuOpen ? 'close' : 'menu'}
          label="Menu"
          aria-expanded={isMenuOpen}
          aria-controls="menu"
          onClick={() => setMenuOpen(!isMenuOpen)}
        />
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="22" height="22" /> Writ
        </a>
        <InboxLink count={pending} />
      </header>
      <nav id="menu" class={isMenuOpen ? 'menu menu-open' : 'menu'} aria-label="Pages">
        <a class="brand" href="/">
          <img src="/icon.svg" alt="" width="22" height="22" /> Writ
        </a>
        <div class="menu-start">
          <PaletteButton onOpen={palette.open} />
        </div>
        <MenuGroup group="work" {...inMenu} />
        <MenuGroup group="set-up" {...inMenu} />
        <div class="menu-end">
          <KillSwitchButton />
          <ThemeChoice />
          <Help />
          <WhoIsIn />
        </div>
      </nav>
      <main id="content" class="content" tabIndex={-1} inert={isMenuOpen}>
        <Unreachable />
        <Banners banners={banners} />
        <div class={isPlaceKnown ? 'page' : 'page page-placeless'}>{children}</div>
        <Printed />
      </main>
      <SignInAgain />
      {palette.shown}
      {shortcuts}
    </div>
  );
}

/** On a phone the menu covers the page, which cannot be reached meanwhile; Escape closes the menu. */
function useMenu() {
  const [isMenuOpen, setMenuOpen] = useState(false);
  const opener = useRef<HTMLElement>(null);
  const address = useAddress();
  useEffect(() => setMenuOpen(false), [address]);
  useEffect(() => {
    if (!isMenuOpen) return;
    const narrow = window.matchMedia(narrowQuery);
    const close = (): void => setMenuOpen(false);
    // The window may have been widened before the listener was added.
    if (!narrow.matches) return close();
    const onKey = ({ key }: KeyboardEvent): void => {
      if (key !== 'Escape' || document.querySelector('dialog[open]') !== null) return;
      close();
      opener.current?.querySelector('button')?.focus();
    };
    narrow.addEventListener('change', close);
    document.addEventListener('keydown', onKey);
    return () => {
      narrow.removeEventListener('change', close);
      document.removeEventListener('keydown', onKey);
    };
  }, [isMenuOpen]);
  return { isMenuOpen, setMenuOpen, opener };
}

interface MenuGroupProps {
  readonly pages: readonly Page[];
  readonly group: 'work' | 'set-up';
  readonly arePoliciesStale: boolean;
  /** Number of pending requests for the person; null when they approve nothing. */
  readonly pending: number | null;
}

function MenuGroup({ pages, group, arePoliciesStale, pending }: MenuGroupProps) {
  const here = menuPageOf(pages, useAddress().path);
  return (
    <ul class="menu-group">
      {pages
        .filter(({ menu }) => menu?.group === group)
        .map((page) => (
          <MenuEntry
            key={page.pattern}
            page={page}
            isHere={page === here}
            isMarked={arePoliciesStale && page.pattern === '/policies'}
            pending={pending}
          />
        ))}
    </ul>
  );
}

interface MenuEntryProps {
  readonly page: Page;
  /** Whether the address belongs to the page. */
  readonly isHere: boolean;
  /** Whether the page has something that needs attention. */
  readonly isMarked: boolean;
  readonly pending: number | null;
}

function MenuEntry({ page: { pattern, title, access, menu }, isHere, isMarked, pending }: MenuEntryProps) {
  const grant = useGrant(access);
  if (grant === 'no' || menu === undefined) return null;
  return (
    <li>
      <a href={pattern} aria-current={isHere ? 'page' : undefined}>
        <Icon name={menu.icon} />
        {title}
        {pattern === '/approvals' && <PendingCount count={pending} />}
        {pattern === '/alerts' && <AlertCount />}
        {pattern === '/access' && <ApplicationCount />}
        {isMarked && (
          <span class="menu-count">
            !<span class="visually-hidden"> failed to load</span>
          </span>
        )}
      </a>
    </li>
  );
}

function AlertCount() {
  const { data } = useResource('listActiveAlerts', {}, ['alerts']);
  return <MenuCount count={data?.items.length ?? 0} what="on" />;
}

function ApplicationCount() {
  const mayView = useGrant('applications.view') !== 'no';
  const request = mayView ? { query: { limit: '200' } } : null;
  const { data } = useResource('listApplications', request, ['people']);
  const open = (data?.items ?? []).filter(({ status }) => status === 'open');
  return <MenuCount count={open.length} what="applications waiting" />;
}

/** Renders nothing when the count is 0. */
function MenuCount({ count, what: label }: { readonly count: number; readonly what: string }) {
  if (count === 0) return null;
  return (
    <span class="menu-count">
      {count}
      <span class="visually-hidden"> {label}</span>
    </span>
  );
}

function ThemeChoice() {
  const [theme, choose] = useState<Theme>(themeNow);
  const next = themes[(themes.indexOf(theme) + 1) % themes.length] ?? 'system';
  const words = { system: 'same as the system', light: 'light', dark: 'dark' } as const;
  return (
    <Button
      variant="quiet"
      icon={theme}
      onClick={() => {
        setTheme(next);
        choose(next);
      }}
    >
      Theme<span class="visually-hidden">: {words[theme]}</span>
    </Button>
  );
}

function WhoIsIn() {
  const { session, signOut } = useSession();
  if (session === null) return null;
  return (
    <div class="menu-person">
      <a href="/account" title={session.person.email}>
        <Icon name="person" />
        <span>{session.person.name}</span>
      </a>
      <Button variant="quiet" icon="signOut" label="Sign out" onClick={signOut} />
    </div>
  );
}

function Unreachable() {
  const reachable = useReachable();
  return (
    <div role="status">
      {reachable === 'no' && (
        <p class="unreachable">
          <Icon name="warning" /> Writ cannot be reached. This page may be outdated; retrying.
        </p>
      )}
    </div>
  );
}

/** Shown when the session has ended in the middle of something: nothing on the page is lost. */
function SignInAgain() {
  const { session, isAskedAgain, leave } = useSession();
  if (!isAskedAgain || session === null) return null;
  return (
    <Dialog title="Your session has ended" onClose={leave}>
      <p>Sign in to continue where you left off.</p>
      <SignInForm email={session.person.email} />
    </Dialog>
  );
}

/** The foot of a printed page: when it was printed, by whom, and from which address, filters included. */
function Printed() {
  const { email } = usePerson();
  // Renders again whenever the address changes.
  useAddress();
  if (!useIsPrinting()) return null;
  return (
    <p class="printed">
      Printed <At at={new Date().toISOString()} /> by <PlainText text={email} isShort /> from{' '}
      <PlainText text={location.href} />
    </p>
  );
}

/**
 * When the directory last failed to load, as an ISO time; null while its policies are active, and for people
 * who may not know.
 */
function useStaleSince(): string | null {
  const mayView = useGrant('policies.view') !== 'no';
  const { data } = useResource('getPolicyState', mayView ? {} : null, ['policies']);
  return data?.failure?.at ?? null;
}

/** Returns null when the person approves nothing. Call only once, because it sets the title. */
function usePendingCount(): number | null {
  const mayApprove = useGrant('requests.approve') !== 'no';
  const { data } = useResource('listApprovals', mayApprove ? { query: { limit: '1' } } : null, ['approvals']);
  const count = data?.count ?? 0;
  useEffect(() => setTitleCount(count), [count]);
  useEffect(() => () => setTitleCount(0), []);
  return mayApprove ? count : null;
}

function PendingCount({ count }: { readonly count: number | null }) {
  if (count === null || count === 0) return null;
  return (
    <span class="menu-count">
      {count}
      <span class="visually-hidden"> pending</span>
    </span>
  );
}

/** Shown in the bar on a phone, where the menu is folded. */
function InboxLink({ count }: { readonly count: number | null }) {
  const { path } = useAddress();
  if (count === null) return null;
  return (
    <a class="bar-inbox" href="/approvals" aria-current={path === '/approvals' ? 'page' : undefined}>
      <Icon name="inbox" />
      <span class="visually-hidden">Inbox</span>
      <PendingCount count={count} />
    </a>
  );
}
