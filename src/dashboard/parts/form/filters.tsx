// Filters of a list; each is a parameter of the address. INVARIANT: changing a filter returns to the first
// page, and an earlier value never overwrites what a person is typing.

import type { ComponentChildren, RefObject } from 'preact';
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import './filters.css';

const typingMs = 250;

interface FiltersProps {
  /** Tells these filters from others on the page. */
  readonly label: string;
  readonly children: ComponentChildren;
}

export function Filters({ label, children }: FiltersProps) {
  return (
    <search class="filters" aria-label={label}>
      {children}
    </search>
  );
}

interface TextFilterProps {
  readonly name: string;
  readonly label: string;
  /** What the text may be, if the label does not say it. */
  readonly placeholder?: string;
  /** Receives the field, for a key that leads to it. */
  readonly input?: RefObject<HTMLInputElement | null>;
}

/** The longest text that the service searches for. */
const textLengthMax = 200;

/** Puts the typed text into the address once typing pauses. */
export function TextFilter({ name, label, placeholder, input }: TextFilterProps) {
  const { query } = useAddress();
  const current = query.get(name) ?? '';
  const [typed, setTyped] = useState(current);
  const sent = useRef(current);
  const id = useId();
  useEffect(() => {
    if (current === sent.current) return;
    sent.current = current;
    setTyped(current);
  }, [current]);
  useEffect(() => {
    const text = typed.trim();
    if (text === sent.current) return;
    const timer = setTimeout(() => {
      sent.current = text;
      setQuery({ [name]: text, cursor: null }, { replace: true });
    }, typingMs);
    return () => clearTimeout(timer);
  }, [typed, name]);
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        ref={input ?? null}
        type="search"
        maxLength={textLengthMax}
        autoComplete="off"
        spellcheck={false}
        placeholder={placeholder}
        value={typed}
        onInput={({ currentTarget }) => setTyped(currentTarget.value)}
      />
    </div>
  );
}

interface ChoiceFilterProps {
  readonly name: string;
  readonly label: string;
  readonly any: string;
  /** Values with their words. */
  readonly choices: readonly (readonly [value: string, word: string])[];
}

export function ChoiceFilter({ name, label, any, choices }: ChoiceFilterProps) {
  const { query } = useAddress();
  const current = query.get(name) ?? '';
  const id = useId();
  const isKnown = current === '' || choices.some(([value]) => value === current);
  return (
    <div>
      <label for={id}>{label}</label>
      <select
        id={id}
        value={current}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value, cursor: null })}
      >
        <option value="">{any}</option>
        {choices.map(([value, word]) => (
          <option key={value} value={value}>
            {word}
          </option>
        ))}
        {!isKnown && <option value={current}>{current}</option>}
      </select>
    </div>
  );
}

/** A filter for a day, such as `2026-03-02`. */
export function DayFilter({ name, label }: { readonly name: string; readonly label: string }) {
  const { query } = useAddress();
  const id = useId();
  return (
    <div>
      <label for={id}>{label}</label>
      <input
        id={id}
        type="date"
        value={query.get(name) ?? ''}
        onChange={({ currentTarget }) => setQuery({ [name]: currentTarget.value, cursor: null })}
      />
    </div>
  );
}
