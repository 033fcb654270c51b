// A new key of an agent or an enforcement point, shown only this once, with the few lines that ask for a first
// decision with it: by a shell, a program, a proxy or a hook.

import { useId, useMemo, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { Loading } from '../layout/note.tsx';
import { CopyText } from '../text/copy.tsx';
import {
  curlLine,
  exportLine,
  hookLines,
  type KnownAction,
  mcpLines,
  pythonLines,
  type SampleRequest,
  type Sender,
  sampleRequest,
  typescriptLines,
} from './first-call.ts';
import '../layout/tabs.css';
import './new-key.css';
import { OneTimeSecret } from './one-time-secret.tsx';

const none: readonly KnownAction[] = [];
const noRequest: SampleRequest = { action_key: '', payload: {} };

/** A request that the active policies know; null until it is found. */
export function useSampleRequest(): SampleRequest | null {
  const { data, problem } = useResource('getVocabulary', {});
  const actions = data?.actions ?? (problem === null ? null : none);
  return useMemo(
    () => (actions === null ? null : sampleRequest(actions, new Date().toISOString().slice(0, 10))),
    [actions],
  );
}

interface NewKeyProps {
  readonly apiKey: string;
  /** Name of the agent or enforcement point that owns the key. */
  readonly name: string;
  /**
   * Id of an agent for which an enforcement point asks; null when it has no agent yet, absent for an agent's
   * own key.
   */
  readonly askedFor?: string | null;
}

export function NewKey({ apiKey, name, askedFor }: NewKeyProps) {
  return (
    <OneTimeSecret title={`The key of ${name}`} label="key" text={apiKey}>
      {askedFor === null ? (
        <p>No agent is assigned yet: assign one to use the key.</p>
      ) : (
        <FirstCall apiKey={apiKey} askedFor={askedFor ?? null} />
      )}
    </OneTimeSecret>
  );
}

function FirstCall({ apiKey, askedFor }: { readonly apiKey: string; readonly askedFor: string | null }) {
  const request = useSampleRequest();
  const [tab, setTab] = useState<Tab>('curl');
  const id = useId();
  const sender = { key: apiKey, ...(askedFor === null ? {} : { askedFor }) };
  // The proxy and the hook ask as the agent whose key they have.
  const offered = tabNames.filter((name) => askedFor === null || tabs[name].isForPoints);
  const { word, before, text, needsKey } = tabs[tab];
  // The proxy and the hook need no request.
  const lines =
    request === null && tabs[tab].isForPoints
      ? null
      : text(window.location.origin, sender, request ?? noRequest);
  return (
    <>
      <p id={id}>Request a decision with it:</p>
      <div class="tabs" role="tablist" aria-labelledby={id}>
        {offered.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`${id}-${name}`}
            aria-selected={name === tab}
            aria-controls={`${id}-panel`}
            tabIndex={name === tab ? 0 : -1}
            onClick={() => setTab(name)}
            onKeyDown={(event) => {
              const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
              if (step === undefined) return;
              event.preventDefault();
              const next = offered[(offered.indexOf(tab) + step + offered.length) % offered.length];
              if (next === undefined) return;
              setTab(next);
              document.getElementById(`${id}-${next}`)?.focus();
            }}
          >
            {tabs[name].word}
          </button>
        ))}
      </div>
      <div role="tabpanel" class="new-key-panel" id={`${id}-panel`} aria-labelledby={`${id}-${tab}`}>
        {lines === null ? (
          <Loading label="Preparing the command" lines={3} />
        ) : (
          <>
            {before !== null && <p>{before}</p>}
            {needsKey && <CopyText text={exportLine(apiKey)} label="export line" />}
            <CopyText text={lines} label={`${word} lines`} />
          </>
        )}
      </div>
    </>
  );
}

interface TabContent {
  readonly word: string;
  /** What has to be there first; null for nothing. */
  readonly before: string | null;
  /** Whether the text reads the key from the environment. */
  readonly needsKey: boolean;
  readonly isForPoints: boolean;
  readonly text: (url: string, sender: Sender, request: SampleRequest) => string;
}

const tabs = {
  curl: { word: 'curl', before: null, needsKey: false, isForPoints: true, text: curlLine },
  typescript: {
    word: 'TypeScript',
    before: 'The client is part of the package writ.',
    needsKey: true,
    isForPoints: true,
    text: typescriptLines,
  },
  python: {
    word: 'Python',
    before: 'The client is the module writ.',
    needsKey: true,
    isForPoints: true,
    text: pythonLines,
  },
  mcp: {
    word: 'MCP',
    before: 'A proxy asks before each tool of an MCP server, here the filesystem server.',
    needsKey: true,
    isForPoints: false,
    text: mcpLines,
  },
  hooks: {
    word: 'Claude Code hooks',
    before: 'A hook asks before each tool of Claude Code.',
    needsKey: true,
    isForPoints: false,
    text: hookLines,
  },
} as const satisfies Readonly<Record<string, TabContent>>;

type Tab = keyof typeof tabs;
const tabNames = Object.keys(tabs) as readonly Tab[];
