// One kind of request that two sets decide differently: how, when, because of which rules, with one such
// request to try.

import type { ComponentChildren } from 'preact';
import { Badge, DecisionBadge } from '../layout/badge.tsx';
import { Button } from '../layout/button.tsx';
import { MessageText } from '../text/message-text.tsx';
import { PlainText } from '../text/plain-text.tsx';
import { AddTest } from './add-test.tsx';
import {
  asksText,
  causeText,
  type DiffCause,
  type DiffExample,
  type DiffFinding,
  type DiffReply,
  differenceText,
  kindOf,
} from './diff-labels.ts';
import { type CaseRequest, satisfiedIn } from './test-case.ts';

/** The names of the two sets, and the actions on a finding. */
export interface FindingWays {
  readonly sides: { readonly old: string; readonly new: string };
  /** Goes to a line of the new set; absent when there is no such place to go to. */
  readonly onLine?: (file: string, line: number) => void;
  readonly onTry: (request: object) => void;
}

export interface FindingProps {
  readonly finding: Omit<DiffFinding, 'log'>;
  /** The example as it can be tried. */
  readonly request: DiffReply['requests'][number];
  readonly ways: FindingWays;
  /** Further facts about the finding. */
  readonly children?: ComponentChildren;
}

export function Finding({ finding, request, ways, children }: FindingProps) {
  const { actions, when, causes, example, guessed } = finding;
  return (
    <li class="diff-finding">
      <FindingHead finding={finding} />
      <dl class="diff-facts">
        <Fact name="Actions" texts={actions} />
        <Fact name="When" texts={when} />
        {causes.length > 0 && (
          <div>
            <dt>Because</dt>
            {causes.map((cause, index) => (
              <Cause key={index} cause={cause} ways={ways} />
            ))}
          </div>
        )}
        {example === null ? (
          <Fact name="May depend on" texts={guessed} />
        ) : (
          <Example finding={finding} example={example} request={request} sides={ways.sides} />
        )}
      </dl>
      {children}
      {example === null && <p>Undecided: no request with this decision was found.</p>}
      {request !== null && (
        <div class="diff-actions">
          <Button icon="try" onClick={() => ways.onTry(request)}>
            Try this request
          </Button>
          <FindingTest finding={finding} request={request} sides={ways.sides} />
        </div>
      )}
    </li>
  );
}

interface FindingTestProps extends Pick<FindingProps, 'finding'> {
  readonly request: CaseRequest;
  readonly sides: FindingWays['sides'];
}

/** Offers both decisions as the expected one, because either set may be the intended one. */
function FindingTest({ finding, request, sides }: FindingTestProps) {
  const { from, to, when, causes, example } = finding;
  if (example === null || from === to) return null;
  const satisfied = satisfiedIn(example.request);
  const [first = ''] = when;
  return (
    <AddTest
      file={causes.find(({ location }) => location !== null)?.location?.file ?? 'policies.policy'}
      name={`${from} → ${to}${first === '' ? '' : ` when ${first}`}`}
      request={request}
      satisfied={satisfied}
      expects={[
        [`${to}, as ${sides.new.toLowerCase()}`, { decision: to, by: example.new.by }],
        [`${from}, as ${sides.old.toLowerCase()}`, { decision: from, by: example.old.by }],
      ]}
    />
  );
}

function FindingHead({ finding }: Pick<FindingProps, 'finding'>) {
  const { from, to } = finding;
  const { word, icon, tone } = kindOf(finding);
  return (
    <h3 class="diff-head">
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

/** Renders nothing when there are no texts. */
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

function Cause({ cause, ways }: { readonly cause: DiffCause } & Pick<FindingProps, 'ways'>) {
  const { onLine, sides } = ways;
  const { location, side, reads } = cause;
  const shown = location === null ? '' : `${location.file}:${location.line}`;
  return (
    <dd>
      <MessageText text={causeText(cause)} />
      {reads.length > 0 && (
        <>
          {', '}
          <PlainText text={reads.join('; ')} />
        </>
      )}{' '}
      {location !== null &&
        (side === 'new' && onLine !== undefined ? (
          <button type="button" class="text-button" onClick={() => onLine(location.file, location.line)}>
            <PlainText text={shown} isShort />
          </button>
        ) : (
          <code>
            <PlainText text={side === 'new' ? shown : `${shown} (${sides.old.toLowerCase()})`} />
          </code>
        ))}
    </dd>
  );
}

interface ExampleProps extends Pick<FindingProps, 'finding' | 'request'> {
  readonly example: DiffExample;
  readonly sides: FindingWays['sides'];
}

function Example({ finding: { from, to }, example, request, sides }: ExampleProps) {
  const { old, new: now, old_meters: oldMeters } = example;
  const asksSuffix = (one: DiffExample['old']): string => (from === to ? `, asking ${asksText(one)}` : '');
  return (
    <>
      <Fact name="For example" texts={[JSON.stringify(request ?? example.request)]} />
      {oldMeters !== null && (
        <Fact name={`Meters, ${sides.old.toLowerCase()}`} texts={[JSON.stringify(oldMeters)]} />
      )}
      <div>
        <dt>{sides.old}</dt>
        <dd>
          <MessageText text={`${from} by \`${old.by}\`${asksSuffix(old)}`} />
        </dd>
      </div>
      <div>
        <dt>{sides.new}</dt>
        <dd>
          <MessageText text={`${to} by \`${now.by}\`${asksSuffix(now)}`} />
        </dd>
      </div>
    </>
  );
}
