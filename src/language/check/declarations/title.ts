// Turns the title of an action into its texts and the fields that it shows. Each field is a single value of
// the payload and not secret.

import { currencyPlace } from '../../model/currency.ts';
import { type Title, type TitleField, titleLengthMax } from '../../model/title.ts';
import type { Shape, Type } from '../../model/type.ts';
import type { ExpressionNode, NameNode, TemplateNode } from '../../syntax/tree/tree.ts';
import type { Environment } from '../incremental/environment.ts';
import { failedType } from '../logic/merge.ts';
import { payloadField } from '../logic/payload-paths.ts';
import {
  titleFieldSecret,
  titleFieldUnknown,
  titleHoldsNoField,
  titleNamesPayload,
  titleNotPrintable,
  titleUnfit,
} from '../messages/title-errors.ts';

/** Returns the title; null when the action has none, or when something is wrong with the title. */
export function resolveTitle(node: TemplateNode | null, shape: Shape, env: Environment): Title | null {
  if (node === null) return null;
  const plain = node.parts.map((part) => (part.kind === 'template-text' ? part.text : '')).join('');
  const isEmpty = node.parts.every((part) => part.kind === 'template-text') && plain.trim() === '';
  if (isEmpty || [...plain].length > titleLengthMax) {
    env.report(titleUnfit(node.span, isEmpty ? 'is empty' : `has more than ${titleLengthMax} characters`));
    return null;
  }
  const parts = node.parts.map((part) =>
    part.kind === 'template-text' ? part.text : resolveField(part.value, shape, env),
  );
  const known = parts.filter((part) => part !== null);
  return known.length < parts.length ? null : known;
}

function resolveField(value: ExpressionNode, shape: Shape, env: Environment): TitleField | null {
  if (value.kind !== 'path') {
    // The parser has reported what it could not read.
    if (value.kind !== 'missing') env.report(titleHoldsNoField(value.span));
    return null;
  }
  const names = [value.root, ...value.steps];
  const isOfPayload = value.root.text === 'payload' && payloadField(shape, 'payload') === undefined;
  if (isOfPayload && value.steps.length > 0) {
    env.report(titleNamesPayload(value.span, value.steps));
    return null;
  }
  return walk(names, shape, env);
}

function walk(names: readonly NameNode[], shape: Shape, env: Environment): TitleField | null {
  let around = shape;
  let isSecret = false;
  for (const [at, name] of names.entries()) {
    const field = payloadField(around, name.text);
    if (field === undefined) {
      env.report(
        titleFieldUnknown(
          name,
          around.fields.map((one) => one.name),
        ),
      );
      return null;
    }
    const { type } = field;
    if (type === failedType) return null;
    isSecret ||= field.isSecret;
    if (at < names.length - 1 && type.kind === 'record') {
      around = type.shape;
      continue;
    }
    const isLast = at === names.length - 1;
    if (!isLast || !isPrintable(type)) env.report(titleNotPrintable(name, type, isLast));
    else if (isSecret) env.report(titleFieldSecret(name));
    else return fieldAt(names, type);
    return null;
  }
  return null;
}

function fieldAt(names: readonly NameNode[], type: Type): TitleField {
  const steps = names.map(({ text }) => text);
  return { steps, currency: currencyPlace(type, { root: 'payload', steps })?.steps ?? null };
}

function isPrintable({ kind }: Type): boolean {
  return kind !== 'list' && kind !== 'record' && kind !== 'any';
}
