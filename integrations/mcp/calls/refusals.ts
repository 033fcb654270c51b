// Turns decisions into answers that a model reads. A refusal is a result and not an error, because models
// repeat a call that seems to have failed.

import { type DeniedDecision, type PendingDecision, waitingText } from '../../typescript/decision.ts';
import { completed, type Era } from '../protocol/eras.ts';
import {
  errorAnswer,
  errorCodes,
  type JsonObject,
  type RpcRequest,
  type RpcResponse,
  resultAnswer,
} from '../protocol/messages.ts';

export interface RefusalSettings {
  /** The prefix of names in `_meta`, such as `example.com/`. */
  readonly prefix: string;
  /** Whether refusals are errors with the code of COAZ-MCP. */
  readonly isCoaz: boolean;
}

/**
 * The error code of refusals other than those of tools, which have results for that. It is outside of the
 * range of JSON-RPC.
 */
const refusedCode = 403;
const coazCode = -32001;

interface RefusalText {
  readonly text: string;
  readonly decision: JsonObject;
}

/** The answer when the service or a person has refused; nothing was carried out. */
export function deniedAnswer(
  request: RpcRequest,
  era: Era,
  denied: DeniedDecision,
  settings: RefusalSettings,
): RpcResponse {
  const { requestId: request_id, policy, message: text, change } = denied;
  const isChangeOfUse = policy === 'invalid_payload' || change !== undefined;
  const decision = {
    decision: 'DENY',
    request_id,
    matched_policy: policy,
    retry: isChangeOfUse ? 'changed' : 'never',
    ...(change === undefined ? {} : { change }),
  };
  return answer(request, era, settings, { text, decision });
}

/** The answer while people have not decided; the same call goes on with the same request. */
export function waitingAnswer(
  request: RpcRequest,
  era: Era,
  waiting: PendingDecision,
  settings: RefusalSettings,
): RpcResponse {
  return answer(request, era, settings, {
    text: waitingText(waiting),
    decision: {
      decision: waiting.for === 'approval' ? 'ESCALATE' : 'REAUTH_REQUIRED',
      request_id: waiting.requestId,
      url: waiting.url,
      until: waiting.until.toISOString(),
      retry: waiting.for === 'approval' ? 'after_approval' : 'after_reauthentication',
    },
  });
}

/** The answer for a tool that the proxy does not know; the service cannot decide about such a call. */
export function unknownToolAnswer(request: RpcRequest, why: string): RpcResponse {
  return errorAnswer(request.id, errorCodes.invalidParams, why);
}

/** The answer when the service gave none; nothing is forwarded then. */
export function unavailableAnswer(request: RpcRequest, why: string): RpcResponse {
  return errorAnswer(request.id, errorCodes.internal, `authorization service unavailable: ${why}`);
}

function answer(
  request: RpcRequest,
  era: Era,
  settings: RefusalSettings,
  { text, decision }: RefusalText,
): RpcResponse {
  const meta = { [`${settings.prefix}writ-decision`]: decision };
  if (settings.isCoaz) return errorAnswer(request.id, coazCode, text, meta);
  if (request.method !== 'tools/call') return errorAnswer(request.id, refusedCode, text, meta);
  const content = [{ type: 'text', text }];
  return resultAnswer(request.id, completed(era, { content, isError: true, _meta: meta }));
}
