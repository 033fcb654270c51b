// The diff of two policy sets that were active at some time: which requests they decide differently, and how
// their texts differ. INVARIANT: the address names both sets, so that it can be passed on.

import { call } from '../../api/client.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import {
  type Activation,
  chosenPair,
  diffHref,
  keptSets,
  type SetPair,
  setName,
  shortDigest,
} from '../../parts/diff/activations.ts';
import { useAnswer } from '../../parts/diff/use-answer.ts';
import { Field } from '../../parts/form/field.tsx';
import { Button } from '../../parts/layout/button.tsx';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame, Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
import { showToast } from '../../parts/layout/toast.tsx';
import './diff.css';
import { SetDiffView } from './set-diff.tsx';

export default function DiffPage() {
  return (
    <PageFrame
      title="Diff"
      lead="The requests that two policy sets decide differently, proved for all requests, and the changes of the text."
    >
      <ResourceView
        resource={useResource('listActivations', {}, ['policies'])}
        loading="The history of policies is loading"
      >
        {({ items }) => <DiffOfPair activations={items} />}
      </ResourceView>
    </PageFrame>
  );
}

function DiffOfPair({ activations }: { readonly activations: readonly Activation[] }) {
  const { query } = useAddress();
  const pair = chosenPair(activations, { old: query.get('old'), new: query.get('new') });
  if (pair === null)
    return (
      <Empty icon="policy" title="There is only one set so far">
        When another becomes active, the diff of the two is shown here.
      </Empty>
    );
  return (
    <>
      <Choices activations={activations} pair={pair} />
      <SetPairDiff key={`${pair.old} ${pair.new}`} pair={pair} />
    </>
  );
}

interface ChoicesProps {
  readonly activations: readonly Activation[];
  readonly pair: SetPair;
}

function Choices({ activations, pair }: ChoicesProps) {
  const { old, new: now } = pair;
  const choose = (changes: Partial<SetPair>): void => setQuery({ ...pair, ...changes }, { replace: true });
  return (
    <Section
      title="Sets"
      actions={
        <div class="diff-actions">
          <Button icon="copy" onClick={() => copyLink(pair)}>
            Copy link
          </Button>
          <Button icon="refresh" onClick={() => choose({ old: now, new: old })}>
            Swap
          </Button>
        </div>
      }
    >
      <div class="diff-choices">
        <SetChoice
          label="From"
          activations={activations}
          value={old}
          onChoose={(one) => choose({ old: one })}
        />
        <SetChoice
          label="To"
          activations={activations}
          value={now}
          onChoose={(one) => choose({ new: one })}
        />
      </div>
    </Section>
  );
}

function copyLink(pair: SetPair): Promise<void> {
  return navigator.clipboard.writeText(`${window.location.origin}${diffHref(pair)}`).then(
    () => showToast('The link is copied'),
    () => showToast('It could not be copied: copy the address of this page'),
  );
}

interface SetChoiceProps extends Pick<ChoicesProps, 'activations'> {
  readonly label: string;
  /** Digest of the chosen set. */
  readonly value: string;
  readonly onChoose: (digest: string) => void;
}

function SetChoice({ label, activations, value, onChoose }: SetChoiceProps) {
  const sets = keptSets(activations);
  const isThere = sets.some(({ digest }) => digest === value);
  return (
    <Field label={label}>
      <select value={value} onChange={({ currentTarget }) => onChoose(currentTarget.value)}>
        {!isThere && <option value={value}>{shortDigest(value)} (not kept)</option>}
        {sets.map((one, index) => (
          <option key={one.digest} value={one.digest}>
            {setName(one)}
            {index === 0 && ' (active)'}
          </option>
        ))}
      </select>
    </Field>
  );
}

function SetPairDiff({ pair }: { readonly pair: SetPair }) {
  const mayTry = useGrant('policies.try') !== 'no';
  const key = mayTry ? diffHref(pair) : null;
  const { answer, problem, retry } = useAnswer(key, (signal) =>
    call('diffPolicySets', { query: { ...pair }, signal }),
  );
  return (
    <>
      <ProblemNote problem={problem} subject="The diff" onRetry={retry} />
      {answer === null ? (
        problem === null && <Loading label="The diff is being computed" />
      ) : (
        <SetDiffView setDiff={answer} pair={pair} />
      )}
    </>
  );
}
