// A labelled control, or a group of choices, with its help and its problem; a screen reader reads all of them
// together.

import { type ComponentChildren, cloneElement, type VNode } from 'preact';
import { useId } from 'preact/hooks';
import { useFieldProblem } from './form-frame.tsx';
import './field.css';

interface FieldProps {
  readonly label: string;
  /** Name of the field in the body of the call, by which a problem of the form finds it. */
  readonly name?: string;
  readonly help?: ComponentChildren;
  /** A problem that the page itself has found. */
  readonly problem?: string | null | undefined;
  readonly isOptional?: boolean;
  /** Must be one input, select or textarea. */
  readonly children: VNode<Record<string, unknown>>;
}

export function Field({ label, name, help, problem: own = null, isOptional = false, children }: FieldProps) {
  const id = useId();
  const ofForm = useFieldProblem(name);
  const problem = own ?? ofForm;
  const notes = [help === undefined ? '' : `${id}-help`, problem === null ? '' : `${id}-problem`]
    .join(' ')
    .trim();
  return (
    <div class="field" data-field={name}>
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

interface FieldGroupProps {
  readonly legend: string;
  /** Name of the field in the body of the call. */
  readonly name: string;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** Choices that make up one field of the body. */
export function FieldGroup({ legend, name, children, ...rest }: FieldGroupProps) {
  const id = useId();
  const problem = useFieldProblem(name);
  return (
    <fieldset
      class={rest.class}
      data-field={name}
      aria-describedby={problem === null ? undefined : id}
      data-invalid={problem === null ? undefined : true}
    >
      <legend class="field-legend">{legend}</legend>
      {children}
      {problem !== null && (
        <p class="field-problem" id={id}>
          {problem}
        </p>
      )}
    </fieldset>
  );
}
