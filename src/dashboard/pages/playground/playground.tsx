// The playground: a copy of the policies to change, a request, and the copy's decision on it, updated while
// the person types. INVARIANT: nothing is granted or recorded; the copy belongs to this window, and the
// draft that it is saved as belongs to its person alone.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { type ReadJson, readJson } from '../../editor/json-positions.ts';
import { type LineRange, rangeOf } from '../../editor/text-positions.ts';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import type { CaseRequest } from '../../parts/diff/test-case.ts';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import { Answer } from './answer.tsx';
import { findRule } from './find-rule.ts';
import { type Fix, fixedFiles, problemIssues } from './marks.ts';
import './playground.css';
import { PolicyPane } from './policy-pane.tsx';
import { RequestPane } from './request-pane.tsx';
import { type PlaygroundState, usePlayground } from './use-playground.ts';
import { type TryBody, type TryState, useTry } from './use-try.ts';

export default function Playground() {
  const playground = usePlayground();
  const { looks, digest } = playground;
  return (
    <PageFrame
      title="Playground"
      lead="Change a copy of the policies and see immediately how a request is decided. Nothing is granted or recorded, and a draft is never active."
    >
      {looks.map(({ problem, reload }, index) => (
        <ProblemNote key={index} problem={problem} onRetry={reload} />
      ))}
      {digest === null ? (
        looks.every(({ problem }) => problem === null) && (
          <Loading label="The policies are loading" lines={12} />
        )
      ) : (
        <PlaygroundPanes playground={playground} />
      )}
    </PageFrame>
  );
}

function PlaygroundPanes({ playground }: { readonly playground: PlaygroundState }) {
  const { query } = useAddress();
  const requestId = query.get('request');
  const read = useMemo(() => readJson(playground.request), [playground.request]);
  const isReady = requestId !== null || !playground.isRequestLoading;
  const trying = useTry(isReady ? bodyOf(playground, { requestId, read }) : null, playground.digest ?? '');
  const { tried, decided, problem, isOfNow } = trying;
  const issues = useMemo(
    () => (problem === null ? (tried?.answer.issues ?? []) : problemIssues(problem)),
    [tried, problem],
  );
  const { target, goToPlace, goToRule } = useWays(playground, decided?.decision?.matched_policy ?? null);
  const applyFix = useFixes(playground, isOfNow);
  const tryWritten = (request: object): void => {
    if (requestId !== null) setQuery({ request: null });
    playground.setRequest(`${JSON.stringify(request, null, 2)}\n`);
    showToast('The request is in the editor');
  };
  return (
    <div class="playground">
      <div class="playground-panes">
        <PolicyPane
          playground={playground}
          tried={tried}
          target={target}
          onFix={applyFix}
          onGo={goToPlace}
          ways={{
            sides: { old: 'Active', new: 'In your copy' },
            onTry: tryWritten,
            onLine: (file, line) => goToPlace({ file, line, column: 1, end_line: line, end_column: 1 }),
          }}
        />
        <RequestPane playground={playground} requestId={requestId} read={read} issues={issues} />
      </div>
      <Answer
        trying={trying}
        issues={issues}
        hasFault={isReady && requestId === null && read.fault !== null}
        onRule={goToRule}
        written={
          requestId === null && read.fault === null && decided !== null
            ? { request: read.value as unknown as CaseRequest, file: playground.path }
            : null
        }
        clauses={{
          clauses: tried?.answer.guarantees ?? [],
          onPlace: goToPlace,
          onTry: tryWritten,
        }}
      />
    </div>
  );
}

interface RequestQuery {
  readonly requestId: string | null;
  readonly read: ReadJson;
}

function bodyOf({ changes, request }: PlaygroundState, { requestId, read }: RequestQuery): TryBody {
  const files = changes.map(({ path, text }) => ({ path, text }));
  if (requestId !== null) return { files, request_id: requestId };
  if (request.trim() === '' || read.fault !== null) return { files };
  // The service checks whether the value is a request, place by place.
  return { files, request: read.value as NonNullable<TryBody['request']> };
}

/** Applies the fixes that diagnostics offer. */
function useFixes(playground: PlaygroundState, isOfNow: TryState['isOfNow']): (fix: Fix) => void {
  const latest = useRef({ playground, isOfNow });
  latest.current = { playground, isOfNow };
  return (fix) => {
    const { textOf, setText } = latest.current.playground;
    const fixed = fixedFiles(fix, textOf);
    const [edit] = fix.edits;
    // The places of a fix refer to the text that the answer was about.
    if (!latest.current.isOfNow) showToast('The text has changed; the new answer is loading');
    else if (fixed === null) {
      setQuery({ file: edit?.file ?? null });
      showToast('The file is being opened; apply it again then');
    } else {
      for (const { path, text } of fixed) setText(path, text);
      showToast(`Applied: ${fix.title}`);
    }
  };
}

/** Moves from the answer to its places in the files. */
function useWays({ path, paths, textOf, isUntouched }: PlaygroundState, decidedBy: string | null) {
  const { query } = useAddress();
  const { target, goTo } = useTargets(path, textOf(path));
  // Only the first page of policies is searched.
  const { data } = useResource('getPolicies', { query: { limit: '200' } }, ['policies']);
  const fileOf = (policy: string): string | undefined =>
    data?.items.find(({ name }) => name === policy)?.file;
  const isOpening = (query.has('request') || isUntouched) && !query.has('file');
  const firstFile = isOpening ? fileOf(decidedBy ?? '') : undefined;
  const linkedLines = placeAsked(query);
  useEffect(() => {
    // A text that failed to become active is loaded first.
    if (linkedLines === null || query.has('take')) return;
    goTo(path, { range: linkedLines });
    setQuery({ at: null }, { replace: true });
  }, [query]);
  useEffect(() => {
    // Opens the file of the first decision once; a file that is open stays open, whatever decides later.
    if (firstFile !== undefined) setQuery({ file: firstFile }, { replace: true });
  }, [firstFile]);
  const open = (file: string): void => setQuery({ file });
  return {
    target,
    goToPlace: (range: LineRange & { readonly file: string }): void => {
      open(range.file);
      goTo(range.file, { range });
    },
    goToRule: (rule: string): void => {
      const holder = paths.find((one) => findRule(textOf(one) ?? '', rule) !== null);
      const file = holder ?? fileOf(rule.split('/')[0] ?? '');
      if (file === undefined) return;
      open(file);
      goTo(file, { rule });
    },
  };
}

/** `at=12:5`: the line and column that a link leads to; null when there are none. */
function placeAsked(query: URLSearchParams): LineRange | null {
  const [, line, column] = /^(\d{1,9}):(\d{1,9})$/.exec(query.get('at') ?? '') ?? [];
  if (line === undefined) return null;
  const [at, from] = [Number(line), Number(column)];
  return { line: at, column: from, end_line: at, end_column: from };
}

/** A place to move to; a new object with the same place moves there again. */
export interface Target {
  readonly at: number;
}

export type EditorTarget = { readonly range: LineRange } | { readonly rule: string };

export function useTargets(path: string, text: string | null) {
  const [pendingTarget, setPendingTarget] = useState<{
    readonly path: string;
    readonly what: EditorTarget;
  } | null>(null);
  const [target, setTarget] = useState<(Target & { readonly path: string }) | null>(null);
  useEffect(() => {
    if (pendingTarget === null || pendingTarget.path !== path || text === null) return;
    const { what } = pendingTarget;
    const at = 'rule' in what ? findRule(text, what.rule) : rangeOf(text, what.range).from;
    setTarget(at === null ? null : { at, path });
    setPendingTarget(null);
  }, [pendingTarget, path, text]);
  return {
    target: target?.path === path ? target : null,
    goTo: (to: string, what: EditorTarget): void => setPendingTarget({ path: to, what }),
  };
}
