// The command palette: the typed text finds pages, actions, agents and requests, and Enter goes to the chosen
// one. INVARIANT: the palette offers only what the person's roles grant, and does nothing that no page does.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { type KillSwitch, killSwitchFor } from '../../api/applicable-kill-switch.ts';
import type { Reply } from '../../api/operations.ts';
import { useResource } from '../api/resource.ts';
import { useGrant, useSession } from '../api/session.tsx';
import { go } from '../navigation/navigation.ts';
import { Dialog } from '../parts/dialog/dialog.tsx';
import { statusWord } from '../parts/layout/badge.tsx';
import { Icon, type IconName } from '../parts/layout/icon.tsx';
import { minuteTime } from '../parts/layout/time-format.ts';
import { ownerWords } from '../parts/people/owner-name.tsx';
import { useKillSwitches } from '../parts/policy/kill-switches.tsx';
import { PlainText } from '../parts/text/plain-text.tsx';
import type { Page } from './page.ts';
import './palette.css';
import type { PaletteProps } from './use-palette.tsx';

interface Entry {
  readonly id: string;
  readonly icon: IconName;
  readonly word: string;
  /** The kind of thing, shown beside the word. */
  readonly kind: string;
  /** What tells it from others with the same word. */
  readonly detail?: string;
  readonly run: () => void;
}

export default function Palette({ pages, onStop, onClose }: PaletteProps) {
  const [typed, setTyped] = useState('');
  /**
   * Id of the chosen entry, because entries that are found later may come before it; null chooses the first.
   */
  const [chosenId, setChosenId] = useState<string | null>(null);
  const listId = useId();
  const list = useRef<HTMLDivElement>(null);
  const fixed = useFixedEntries(pages, onStop).filter((entry) => holds(entry.word, typed));
  const { entries: matches, isLooking } = useMatches(typed);
  const entries = [...fixed, ...matches];
  const place = entries.findIndex(({ id }) => id === chosenId);
  const chosen = place < 0 && entries.length > 0 ? 0 : place;
  useEffect(() => {
    list.current?.children[chosen]?.scrollIntoView({ block: 'nearest' });
  }, [chosen]);
  const run = (entry: Entry | undefined): void => {
    if (entry === undefined) return;
    onClose();
    entry.run();
  };
  const choose = (entry: Entry | undefined): void => setChosenId(entry?.id ?? null);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowDown' ? 1 : event.key === 'ArrowUp' ? -1 : 0;
    if (step !== 0 && entries.length > 0) choose(entries[(chosen + step + entries.length) % entries.length]);
    else if (event.key === 'Enter') run(entries[chosen]);
    else return;
    event.preventDefault();
  };
  const optionId = (index: number): string => `${listId}-${index}`;
  return (
    <Dialog title="Go to…" onClose={onClose}>
      <input
        role="combobox"
        aria-label="A page, something to do, an agent or a request"
        aria-expanded={entries.length > 0}
        aria-controls={listId}
        aria-autocomplete="list"
        aria-activedescendant={chosen < 0 ? undefined : optionId(chosen)}
        placeholder="A page, something to do, an agent, a request"
        autoComplete="off"
        spellcheck={false}
        value={typed}
        onInput={({ currentTarget }) => {
          setTyped(currentTarget.value);
          setChosenId(null);
        }}
        onKeyDown={onKeyDown}
      />
      <div class="palette-list" role="listbox" id={listId} aria-label="What fits" ref={list}>
        {entries.map((entry, index) => (
          <button
            type="button"
            tabIndex={-1}
            key={entry.id}
            id={optionId(index)}
            role="option"
            aria-selected={index === chosen}
            onPointerMove={() => choose(entry)}
            onClick={() => run(entry)}
          >
            <Icon name={entry.icon} />
            <span class="palette-word">
              <PlainText text={entry.word} isShort />
              {entry.detail !== undefined && (
                <span class="palette-detail">
                  <PlainText text={entry.detail} isShort />
                </span>
              )}
            </span>
            <span class="palette-kind">{entry.kind}</span>
          </button>
        ))}
      </div>
      <p class="palette-count" role="status">
        {isLooking ? 'Looking…' : entries.length === 0 ? 'Nothing fits' : `${entries.length} found`}
      </p>
    </Dialog>
  );
}

/** Whether each typed word begins a word of the entry, in any case and order. */
function holds(word: string, typed: string): boolean {
  const inIt = wordsOf(word);
  return wordsOf(typed).every((one) => inIt.some((other) => other.startsWith(one)));
}

function wordsOf(text: string): readonly string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];
}

function useFixedEntries(pages: readonly Page[], onStop: () => void): readonly Entry[] {
  const { session, signOut } = useSession();
  const permissions = session?.permissions ?? {};
  const places = pages.filter(
    ({ menu, access }) => menu !== undefined && (access === 'signed-in' || access in permissions),
  );
  const things: readonly (Omit<Entry, 'id' | 'kind'> & { readonly access: string | null })[] = [
    { word: 'Register an agent', icon: 'plus', access: 'agents.register', run: () => go('/agents/new') },
    {
      word: 'Invite someone',
      icon: 'plus',
      access: 'people.invite',
      run: () => go('/access?tab=invitations'),
    },
    { word: 'Stop agents with the kill switch', icon: 'stop', access: 'kill-switches.use', run: onStop },
    {
      word: 'Your account: password, codes, passkeys, tokens',
      icon: 'person',
      access: null,
      run: () => go('/account'),
    },
    { word: 'Sign out', icon: 'signOut', access: null, run: () => void signOut() },
  ];
  return [
    ...places.map(({ pattern, title, menu }) => ({
      id: pattern,
      icon: menu?.icon ?? 'right',
      word: title,
      kind: 'page',
      run: () => go(pattern),
    })),
    ...things
      .filter(({ access }) => access === null || permissions[access] === 'yes')
      .map(({ word, icon, run }) => ({ id: word, word, icon, run, kind: 'do' })),
  ];
}

const foundMax = '6';
const typingMs = 150;

/** Agents and requests that contain the typed text, searched once typing pauses. */
function useMatches(typed: string): { readonly entries: readonly Entry[]; readonly isLooking: boolean } {
  const text = useRested(typed.trim());
  const query = { query: { text, limit: foundMax } };
  const mayAgents = useGrant('agents.view') !== 'no' && text !== '';
  const mayRequests = useGrant('requests.view') !== 'no' && text !== '';
  const agents = useResource('listAgents', mayAgents ? query : null);
  const requests = useResource('listRequests', mayRequests ? query : null);
  const killSwitches = useKillSwitches().data?.items ?? [];
  const ofAgents = (mayAgents ? agents.data?.items : null) ?? [];
  const ofRequests = (mayRequests ? requests.data?.items : null) ?? [];
  const all: Entry = {
    id: 'all requests',
    icon: 'search',
    word: `Search all requests for “${text}”`,
    kind: 'search',
    run: () => go(`/requests?text=${encodeURIComponent(text)}`),
  };
  return {
    isLooking: text !== typed.trim() || agents.isLoading || requests.isLoading,
    entries: [
      ...ofAgents.map((agent) => ({
        id: agent.id,
        icon: 'agent' as const,
        word: agent.name,
        detail: agentDetail(agent, killSwitches),
        kind: 'agent',
        run: () => go(`/agents/${agent.id}`),
      })),
      ...ofRequests.map((request) => ({
        id: request.request_id,
        icon: 'list' as const,
        word: request.title === '' ? request.action_key : request.title,
        detail: requestDetail(request),
        kind: 'request',
        run: () => go(`/requests/${request.request_id}`),
      })),
      ...(mayRequests ? [all] : []),
    ],
  };
}

type FoundAgent = Reply<'listAgents'>['items'][number];
type FoundRequest = Reply<'listRequests'>['items'][number];

/** "Stopped by Kim Kay: pays twice", or "Active, high risk, of Kim Kay". */
function agentDetail(agent: FoundAgent, killSwitches: readonly KillSwitch[]): string {
  const { status, risk_tier: tier, control_owner: address, control_owner_name: name } = agent;
  const stop = status === 'active' ? killSwitchFor(agent, killSwitches) : null;
  if (stop !== null) return `Stopped by ${stop.created_by_name}: ${stop.reason}`;
  return `${statusWord(status)}, ${tier} risk, ${ownerWords({ address, name })}`;
}

/** "treasury-bot, 29 Nov 2026, 12:03, Pending: two people decide on large payments". */
function requestDetail({ agent, created_at: at, status, decision, reason }: FoundRequest): string {
  const name = typeof agent.name === 'string' ? `${agent.name}, ` : '';
  return `${name}${minuteTime.format(Date.parse(at))}, ${statusWord(status, decision)}: ${reason}`;
}

function useRested(text: string): string {
  const [rested, setRested] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setRested(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return rested;
}
