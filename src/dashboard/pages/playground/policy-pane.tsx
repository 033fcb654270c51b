// The copy of the policies: the open file in the editor, all diagnostics, and below it the draft, its diff or its replay.

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useGrant } from '../../api/session.tsx';
import type { PolicyAnswers } from '../../editor/editor.ts';
import { EditorBox, EditorHint } from '../../editor/editor-box.tsx';
import { openPolicyWorker, type PolicyWorker } from '../../editor/policy-worker.ts';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import type { FindingWays } from '../../parts/diff/finding.tsx';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, Note } from '../../parts/layout/note.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { DiagnosticList } from './diagnostic-list.tsx';
import { DiffView } from './diff-view.tsx';
import { DraftView, OtherDraft } from './draft-view.tsx';
import { type Fix, markDiagnostics, type PolicyDiagnostic } from './marks.ts';
import { NewFileDialog } from './new-file.tsx';
import type { Target } from './playground.tsx';
import { daysText } from './replay/replay-labels.ts';
import { ReplayView } from './replay/replay-view.tsx';
import { type ReplayState, useReplay } from './replay/use-replay.ts';
import type { PlaygroundState } from './use-playground.ts';
import { useSavedDraft } from './use-saved-draft.ts';
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
  const { query } = useAddress();
  const view = query.get('view');
  const replaying = useReplay(playground.changes, playground.digest ?? '');
  const saved = useSavedDraft();
  return (
    <>
      <Section
        title="Policies"
        actions={<PolicyActions playground={playground} view={view} replaying={replaying} />}
      >
        {!playground.isKept && (
          <Note icon="warning" tone="escalate">
            Your changes cannot be kept in this window: reloading the page loses them.
          </Note>
        )}
        {view !== 'changes' && playground.changes.length === 0 && (
          <OtherDraft playground={playground} saved={saved} />
        )}
        <OpenFile {...props} />
        <DiagnosticList diagnostics={tried?.answer.diagnostics ?? null} onFix={onFix} onGo={onGo} />
      </Section>
      {view === 'changes' && (
        <ViewSection title="My draft">
          <DraftView playground={playground} saved={saved} tried={tried} />
        </ViewSection>
      )}
      {view === 'diff' && (
        <ViewSection title="Compared with the active policies">
          <DiffView changes={playground.changes} digest={playground.digest} ways={ways} />
        </ViewSection>
      )}
      {view === 'replay' && (
        <ViewSection title="On recorded requests">
          <ReplayView replaying={replaying} ways={ways} />
        </ViewSection>
      )}
    </>
  );
}

/** A view below the editor, which stays; it scrolls into sight when it opens. */
function ViewSection({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  const frame = useRef<HTMLDivElement>(null);
  useEffect(() => frame.current?.scrollIntoView({ block: 'nearest' }), []);
  return (
    <div class="playground-view" ref={frame}>
      <Section
        title={title}
        actions={
          <Button
            variant="quiet"
            icon="close"
            label={`Close: ${title}`}
            onClick={() => setQuery({ view: null }, { replace: true })}
          />
        }
      >
        {children}
      </Section>
    </div>
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
        <select value={path} onChange={({ currentTarget }) => setQuery({ file: currentTarget.value })}>
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
        My draft ({changes.length})
      </ViewButton>
      <ViewButton name="diff" view={view}>
        Compare with active
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
            setQuery({ file: name });
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

/** Shows or hides a view below the editor. */
function ViewButton({ name, view, onShow, children }: ViewButtonProps) {
  const isShown = view === name;
  return (
    <Button
      aria-pressed={isShown}
      variant={isShown ? 'primary' : 'plain'}
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
