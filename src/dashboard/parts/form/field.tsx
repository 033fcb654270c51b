// A labelled control with its help and its problem; a screen reader reads all of them together.

import { type ComponentChildren, cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';
import './field.css';

interface FieldProps {
  readonly label: string;
  readonly help?: ComponentChildren;
  readonly problem?: string | null | undefined;
  readonly isOptional?: boolean;
  /** Must be one input, select or textarea. */
  readonly children: VNode<Record<string, unknown>>;
}

export function Field({ label, help, problem = null, isOptional = false, children }: FieldProps) {
  const id = useId();
  const notes = [help === undefined ? '' : `${id}-help`, problem === null ? '' : `${id}-problem`]
    .join(' ')
    .trim();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {isOptional && <span class="field-optional"> (optional)</span>}
      </label>
      {cloneElement(children, {
        id,
        'aria-describedby': notes === '' ? undefined : notes,
        'aria-invalid': problem === null ? undefined : true,
      })}
      {help !== undefined && (
        <p class="field-help" id={`${id}-help`}>
          {help}
        </p>
      )}
      {problem !== null && (
        <p class="field-problem" id={`${id}-problem`}>
          {problem}
        </p>
      )}
    </div>
  );
}
