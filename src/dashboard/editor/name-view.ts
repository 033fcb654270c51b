// Shows names in the editor in the colour of their kind, and explains the name under the pointer. Both
// answers come from a worker; an answer about a text that has changed since is dropped.

import { type Extension, StateEffect, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView, hoverTooltip, ViewPlugin } from '@codemirror/view';
import type { NameDescription } from '../../language/assist/describe-name.ts';
import type { ColouredName } from '../../language/assist/name-colours.ts';
import type { Hover } from '../../language/assist/policy-assistant.ts';

export interface NameAnswers {
  readonly colours: (text: string) => Promise<readonly ColouredName[] | null>;
  readonly hover: (text: string, at: number) => Promise<Hover | null>;
}

/** Makes the editor ask for colours again, for example when names of other files have arrived. */
export const namesChanged = StateEffect.define<null>();
const coloured = StateEffect.define<readonly ColouredName[]>();

/** Milliseconds without typing before colours are asked for. */
const restMs = 120;

export function nameView({ colours, hover }: NameAnswers): Extension {
  return [nameColours, askingColours(colours), hoverTooltip((view, at) => tooltipAt(view, at, hover))];
}

const nameColours = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(shown, { changes, effects }) {
    const told = effects.findLast((effect) => effect.is(coloured));
    return told === undefined
      ? shown.map(changes)
      : Decoration.set(
          told.value.map(({ start, end, kind, isDeclared }) =>
            Decoration.mark({
              class: `cm-name cm-name-${kind}${isDeclared ? ' cm-name-declared' : ''}`,
            }).range(start, end),
          ),
        );
  },
  provide: (field) => EditorView.decorations.from(field),
});

function askingColours(colours: NameAnswers['colours']): Extension {
  return ViewPlugin.define((view) => {
    let [timer, isOpen] = [0, true];
    const ask = (): void => {
      const text = view.state.doc.toString();
      void colours(text).then((names) => {
        if (isOpen && names !== null && view.state.doc.toString() === text)
          view.dispatch({ effects: coloured.of(names) });
      });
    };
    const askSoon = (): void => {
      window.clearTimeout(timer);
      timer = window.setTimeout(ask, restMs);
    };
    askSoon();
    return {
      update({ docChanged, transactions }) {
        const isOther = transactions.some(({ effects }) => effects.some((effect) => effect.is(namesChanged)));
        if (docChanged || isOther) askSoon();
      },
      destroy() {
        isOpen = false;
        window.clearTimeout(timer);
      },
    };
  });
}

async function tooltipAt(view: EditorView, at: number, hover: NameAnswers['hover']) {
  const text = view.state.doc.toString();
  const hovered = await hover(text, at);
  if (hovered === null || view.state.doc.toString() !== text) return null;
  const { start: pos, end, description: said } = hovered;
  return { pos, end, above: true, create: () => ({ dom: drawn(said) }) };
}

function drawn(description: readonly NameDescription[]): HTMLElement {
  const dom = document.createElement('div');
  dom.className = 'cm-said';
  for (const { kind, text } of description) {
    const line = document.createElement(kind === 'code' ? 'code' : 'p');
    line.textContent = text;
    dom.append(line);
  }
  return dom;
}
