// A new key of an agent or an enforcement point, shown only this once, with a shell command that asks for a
// first decision with it.

import { useMemo } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { Loading } from '../layout/note.tsx';
import { CopyText } from '../text/copy.tsx';
import { curlLine, type KnownAction, type SampleRequest, sampleRequest } from './first-call.ts';
import { ShownOnce } from './shown-once.tsx';

const none: readonly KnownAction[] = [];

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
    <ShownOnce title={`The key of ${name}`} label="key" text={apiKey}>
      {askedFor === null ? (
        <p>It asks for no agent yet: assign one, and it can use the key.</p>
      ) : (
        <FirstCall apiKey={apiKey} askedFor={askedFor ?? null} />
      )}
    </ShownOnce>
  );
}

function FirstCall({ apiKey, askedFor }: { readonly apiKey: string; readonly askedFor: string | null }) {
  const request = useSampleRequest();
  const sender = { key: apiKey, ...(askedFor === null ? {} : { askedFor }) };
  return (
    <>
      <p>Ask for a decision with it:</p>
      {request === null ? (
        <Loading label="Preparing the command" lines={3} />
      ) : (
        <CopyText text={curlLine(window.location.origin, sender, request)} label="curl line" />
      )}
    </>
  );
}
