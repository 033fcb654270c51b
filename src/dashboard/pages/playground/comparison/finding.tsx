// One kind of request that the copy decides otherwise: how, when, because of which rules, and one such request to try.

import type { ComponentChildren } from 'preact';
import { Badge, DecisionBadge } from '../../../parts/layout/badge.tsx';
import { Button } from '../../../parts/layout/button.tsx';
import { MessageText } from '../../../parts/text/message-text.tsx';
import { PlainText } from '../../../parts/text/plain-text.tsx';
import type { Compared } from './use-comparison.ts';
import {
  asksText,
  type ComparedCause,
  type ComparedExample,
  type ComparedFinding,
  causeText,
  differenceText,
  kindOf,
} from './words.ts';

export interface FindingProps {
  readonly finding: Omit<ComparedFinding, 'log'>;
  /** The example as it can be tried. */
  readonly request: Compared['requests'][number];
  readonly onLine: (file: string, line: number) => void;
  readonly onTry: (request: object) => void;
  /** What else is known of it. */
  readonly children?: ComponentChildren;
}

export function Finding({ finding, request, onLine, onTry, children }: FindingProps) {
  const { actions, when, causes, example, guessed } = finding;
  return (
    <li class="comparison-finding">
      <FindingHead finding={finding} />
      <dl class="comparison-facts">
        <Fact name="Actions" texts={actions} />
        <Fact name="When" texts={when} />
        {causes.length > 0 && (
          <div>
            <dt>Because</dt>
            {causes.map((cause, index) => (
              <Cause key={index} cause={cause} onLine={onLine} />
            ))}
          </div>
        )}
        {example === null ? (
          <Fact name="May turn on" texts={guessed} />
        ) : (
          <Example finding={finding} example={example} request={request} />
        )}
      </dl>
      {children}
      {example === null && <p>Undecided: no request was found that is decided so.</p>}
      {request !== null && (
        <div>
          <Button icon="try" onClick={() => onTry(request)}>
            Try this request
          </Button>
        </div>
      )}
    </li>
  );
}

function FindingHead({ finding }: Pick<FindingProps, 'finding'>) {
  const { from, to } = finding;
  const { word, icon, tone } = kindOf(finding);
  return (
    <h3 class="comparison-head">
      <Badge tone={tone} icon={icon}>
        {word}
      </Badge>
      <DecisionBadge decision={from} />
      {from !== to && (
        <>
          <span aria-hidden="true">→</span>
          <span class="visually-hidden">becomes</span>
          <DecisionBadge decision={to} />
        </>
      )}
      {differenceText(finding)}
    </h3>
  );
}

/** Nothing where there is nothing to say. */
function Fact({ name, texts }: { readonly name: string; readonly texts: readonly string[] }) {
  if (texts.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      {texts.map((text, index) => (
        <dd key={index}>
          <code>
            <PlainText text={text} />
          </code>
        </dd>
      ))}
    </div>
  );
}

function Cause({ cause, onLine }: { readonly cause: ComparedCause } & Pick<FindingProps, 'onLine'>) {
  const { place, side, reads } = cause;
  const shown = place === null ? '' : `${place.file}:${place.line}`;
  return (
    <dd>
      <MessageText text={causeText(cause)} />
      {reads.length > 0 && (
        <>
          {', '}
          <PlainText text={reads.join('; ')} />
        </>
      )}{' '}
      {place !== null &&
        (side === 'new' ? (
          <button type="button" class="playground-place" onClick={() => onLine(place.file, place.line)}>
            <PlainText text={shown} isShort />
          </button>
        ) : (
          <code>
            <PlainText text={`${shown} in the set in force`} />
          </code>
        ))}
    </dd>
  );
}

interface ExampleProps extends Pick<FindingProps, 'finding' | 'request'> {
  readonly example: ComparedExample;
}

function Example({ finding: { from, to }, example, request }: ExampleProps) {
  const { old, new: now, old_meters: oldMeters } = example;
  const asked = (one: ComparedExample['old']): string => (from === to ? `, asking ${asksText(one)}` : '');
  return (
    <>
      <Fact name="For example" texts={[JSON.stringify(request ?? example.request)]} />
      {oldMeters !== null && <Fact name="Meters in force" texts={[JSON.stringify(oldMeters)]} />}
      <div>
        <dt>In force</dt>
        <dd>
          <MessageText text={`${from} by \`${old.by}\`${asked(old)}`} />
        </dd>
      </div>
      <div>
        <dt>In your copy</dt>
        <dd>
          <MessageText text={`${to} by \`${now.by}\`${asked(now)}`} />
        </dd>
      </div>
    </>
  );
}
