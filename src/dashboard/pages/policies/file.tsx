// A policy file as it was read: its text with linkable lines, and its policies and rules with how often each
// has decided. With `of=failed`, the file that failed to become active is shown with its diagnostics.

import { useEffect } from 'preact/hooks';
import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useAddress } from '../../navigation/navigation.ts';
import { Badge } from '../../parts/layout/badge.tsx';
import { ButtonLink } from '../../parts/layout/button.tsx';
import { Empty, Note } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { PolicySource, type SourceMark } from '../../parts/policy/policy-source.tsx';
import { PlainText } from '../../parts/text/plain-text.tsx';
import { markOf } from './failure.tsx';
import { type FileLocation, fileHref } from './links.ts';
import './policies.css';
import { type LineWindow, lineWindow } from './line-window.ts';

type PolicyFile = Reply<'getPolicyFile'>;

export default function File() {
  const { query, hash } = useAddress();
  const path = query.get('path');
  const isFailed = query.get('of') === 'failed';
  const loaded = useResource(
    'getPolicyFile',
    path === null ? null : { query: { path, ...(isFailed ? { set: 'failed' as const } : {}) } },
    // Once fixed, a failed text is gone from the service, but the page keeps showing it.
    isFailed ? [] : ['policies'],
  );
  const set = useResource('getPolicies', isFailed ? { query: { limit: '1' } } : null, []);
  const failures = set.data?.state.failure?.diagnostics.filter(({ file }) => file === path) ?? [];
  if (path === null) return <NoFile />;
  return (
    <PageFrame
      title={path.split('/').at(-1) ?? path}
      beside={
        isFailed && (
          <Badge tone="deny" icon="warning">
            Failed to load
          </Badge>
        )
      }
      lead={
        <>
          <a href="/policies?tab=files">Policies</a> / <PlainText text={path} isShort />
        </>
      }
      actions={
        !isFailed && (
          <ButtonLink href={`/playground?file=${encodeURIComponent(path)}`} icon="try">
            Try a change
          </ButtonLink>
        )
      }
    >
      <ResourceView resource={loaded} loading="The file is loading" lines={12}>
        {(file) => (
          <FileText
            file={file}
            here={placeIn(file, query, hash)}
            isFailed={isFailed}
            marks={failures.flatMap(markOf)}
          />
        )}
      </ResourceView>
    </PageFrame>
  );
}

function NoFile() {
  return (
    <PageFrame title="Policy file">
      <Empty icon="search" title="The address names no policy file">
        <p>
          Find the files under <a href="/policies?tab=files">Policies</a>.
        </p>
      </Empty>
    </PageFrame>
  );
}

interface LineRange {
  readonly line: number;
  readonly endLine: number;
}

/** The line, rule or policy that the address names; null when it names none. */
function placeIn({ policies }: PolicyFile, query: URLSearchParams, hash: string): LineRange | null {
  const line = Number(/^L(\d{1,7})$/.exec(hash)?.[1] ?? 0);
  if (line > 0) return { line, endLine: line };
  const rule = policies.flatMap(({ rules }) => rules).find(({ id }) => id === query.get('rule'));
  if (rule !== undefined) return { line: rule.line, endLine: rule.end_line };
  const policy = policies.find(({ name }) => name === query.get('policy'));
  return policy === undefined ? null : { line: policy.line, endLine: policy.line };
}

interface FileTextProps {
  readonly file: PolicyFile;
  readonly here: LineRange | null;
  readonly isFailed: boolean;
  readonly marks: readonly SourceMark[];
}

function FileText({ file, here, isFailed, marks }: FileTextProps) {
  const { path, text, is_complete: isWhole, policies } = file;
  const { query } = useAddress();
  const shown = lineWindow(text, here?.line ?? Number(query.get('from') ?? 1));
  const line = here?.line ?? null;
  useEffect(() => {
    if (line !== null) document.getElementById(`L${line}`)?.scrollIntoView({ block: 'center' });
  }, [line]);
  const location: FileLocation = { path, ...(isFailed ? { of: 'failed' } : {}) };
  const shownMarks: readonly SourceMark[] = here === null ? marks : [...marks, { tone: 'here', ...here }];
  return (
    <div class="policies-file">
      <div class="policies-text">
        {!isWhole && <Note icon="warning">The list is longer than what is shown here.</Note>}
        <Pages place={location} shown={shown} />
        <PolicySource
          text={shown.text}
          firstLine={shown.from}
          label={`${path}, lines ${shown.from} to ${shown.to}`}
          marks={shownMarks}
          isPlain={!path.endsWith('.policy')}
          lineHref={(number) => fileHref({ ...location, line: number })}
        />
        <Pages place={location} shown={shown} />
      </div>
      {policies.length > 0 && <Outline place={location} policies={policies} isFailed={isFailed} />}
    </div>
  );
}

function Pages({
  place: location,
  shown: { from, to, count, size },
}: {
  readonly place: FileLocation;
  readonly shown: LineWindow;
}) {
  if (from === 1 && to === count) return null;
  const href = (first: number): string => `${fileHref(location)}&from=${first}`;
  return (
    <nav class="policies-pages" aria-label="Lines">
      {from > 1 && <a href={href(Math.max(1, from - size))}>Lines before</a>}
      <span>
        Lines {from.toLocaleString()} to {to.toLocaleString()} of {count.toLocaleString()}
      </span>
      {to < count && <a href={href(to + 1)}>Lines after</a>}
    </nav>
  );
}

interface OutlineProps {
  readonly place: FileLocation;
  readonly policies: PolicyFile['policies'];
  readonly isFailed: boolean;
}

function Outline({ place: location, policies, isFailed }: OutlineProps) {
  const hits = useResource('getPolicyHits', isFailed ? null : {}, ['policies']);
  const byRule = new Map((hits.data?.items ?? []).map((item) => [`${item.policy}/${item.rule}`, item]));
  return (
    <nav class="policies-outline" aria-label="In this file">
      {!isFailed && (
        <p class="policies-outline-head" aria-hidden="true">
          <span>In this file</span>
          <span>decided</span>
        </p>
      )}
      {policies.map(({ name, doc, rules }) => (
        <section key={name}>
          <h2>
            <a href={fileHref({ ...location, policy: name })}>{name}</a>
          </h2>
          {doc !== null && (
            <p class="policies-help">
              <PlainText text={doc} />
            </p>
          )}
          <ul class="policies-outline-rules">
            {rules.map(({ id }) => {
              const decided = byRule.get(id)?.decided;
              return (
                <li key={id}>
                  <a href={fileHref({ ...location, rule: id })}>{id.split('/').at(-1)}</a>
                  {decided !== undefined && (
                    <span title={`decided ${decided} times`}>
                      <span class="visually-hidden">decided </span>
                      {decided.toLocaleString()}
                      <span class="visually-hidden"> times</span>
                    </span>
                  )}
                </li>
              );
            })}
          </ul>
        </section>
      ))}
    </nav>
  );
}
