// A store that reports each change of agents or documents (people, sessions, tokens, kill switches), so that
// code which relies on an earlier read can read again at once. INVARIANT: a change is reported after it
// is durable.

import type { DocumentStore } from '../store/contract/documents.ts';
import type { AgentStore, Store } from '../store/contract/store.ts';

type StorePart = 'agents' | 'documents';

export interface WatchedStore {
  readonly store: Store;
  onChange(listener: (part: StorePart) => void): void;
}

export function watchStore(store: Store): WatchedStore {
  const listeners: ((part: StorePart) => void)[] = [];
  const notify = (part: StorePart) => {
    for (const listener of listeners) listener(part);
  };
  const agents: AgentStore = Object.create(store.agents, {
    ...notifying(store.agents, ['add', 'describe', 'setStatus', 'setSigning', 'rotateKey'], () =>
      notify('agents'),
    ),
  });
  const documents: DocumentStore = Object.create(store.documents, {
    ...notifying(store.documents, ['write', 'removeEnded'], () => notify('documents')),
  });
  return {
    store: Object.create(store, { agents: { value: agents }, documents: { value: documents } }),
    onChange: (listener) => void listeners.push(listener),
  };
}

/** Methods that call those of `target`, and then `notify`. */
function notifying<T extends object>(target: T, names: readonly (keyof T & string)[], notify: () => void) {
  const wrapped =
    (name: keyof T & string) =>
    async (...args: unknown[]) => {
      const result = await (target[name] as (...args: unknown[]) => Promise<unknown>)(...args);
      notify();
      return result;
    };
  return Object.fromEntries(names.map((name) => [name, { value: wrapped(name) }]));
}
