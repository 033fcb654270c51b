// Takes the person's own approval back while the request waits for other approvals.

import { call } from '../../api/client.ts';
import { useSending } from '../../parts/form/form.ts';
import { Button } from '../../parts/layout/button.tsx';
import { ProblemNote } from '../../parts/layout/note.tsx';
import { tellDone } from '../../parts/layout/toast.tsx';

export function TakeBack({ id, onDone }: { readonly id: string; readonly onDone: () => void }) {
  const { isBusy, problem, run } = useSending();
  return (
    <div>
      <ProblemNote problem={problem} />
      <Button
        isBusy={isBusy}
        onClick={() =>
          run(async () => {
            await call('takeBackApproval', { params: { id } });
            tellDone('You have taken your approval back');
            onDone();
          })
        }
      >
        Take my approval back
      </Button>
    </div>
  );
}
