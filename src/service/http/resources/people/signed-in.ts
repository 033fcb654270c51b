// Makes the reply to a person who has just signed in, or looks up their session. INVARIANT: signing in ends
// the session that the browser held before, whoever started it.

import { isoTime, isoTimeOrNull } from '../../../../language/value/iso-time.ts';
import { createDevice } from '../../../people/device.ts';
import { stepUpFactors } from '../../../people/identity-proof.ts';
import { noticesOf } from '../../../people/notices.ts';
import { grantsOf } from '../../../people/operations.ts';
import type { Actor, Session } from '../../../people/person.ts';
import { csrfToken, type SignedIn, signOut, whoseSession } from '../../../people/sessions.ts';
import type { SignInDeps } from '../../../people/sign-in.ts';
import { cookieOf, setSessionCookies } from '../../auth/identify-person.ts';
import type { ManagedCall } from '../../routing/route.ts';
import { personView } from './person-view.ts';
import { noticeView } from './session-view.ts';

export interface SignedInDeps {
  readonly signInDeps: SignInDeps;
  /** Whether people reach the service by HTTPS; then the cookie is sent by HTTPS only. */
  readonly isSecure: boolean;
  /** The name of the provider of single sign-on; null when none is configured. */
  readonly ssoName: string | null;
  /** Whether a mail server is configured. */
  readonly sendsMail: boolean;
}

/** The reply to a new session. A session that the browser held before ends, no matter who started it. */
export async function signedIn(
  deps: SignedInDeps,
  result: SignedIn,
  exchange: Pick<ManagedCall<unknown>, 'request' | 'reply'>,
): Promise<unknown> {
  await startedInBrowser(deps, result, exchange);
  const { person, session } = result;
  return await sessionReply(deps, { person, roles: person.roles }, session);
}

/** Sets the cookies of a new session, and ends the one that the browser held. */
export async function startedInBrowser(
  { signInDeps, isSecure }: SignedInDeps,
  { person, secret }: SignedIn,
  { request, reply }: Pick<ManagedCall<unknown>, 'request' | 'reply'>,
): Promise<void> {
  const earlier = cookieOf(request);
  const held = earlier === null ? null : await whoseSession(signInDeps, earlier);
  if (held !== null) await signOut(signInDeps, held.session);
  setSessionCookies(reply, { secret, device: createDevice(signInDeps.masterKey, person) }, isSecure);
}

export async function sessionReply(
  { signInDeps, sendsMail }: Pick<SignedInDeps, 'signInDeps' | 'sendsMail'>,
  actor: Actor,
  session: Session | null,
) {
  const factors = await stepUpFactors(signInDeps, actor.person);
  const notices = session === null ? [] : await noticesOf(signInDeps.directory, actor.person);
  return {
    person: personView(actor.person),
    roles: [...actor.roles],
    permissions: grantsOf(actor.roles),
    csrf_token: session === null ? null : csrfToken(signInDeps, session),
    ends_at: session === null ? null : isoTime(session.endsAtMs),
    notices: notices.map(noticeView),
    step_up: {
      codes_from: isoTimeOrNull(factors.codesFromMs),
      passkey_from: isoTimeOrNull(factors.passkeyFromMs),
      new_for_seconds: signInDeps.newFactorMs / 1000,
    },
    sends_mail: sendsMail,
  };
}
