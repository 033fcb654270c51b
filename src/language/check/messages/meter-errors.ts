// Diagnostics about meters, one function each.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';
import { currencyLocation } from '../../model/currency.ts';
import type { Expression, FieldRead } from '../../model/expression.ts';
import type { NameNode, Path } from '../../syntax/tree/tree.ts';
import { spelledPath } from './path-errors.ts';
import { error } from './problem.ts';
import { typeText } from './type-text.ts';

export function unreadableInMeter(span: Span, text: string): Diagnostic {
  return error('unreadable-in-meter', span, `a meter cannot read \`${text}\``, {
    help: 'it counts from records: payload, result, agent, request and action',
  });
}

export function meterCurrencyMissing(argument: Expression): Diagnostic {
  const currency = argument.kind === 'field' ? currencyLocation(argument.type, argument) : null;
  return error('meter-currency-missing', argument.span, 'a sum of money needs its currency', {
    help:
      currency !== null
        ? `write \`sum(...) in USD\`, or \`per ${spelledPath(currency)}\` for a sum of each currency`
        : 'write `sum(...) in USD`',
  });
}

export function meterCurrencyNeedless(currency: NameNode): Diagnostic {
  return error('meter-currency-needless', currency.span, `only a sum of money is in \`${currency.text}\``, {
    help: 'remove it',
  });
}

export function sumUnfit(argument: Expression): Diagnostic {
  return error('meter-argument-unfit', argument.span, `\`${typeText(argument.type)}\` cannot be added up`, {
    help: 'sum numbers or money',
  });
}

export function distinctUnfit(argument: Expression): Diagnostic {
  const message = `values of \`${typeText(argument.type)}\` cannot be counted as distinct`;
  return error('meter-argument-unfit', argument.span, message, { help: 'count distinct single values' });
}

export function meterCountsNothing(name: NameNode): Diagnostic {
  return error('meter-counts-nothing', name.span, `meter \`${name.text}\` counts no action`, {
    help: 'an action after `since` restarts the meter and is not counted: declare two actions, such as `ci.passed` and `ci.failed`',
  });
}

export function meterKeyUnknown(path: Path): Diagnostic {
  return error(
    'meter-key-unfit',
    path.span,
    'a meter counts per `agent`, `owner`, `session`, `user`, `delegate` or payload field',
    {
      help: 'write such as `per agent, payload.vendor`',
    },
  );
}

export function meterKeyUnfit(field: FieldRead): Diagnostic {
  const message = `\`${spelledPath(field)}\` must be a required single value, not secret`;
  return error('meter-key-unfit', field.span, message, {
    help: 'without it a request would belong to no count',
  });
}
