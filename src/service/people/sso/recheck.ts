// Asks the provider again, in the background, whether people who signed in by it are still there and in which
// groups. INVARIANT: a session counts only while the provider's last confirmation is younger than five
// minutes (`sessions.ts`): while the provider cannot be asked, the session is suspended; a refusal ends it.
// Of several processes on one store, one asks about each session.

import type { ReadDocument } from '../../store/contract/collection.ts';
import type { SignOn } from '../person.ts';
import type { Provider } from './provider.ts';
import { endSignOn, openToken, personOf, type SsoDeps, sealToken } from './sign-on.ts';

export interface RecheckDeps extends SsoDeps {
  readonly provider: Pick<Provider, 'ask'>;
  /** Called with the error when a session could not be checked; the session is checked again later. */
  readonly onFailure: (error: unknown) => void;
}

export interface Recheck {
  /** Starts checking at regular intervals until closed. */
  start(): void;
  /** Checks all sessions that are due. */
  run(): Promise<void>;
  close(): Promise<void>;
}

const atOnce = 200;
/** Milliseconds after which a process that has claimed a session and not finished is considered gone. */
const claimMs = 30_000;
const everyMsMax = 15_000;

export function createRecheck(deps: RecheckDeps): Recheck {
  let timer: NodeJS.Timeout | null = null;
  let underWay: Promise<void> = Promise.resolve();
  let isClosed = false;
  const run = (): Promise<void> => {
    underWay = underWay.then(() => recheckAll(deps)).catch(deps.onFailure);
    return underWay;
  };
  const schedule = (): void => {
    if (isClosed) return;
    timer = setTimeout(() => void run().then(schedule), Math.min(everyMsMax, deps.settings.recheckMs / 4));
    timer.unref();
  };
  return {
    run,
    start: schedule,
    async close() {
      isClosed = true;
      clearTimeout(timer ?? undefined);
      await underWay;
    },
  };
}

async function recheckAll(deps: RecheckDeps): Promise<void> {
  const { directory, settings, onFailure } = deps;
  for (let after: SignOn | null = null; ; ) {
    const page: readonly ReadDocument<SignOn>[] = await directory.signOns.list({ countMax: atOnce, after });
    const nowMs = directory.clock();
    const due = page.filter(
      ({ value }) =>
        nowMs - value.checkedAtMs >= settings.recheckMs &&
        (value.claimedAtMs <= value.checkedAtMs || nowMs - value.claimedAtMs >= claimMs),
    );
    await Promise.all(due.map((one) => recheck(deps, one).catch(onFailure)));
    if (page.length < atOnce) return;
    after = page.at(-1)?.value ?? null;
  }
}

async function recheck(deps: RecheckDeps, { value, version }: ReadDocument<SignOn>): Promise<void> {
  const { directory, masterKey, provider } = deps;
  const { signOns, documents } = directory;
  const nowMs = Math.trunc(directory.clock());
  if (nowMs >= value.endsAtMs) return;
  // With many providers a refresh token is good only once, so only one process may use it.
  const claimed: SignOn = { ...value, claimedAtMs: nowMs };
  if ((await documents.write([signOns.put(claimed, version)], null)) !== 'changed') return;
  const storedSignOn = await signOns.find(value.id);
  if (storedSignOn === null) return;
  const token = openToken(masterKey, value);
  const isKept = (await directory.sessions.find(value.id)) !== null;
  if (token === null || !isKept) return await endSignOn(directory, storedSignOn, 'no refresh token');
  const answer = await provider.ask(token, value.subject);
  if (answer.kind === 'refused') return await endSignOn(directory, storedSignOn, answer.reason);
  const { refreshToken } = answer;
  const sealedRefreshToken =
    refreshToken === null ? value.sealedRefreshToken : sealToken(masterKey, value.id, refreshToken);
  const put = (checkedAtMs: number) =>
    signOns.put({ ...claimed, sealedRefreshToken, checkedAtMs }, storedSignOn.version);
  if (answer.kind === 'away') return void (await documents.write([put(value.checkedAtMs)], null));
  const person = await personOf(deps, answer.claims);
  if (typeof person === 'string' && person !== 'conflict')
    return await endSignOn(directory, storedSignOn, person);
  // After a conflict the next check decides; until then the last confirmation still counts.
  await documents.write([put(typeof person === 'string' ? value.checkedAtMs : nowMs)], null);
}
