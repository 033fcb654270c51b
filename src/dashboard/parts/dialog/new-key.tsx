// A new key of an agent, shown this once, with a line for the shell that asks for a first decision with it.

import { useMemo } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { Loading } from '../layout/note.tsx';
import { CopyText } from '../text/copy.tsx';
import { curlLine, type KnownAction, type SampleRequest, sampleRequest } from './first-call.ts';
import { ShownOnce } from './shown-once.tsx';

const none: readonly KnownAction[] = [];

/** A request that the policies in force know; null until it is found. */
export function useSampleRequest(): SampleRequest | null {
  const { data, problem } = useResource('getVocabulary', {});
  const actions = data?.actions ?? (problem === null ? null : none);
  return useMemo(
    () => (actions === null ? null : sampleRequest(actions, new Date().toISOString().slice(0, 10))),
    [actions],
  );
}

export function NewKey({ apiKey, name }: { readonly apiKey: string; readonly name: string }) {
  const request = useSampleRequest();
  return (
    <ShownOnce title={`The key of ${name}`} label="key" text={apiKey}>
      <p>Ask for a decision with it:</p>
      {request === null ? (
        <Loading label="Preparing the command" lines={3} />
      ) : (
        <CopyText text={curlLine(window.location.origin, apiKey, request)} label="curl line" />
      )}
    </ShownOnce>
  );
}
