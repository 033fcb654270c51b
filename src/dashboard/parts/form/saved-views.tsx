// Views of a list that a person has named: the query of the address, kept in this browser for this person.
// INVARIANT: a view holds the query of a list and none of its results.

import { useState } from 'preact/hooks';
import { usePerson } from '../../api/session.tsx';
import { useAddress } from '../../navigation/navigation.ts';
import { Button } from '../layout/button.tsx';
import { PlainText } from '../text/plain-text.tsx';
import { Field } from './field.tsx';
import './saved-views.css';

interface SavedView {
  readonly name: string;
  /** The query without `?`. */
  readonly query: string;
}

const viewsMax = 20;
const nameLengthMax = 60;

/** The saved views of the list at the address; renders nothing when no view is saved and no filter is set. */
export function SavedViews() {
  const { path, query } = useAddress();
  const [views, keep] = useViews(`writ.views ${usePerson().id} ${path}`);
  const [name, setName] = useState<string | null>(null);
  const params = new URLSearchParams(query);
  params.delete('cursor');
  const text = params.toString();
  const isNew = text !== '' && views.every((view) => view.query !== text) && views.length < viewsMax;
  if (views.length === 0 && !isNew) return null;
  const save = (): void => {
    const viewName = (name ?? '').trim();
    if (viewName === '') return;
    keep([...views.filter((view) => view.name !== viewName), { name: viewName, query: text }]);
    setName(null);
  };
  return (
    <section class="saved-views" aria-label="Saved views">
      {views.length > 0 && (
        <ul class="saved-views-list">
          {views.map((view) => (
            <li key={view.name}>
              <a href={`${path}?${view.query}`} aria-current={view.query === text ? 'page' : undefined}>
                <PlainText text={view.name} isShort />
              </a>
              <Button
                variant="quiet"
                icon="close"
                label={`Remove the view ${view.name}`}
                onClick={() => keep(views.filter((one) => one !== view))}
              />
            </li>
          ))}
        </ul>
      )}
      {isNew && name === null && (
        <Button variant="quiet" icon="plus" onClick={() => setName('')}>
          Save this view
        </Button>
      )}
      {isNew && name !== null && (
        <form
          class="saved-views-form"
          onSubmit={(event) => {
            event.preventDefault();
            save();
          }}
        >
          <Field label="Name of the view">
            <input
              required
              autoComplete="off"
              maxLength={nameLengthMax}
              value={name}
              ref={(input: HTMLInputElement | null) => {
                if (name === '') input?.focus();
              }}
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          </Field>
          <Button type="submit">Save</Button>
          <Button variant="quiet" onClick={() => setName(null)}>
            Cancel
          </Button>
        </form>
      )}
    </section>
  );
}

function useViews(key: string): readonly [readonly SavedView[], (views: readonly SavedView[]) => void] {
  const [saved, setKept] = useState(() => ({ key, views: readViews(key) }));
  const views = saved.key === key ? saved.views : readViews(key);
  const keep = (next: readonly SavedView[]): void => {
    setKept({ key, views: next });
    try {
      window.localStorage.setItem(key, JSON.stringify(next));
    } catch {
      // If storage is not available, the views last as long as the page is open.
    }
  };
  return [views, keep];
}

function readViews(key: string): readonly SavedView[] {
  try {
    const stored: unknown = JSON.parse(window.localStorage.getItem(key) ?? '[]');
    return Array.isArray(stored) ? stored.filter(isView).slice(0, viewsMax) : [];
  } catch {
    return [];
  }
}

function isView(value: unknown): value is SavedView {
  const { name, query } = (value ?? {}) as Partial<Record<string, unknown>>;
  return typeof name === 'string' && name !== '' && typeof query === 'string';
}
