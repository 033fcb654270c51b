// Turns declarations of approval groups into groups. INVARIANT: a group whose declaration states no limit, or none
// that is a risk, never decides by chat.

import { type ChatLimit, riskMax } from '../../model/policy.ts';
import type { ChatLimitNode } from '../../syntax/tree/tree.ts';
import { toNumber } from '../../value/decimal.ts';
import type { Environment } from '../incremental/environment.ts';
import { decimalOf } from '../logic/literals.ts';
import { sameOrNew } from '../logic/same.ts';
import { chatLimitUnfit } from '../messages/errors.ts';

export function resolveApprovers(env: Environment): void {
  for (const declaration of env.declarations.ofKind('approvers')) {
    const name = declaration.name.text;
    const before = env.checkState.before.approvers.get(name);
    const chat = readChatLimit(declaration.chat, env);
    env.approvers.set(name, sameOrNew(before, { name, title: declaration.title.value, chat }));
  }
}

/** Returns null when no limit is written, and, with a diagnostic, when the number is no risk. */
function readChatLimit(node: ChatLimitNode | null, env: Environment): ChatLimit | null {
  if (node === null) return null;
  const value = decimalOf(node.maxRisk.text);
  const maxRisk = value === null ? Number.NaN : toNumber(value);
  if (Number.isInteger(maxRisk) && maxRisk >= 0 && maxRisk <= riskMax) return { maxRisk };
  env.report(chatLimitUnfit(node.maxRisk));
  return null;
}
