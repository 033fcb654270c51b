// Of many actions that share texts, those in use most get a text of their own, which decides sooner; so many at most have
// one, as more would outgrow the processor's caches. Actions report themselves every so many decisions; those that report
// most displace those that report least, one text at a time.
// INVARIANT: which text serves an action never changes what it decides.

/** What decides an action, by shared texts or by its own. */
export interface TextUser<Code> {
  /** From now on by its own text. */
  serveOwn(code: Code): void;
  /** From now on by shared texts again. */
  serveShared(): void;
  /** It has been found not to be worth a text of its own. */
  stopReporting(): void;
}

export interface OwnTextLimits {
  /** Sets of no more actions share no texts at all. */
  readonly actionsMax: number;
  /** So many actions of a larger set have their own text. */
  readonly ownMax: number;
  /** A report stands for so many decisions. */
  readonly decisionsPerReport: number;
  /** After so many reports it is looked whom to displace. */
  readonly reportsPerReview: number;
}

export const ownTextLimits: OwnTextLimits = {
  actionsMax: 256,
  ownMax: 512,
  decisionsPerReport: 256,
  reportsPerReview: 2_048,
};

/** So few texts are made anew after each review: whoever alternates between actions keeps nobody busy. */
const displacedPerReviewMax = 8;

export interface OwnTexts<Code> {
  readonly decisionsPerReport: number;
  /** Whether the action has its own text. */
  has(action: string): boolean;
  report(action: string, user: TextUser<Code>): void;
}

interface Reported<Code> {
  readonly user: TextUser<Code>;
  /** Since the last review. */
  reports: number;
}

/** `make` makes an action's own code; null where it would be too large. */
export function createOwnTexts<Code>(
  make: (action: string) => Code | null,
  { ownMax, decisionsPerReport, reportsPerReview }: OwnTextLimits,
): OwnTexts<Code> {
  const own = new Map<string, Reported<Code>>();
  const waiting = new Map<string, Reported<Code>>();
  /** Who displaces whom, soon. */
  const due: { readonly action: string; readonly displaced: string }[] = [];
  let reports = 0;

  const promote = (action: string, user: TextUser<Code>): boolean => {
    const code = make(action);
    if (code === null) {
      user.stopReporting();
      return false;
    }
    user.serveOwn(code);
    own.set(action, { user, reports: 1 });
    return true;
  };

  const displace = (): void => {
    const next = due.pop();
    const user = next === undefined ? undefined : waiting.get(next.action)?.user;
    if (next === undefined || user === undefined) return;
    waiting.delete(next.action);
    if (!promote(next.action, user)) return;
    own.get(next.displaced)!.user.serveShared();
    own.delete(next.displaced);
  };

  const review = (): void => {
    due.length = 0;
    const most = [...waiting].sort(([, a], [, b]) => b.reports - a.reports).slice(0, displacedPerReviewMax);
    const least = [...own].sort(([, a], [, b]) => a.reports - b.reports);
    for (const [at, [displaced, rival]] of least.slice(0, most.length).entries()) {
      const [action, wanted] = most[at]!;
      // The first report may stand for decisions before the review.
      if (wanted.reports - 1 > 2 * rival.reports) due.push({ action, displaced });
    }
    const kept = new Set(due.map(({ action }) => action));
    for (const action of waiting.keys()) if (!kept.has(action)) waiting.delete(action);
    for (const reported of own.values()) reported.reports = 0;
  };

  return {
    decisionsPerReport,
    has: (action) => own.has(action),
    report: (action, user) => {
      reports += 1;
      const known = own.get(action) ?? waiting.get(action);
      if (known !== undefined) known.reports += 1;
      else if (own.size < ownMax) promote(action, user);
      else waiting.set(action, { user, reports: 1 });
      if (due.length > 0) displace();
      else if (reports >= reportsPerReview) {
        reports = 0;
        if (own.size >= ownMax) review();
      }
    },
  };
}
