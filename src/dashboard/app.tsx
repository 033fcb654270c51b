// Shows what belongs to the current address: a public page, the sign-in, or a page in the frame. INVARIANT: a
// page is shown only to people whose roles grant it; the service itself refuses everything else.

import type { ComponentType } from 'preact';
import { useEffect, useErrorBoundary, useState } from 'preact/hooks';
import { useReachable } from './api/connection.ts';
import { SessionProvider, useSession } from './api/session.tsx';
import { matchPath, useAddress } from './navigation/navigation.ts';
import type { PageProps } from './navigation/page-props.ts';
import { pages } from './pages.ts';
import { Button } from './parts/layout/button.tsx';
import { Empty, Loading, Note, ProblemNote } from './parts/layout/note.tsx';
import { PageFrame } from './parts/layout/page.tsx';
import { Toasts } from './parts/layout/toast.tsx';
import { Layout } from './shell/layout.tsx';
import type { Page } from './shell/page.ts';
import { DemoBanner } from './shell/sign-in.tsx';
import { SignInWays } from './shell/sign-in-ways.tsx';

export function App() {
  return (
    <>
      <SessionProvider
        whileLooking={<Loading label="Writ is loading" />}
        failed={(problem, retry) => <NotReached problem={problem} onRetry={retry} />}
      >
        <Here />
      </SessionProvider>
      <Toasts />
    </>
  );
}

function Here() {
  const { session } = useSession();
  const { path } = useAddress();
  const match = findPage(path);
  if (match?.page.access === 'public') {
    return (
      <main class="alone">
        <DemoBanner />
        <LoadedPage key={match.page.pattern} {...match} />
      </main>
    );
  }
  if (session === null) return <SignIn />;
  return (
    <Layout pages={pages}>
      {match === null ? (
        <NotThere />
      ) : mayView(match.page, session.permissions) ? (
        <LoadedPage key={match.page.pattern} {...match} />
      ) : (
        <NotAllowed />
      )}
    </Layout>
  );
}

function NotReached({ problem, onRetry }: { readonly problem: unknown; readonly onRetry: () => void }) {
  return (
    <main class="alone">
      <div class="alone-card">
        <PageFrame title="Writ is not responding">
          <ProblemNote problem={problem} onRetry={onRetry} />
        </PageFrame>
      </div>
    </main>
  );
}

interface PageMatch {
  readonly page: Page;
  readonly params: Readonly<Record<string, string>>;
}

function findPage(path: string): PageMatch | null {
  for (const page of pages) {
    const params = matchPath(page.pattern, path);
    if (params !== null) return { page, params };
  }
  return null;
}

function mayView({ access }: Page, permissions: Readonly<Record<string, unknown>>): boolean {
  return access === 'signed-in' || access in permissions;
}

const loaded = new Map<Page, ComponentType<PageProps>>();

/** An error in a page removes that page and nothing else. */
function LoadedPage(match: PageMatch) {
  const [fault] = useErrorBoundary((error) => console.error(error));
  if (fault !== undefined) return <PageFailed />;
  return <WantedPage {...match} />;
}

function PageFailed() {
  return (
    <PageFrame title="Something went wrong in this page">
      <Note tone="deny" icon="warning">
        <p>Nothing was changed. Reload the page, or open another page from the menu.</p>
      </Note>
      <div>
        <Button icon="refresh" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </div>
    </PageFrame>
  );
}

function WantedPage({ page, params }: PageMatch) {
  const [state, setState] = useState<{ readonly page: Page; readonly problem: unknown } | null>(null);
  const [tries, setTries] = useState(0);
  const Component = loaded.get(page);
  useEffect(() => {
    if (loaded.has(page)) return;
    let isWanted = true;
    const tell = (problem: unknown): void => {
      if (isWanted) setState({ page, problem });
    };
    page.load().then((module) => {
      loaded.set(page, module.default);
      tell(null);
    }, tell);
    return () => {
      isWanted = false;
    };
  }, [page, tries]);
  // Another request or agent is another page: nothing of the page before may stay.
  if (Component !== undefined)
    return <Component key={`${page.pattern} ${Object.values(params).join(' ')}`} params={params} />;
  const hasFailed = state?.page === page && state.problem !== null;
  return hasFailed ? <LoadFailed onRetry={() => setTries(tries + 1)} /> : <Loading />;
}

/**
 * Browsers may remember that a module failed to load and never fetch it again, unless the whole page is
 * reloaded.
 */
function LoadFailed({ onRetry }: { readonly onRetry: () => void }) {
  const reachable = useReachable();
  const retry = reachable === 'yes' ? () => window.location.reload() : onRetry;
  return (
    <PageFrame title="This page could not be loaded">
      <ProblemNote problem={new Error('not loaded')} onRetry={retry} />
      <p>The service may have been updated since you opened it.</p>
      <div>
        <Button icon="refresh" onClick={() => window.location.reload()}>
          Reload
        </Button>
      </div>
    </PageFrame>
  );
}

function SignIn() {
  return (
    <main class="alone">
      <DemoBanner />
      <div class="alone-card">
        <p class="alone-brand">
          <img src="/icon.svg" alt="" width="28" height="28" /> Writ
        </p>
        <PageFrame title="Sign in">
          <SignInWays />
        </PageFrame>
      </div>
    </main>
  );
}

function NotThere() {
  return (
    <PageFrame title="Nothing here">
      <Empty icon="search" title="Page not found">
        <p>
          The address may be mistyped. <a href="/">Go to the start page</a>.
        </p>
      </Empty>
    </PageFrame>
  );
}

function NotAllowed() {
  return (
    <PageFrame title="Not for your roles">
      <Empty icon="key" title="Your roles do not include this page">
        An admin can change your roles.
      </Empty>
    </PageFrame>
  );
}
