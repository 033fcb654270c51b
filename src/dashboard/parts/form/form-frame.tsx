// The form around fields. It shows each problem once: the field that a problem names shows it and takes the
// focus, and a banner shows what no field can. INVARIANT: a form that calls the service is one of these.

import { type ComponentChildren, createContext, type RefObject } from 'preact';
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { ApiProblem } from '../../api/problem.ts';
import { ProblemNote, sentence } from '../layout/note.tsx';

interface FieldProblem {
  /** Name of the field in the body of the call. */
  readonly field: string;
  readonly detail: string;
}

interface FormState {
  readonly problems: readonly FieldProblem[];
  /** The field that was edited last since the problem: what was wrong with it may be no more. */
  readonly edited: string | null;
  /** Tells the form that it has the field; the returned function takes that back. */
  readonly add: (field: string) => () => void;
}

const Form = createContext<FormState | null>(null);

/**
 * What is wrong with a field of the surrounding form, as a sentence; null when nothing is. The form then leaves
 * that problem to the field.
 */
export function useFieldProblem(name: string | undefined): string | null {
  const form = useContext(Form);
  const add = form?.add;
  useLayoutEffect(() => (name === undefined ? undefined : add?.(name)), [add, name]);
  const detail = form?.problems.find(({ field }) => field === name && form.edited !== name)?.detail;
  return detail === undefined ? null : sentence(detail);
}

interface FormFrameProps {
  readonly class?: string;
  readonly problem: unknown;
  /** The fields to which problems without a place belong, by the code of the problem. */
  readonly fieldOf?: Readonly<Record<string, string>>;
  readonly onSend: () => unknown;
  readonly formRef?: RefObject<HTMLFormElement | null>;
  readonly onKeyDown?: (event: KeyboardEvent & { readonly currentTarget: HTMLFormElement }) => void;
  readonly children: ComponentChildren;
}

const none = {};

export function FormFrame(props: FormFrameProps) {
  const { problem, fieldOf = none, onSend, formRef, onKeyDown, children } = props;
  const own = useRef<HTMLFormElement>(null);
  const form = formRef ?? own;
  const fields = useRef(new Map<string, number>()).current;
  const [edited, setEdited] = useState<string | null>(null);
  const problems = useMemo(() => fieldProblems(problem, fieldOf), [problem]);
  const state = useMemo<FormState>(
    () => ({
      problems,
      edited,
      add: (field) => {
        fields.set(field, (fields.get(field) ?? 0) + 1);
        return () => void fields.set(field, (fields.get(field) ?? 1) - 1);
      },
    }),
    [problems, edited, fields],
  );
  useEffect(() => {
    setEdited(null);
    if (problem === null || problem === undefined) return;
    const invalid = form.current?.querySelector('[aria-invalid="true"], [data-invalid] input');
    if (invalid instanceof HTMLElement) invalid.focus();
  }, [problem]);
  const edit = (target: EventTarget | null): void => {
    const field = target instanceof Element ? target.closest('[data-field]') : null;
    if (problems.length > 0 && field instanceof HTMLElement) setEdited(field.dataset.field ?? null);
  };
  const rest = problems.filter(({ field }) => (fields.get(field) ?? 0) === 0);
  return (
    <Form.Provider value={state}>
      <form
        class={props.class ?? 'form'}
        ref={form}
        onSubmit={(event) => {
          event.preventDefault();
          void onSend();
        }}
        // Only while text is typed: a control that reacts to `change` must not be rendered again before that.
        onInput={({ target }) => isText(target) && edit(target)}
        {...(onKeyDown && { onKeyDown })}
      >
        {problems.length === 0 ? <ProblemNote problem={problem} /> : <OtherProblems problems={rest} />}
        {children}
      </form>
    </Form.Provider>
  );
}

function isText(target: EventTarget | null): boolean {
  if (target instanceof HTMLTextAreaElement) return true;
  return target instanceof HTMLInputElement && !['checkbox', 'radio'].includes(target.type);
}

/** Problems of fields that this form does not have. */
function OtherProblems({ problems }: Pick<FormState, 'problems'>) {
  if (problems.length === 0) return null;
  const detail = problems.map((one) => sentence(one.detail)).join(' ');
  return <ProblemNote problem={new ApiProblem({ code: '', status: 0, title: 'This was refused', detail })} />;
}

/** The first problem of each field. */
function fieldProblems(problem: unknown, fieldOf: Readonly<Record<string, string>>): readonly FieldProblem[] {
  if (!(problem instanceof ApiProblem)) return [];
  const field = fieldOf[problem.code];
  if (field !== undefined) return [{ field, detail: problem.message }];
  const found = problem.errors.map(({ pointer, detail }) => ({ field: pointer.split('/')[1] ?? '', detail }));
  return found.filter((one, at) => found.findIndex((other) => other.field === one.field) === at);
}
