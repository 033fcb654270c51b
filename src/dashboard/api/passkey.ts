// The browser's side of passkeys: passes the service's question to the authenticator and returns the answer.
// The library is loaded on demand.

import { ApiProblem } from './problem.ts';

type JsonObject = Readonly<Record<string, unknown>>;

/** Throws an ApiProblem when the person, the browser or the authenticator gives no answer. */
export async function answerPasskey(options: JsonObject): Promise<JsonObject> {
  const { startAuthentication } = await import('@simplewebauthn/browser');
  const optionsJSON = options as unknown as Parameters<typeof startAuthentication>[0]['optionsJSON'];
  return (await startAuthentication({ optionsJSON }).catch(noAnswer)) as unknown as JsonObject;
}

/**
 * Makes a new passkey. Throws an ApiProblem when the person, the browser or the authenticator gives no
 * answer.
 */
export async function makePasskey(options: JsonObject): Promise<JsonObject> {
  const { startRegistration } = await import('@simplewebauthn/browser');
  const optionsJSON = options as unknown as Parameters<typeof startRegistration>[0]['optionsJSON'];
  return (await startRegistration({ optionsJSON }).catch(noAnswer)) as unknown as JsonObject;
}

function noAnswer(error: unknown): never {
  const detail = error instanceof Error ? error.message.split('\n')[0] : undefined;
  throw new ApiProblem({
    code: 'no_passkey',
    status: 0,
    title: 'The passkey gave no answer',
    detail: `try again, or use your password${detail === undefined ? '' : ` (${detail})`}`,
  });
}
