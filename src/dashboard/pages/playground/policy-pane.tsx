// The copy of the policies: the open file in the editor, all diagnostics, and the changes against the active
// policies.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { useGrant } from '../../api/session.tsx';
import type { PolicyAnswers } from '../../editor/editor.ts';
import { EditorBox, EditorHint } from '../../editor/editor-box.tsx';
import { openPolicyWorker, type PolicyWorker } from '../../editor/policy-worker.ts';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import { DiffResult } from '../../parts/diff/diff-result.tsx';
import { countsText, type DiffReply } from '../../parts/diff/diff-words.ts';
import type { FindingWays } from '../../parts/diff/finding.tsx';
import type { AnswerState } from '../../parts/diff/use-answer.ts';
import { type ChangedFiles, useDiff } from '../../parts/diff/use-diff.ts';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { ChangeList } from './change-list.tsx';
import { DiagnosticList } from './diagnostic-list.tsx';
import { type Fix, markDiagnostics, type PolicyDiagnostic } from './marks.ts';
import { NewFileDialog } from './new-file.tsx';
import type { Target } from './playground.tsx';
import { ReplayView } from './replay/replay-view.tsx';
import { daysText } from './replay/replay-words.ts';
import { type ReplayState, useReplay } from './replay/use-replay.ts';
import type { PlaygroundState } from './use-playground.ts';
import type { TryState } from './use-try.ts';

interface PolicyPaneProps {
  readonly playground: PlaygroundState;
  readonly tried: TryState['tried'];
  readonly target: Target | null;
  readonly onFix: (fix: Fix) => void;
  readonly onGo: (diagnostic: PolicyDiagnostic) => void;
  readonly ways: FindingWays;
}

const noDiagnostics: readonly PolicyDiagnostic[] = [];

export function PolicyPane(props: PolicyPaneProps) {
  const { playground, tried, onFix, onGo, ways } = props;
  const { query } = usePlace();
  const view = query.get('view');
  const replaying = useReplay(playground.changes, playground.digest ?? '');
  return (
    <Section
      title="Policies"
      actions={<PolicyActions playground={playground} view={view} replaying={replaying} />}
    >
      {!playground.isKept && (
        <Note icon="warning" tone="escalate">
          Your changes cannot be kept in this window: reloading the page loses them.
        </Note>
      )}
      {view === 'changes' ? (
        <ChangeList playground={playground} />
      ) : view === 'diff' ? (
        <DiffView changes={playground.changes} digest={playground.digest} ways={ways} />
      ) : view === 'replay' ? (
        <ReplayView replaying={replaying} ways={ways} />
      ) : (
        <OpenFile {...props} />
      )}
      <DiagnosticList diagnostics={tried?.answer.diagnostics ?? noDiagnostics} onFix={onFix} onGo={onGo} />
    </Section>
  );
}

function PolicyActions({
  playground,
  view,
  replaying,
}: {
  readonly playground: PlaygroundState;
  readonly view: string | null;
  readonly replaying: ReplayState;
}) {
  const mayReplay = useGrant('policies.replay') === 'yes';
  const { progress, answer, start } = replaying;
  const { paths, path, changes, setText } = playground;
  const [isNaming, setNaming] = useState(false);
  const changed = new Set(changes.map((change) => change.path));
  return (
    <div class="playground-bar playground-files">
      <Field label="File">
        <select
          value={path}
          onChange={({ currentTarget }) => setQuery({ file: currentTarget.value, view: null })}
        >
          {paths.map((one) => (
            <option key={one} value={one}>
              {changed.has(one) ? `${one} (changed)` : one}
            </option>
          ))}
        </select>
      </Field>
      <Button icon="plus" onClick={() => setNaming(true)}>
        New file
      </Button>
      <ViewButton name="changes" view={view}>
        My changes ({changes.length})
      </ViewButton>
      <ViewButton name="diff" view={view}>
        Diff
      </ViewButton>
      {mayReplay && (
        <ViewButton
          name="replay"
          view={view}
          // Shows an earlier run first, if there is one, and starts none.
          onShow={() => progress === null && answer === null && start()}
        >
          Run on the {daysText(replaying.days)}
        </ViewButton>
      )}
      {isNaming && (
        <NewFileDialog
          taken={paths}
          onClose={() => setNaming(false)}
          onName={(name) => {
            setText(name, newFileText);
            setQuery({ file: name, view: null });
          }}
        />
      )}
    </div>
  );
}

interface ViewButtonProps {
  readonly name: string;
  readonly view: string | null;
  readonly onShow?: () => unknown;
  readonly children: ComponentChildren;
}

/** Switches between a view and the editor in the same place. */
function ViewButton({ name, view, onShow, children }: ViewButtonProps) {
  const isShown = view === name;
  return (
    <Button
      aria-pressed={isShown}
      look={isShown ? 'primary' : 'plain'}
      onClick={() => {
        if (!isShown) onShow?.();
        setQuery({ view: isShown ? null : name }, { replace: true });
      }}
    >
      {children}
    </Button>
  );
}

const newFileText = '# What this policy is for.\n';

function OpenFile({ playground, tried, target, onFix }: PolicyPaneProps) {
  const { path, texts, active, textOf, setText } = playground;
  const isPolicy = path.endsWith('.policy');
  const policy = usePolicyWorker(playground, path);
  const text = textOf(path);
  const base = active.includes(path) ? texts.byPath.get(path) : undefined;
  const answered = tried?.of.files?.find((one) => one.path === path)?.text ?? base?.text ?? '';
  const marks = useMemo(() => {
    const own = (tried?.answer.diagnostics ?? noDiagnostics).filter(({ file }) => file === path);
    const items = markDiagnostics(answered, own).map(({ fix, ...mark }) => ({
      ...mark,
      fix: fix === null ? null : { title: fix.title, apply: () => onFix(fix) },
    }));
    return { text: answered, items };
    // `onFix` always applies a fix in the same way, so it is not a dependency.
  }, [answered, tried, path]);
  if (path === '')
    return (
      <Empty icon="policy" title="There is no policy file yet">
        Start with a new file. What you write here grants and refuses nothing.
      </Empty>
    );
  if (text === null) return <Loading label="The file is loading" lines={10} />;
  if (base?.isWhole === false)
    return (
      <Note icon="warning">This list is too long to be edited here; the active policies use all of it.</Note>
    );
  return (
    <div class="playground-policy">
      <EditorBox
        key={path}
        text={text}
        marks={marks}
        target={target}
        label={path}
        language={isPolicy ? 'policy' : 'plain'}
        policy={isPolicy ? policy : null}
        onChange={(next) => setText(path, next)}
        complete={(whole, at, isAsked) =>
          isPolicy && policy !== null ? policy.complete(whole, at, isAsked) : null
        }
      />
      <EditorHint isPolicy={isPolicy} />
    </div>
  );
}

/** Null until the worker is ready; a new object when other files or words are known. */
function usePolicyWorker(playground: PlaygroundState, path: string): PolicyAnswers | null {
  const [worker, setWorker] = useState<PolicyWorker | null>(null);
  useEffect(() => {
    const opened = openPolicyWorker();
    setWorker(opened);
    return opened.close;
  }, []);
  const { vocabulary, changes, texts, paths, textOf } = playground;
  // Each question carries the text of the open file, so its changes need not be sent.
  const others = JSON.stringify(changes.filter((change) => change.path !== path));
  return useMemo(() => {
    if (worker === null || vocabulary === null) return null;
    const files = paths
      .filter((one) => one.endsWith('.policy'))
      .flatMap((one) => {
        const text = textOf(one);
        return text === null ? [] : [{ path: one, text }];
      });
    worker.take({ words: vocabulary, files });
    return {
      complete: (text, at, isAsked) => worker.ask('complete', { path, text, at, isAsked }),
      colours: (text) => worker.ask('colours', { path, text }),
      hover: (text, at) => worker.ask('hover', { path, text, at }),
      format: (text) => worker.ask('format', { path, text }),
    };
  }, [worker, vocabulary, path, others, texts.byPath]);
}

// Which requests the copy decides differently from the active policies, the loosest first, and what is proved
// of all other requests.

export interface DiffViewProps {
  readonly ways: FindingWays;
  /** Files of the copy that differ from the active policies. */
  readonly changes: ChangedFiles;
  /** Digest of the active policies. */
  readonly digest: string | null;
}

function DiffView({ changes, digest, ways }: DiffViewProps) {
  const computing = useDiff(changes, digest ?? '');
  if (changes.length === 0)
    return (
      <Empty icon="policy" title="No changes yet">
        Change a file to see here which requests would be decided otherwise.
      </Empty>
    );
  const { answer, problem, retry } = computing;
  return (
    <div class="diff">
      <p role="status">{statusOf(computing)}</p>
      <ProblemNote problem={problem} onRetry={retry} />
      {problem?.code === 'playground_failed' && (
        <Note icon="clock">
          On the command line <code>writ diff</code> has no time limit.
        </Note>
      )}
      {answer === null && problem === null && <Loading label="The diff is being computed" lines={5} />}
      {answer?.diff != null && <DiffResult diff={answer.diff} requests={answer.requests} ways={ways} />}
    </div>
  );
}

function statusOf({ answer, problem }: AnswerState<DiffReply>): string {
  if (problem !== null) return 'There is no diff.';
  if (answer === null) return 'The diff with the active policies is being computed…';
  if (answer.diff === null) return 'There is no diff while the policies have errors. They are listed below.';
  return countsText(answer.diff);
}
