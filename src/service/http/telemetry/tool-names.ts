// The words of the OpenTelemetry conventions for generative AI that spans and metrics share. INVARIANT: the name of a
// tool is the key of an action that the policies declare, never another text that a client has sent.

import type { Gate } from '../../../language/model/decision.ts';

/** The operation that an agent asks for: the call of a tool. */
export const toolOperation = 'execute_tool';

/** In the place of every action that no policy declares; the conventions write a fallback like this. */
const otherTool = '_OTHER';

const undeclared: Gate = 'undeclared_action';

export function toolName(actionKey: string, matchedPolicy: string): string {
  return matchedPolicy === undeclared ? otherTool : actionKey;
}
