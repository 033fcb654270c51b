// Types as diagnostics name them: as a policy file writes them, except for money that carries its own
// currency.

import { describeType } from '../../model/describe.ts';
import type { Type } from '../../model/type.ts';

export function typeText(type: Type): string {
  return type.kind === 'money' && type.currencyField === null ? 'money' : describeType(type);
}
