// What the playground starts with: the policy and the request in the fragment of its address, or an example.

export interface PlaygroundTexts {
  readonly policy: string;
  /** The request as JSON text. */
  readonly request: string;
}

const example: PlaygroundTexts = {
  policy: `action payment.create "Pay {amount} to {vendor}" {
  amount:   money(currency) 0.01..
  currency: "USD" | "EUR"
  vendor:   string
}

approvers finance "Finance"

policy payments on payment.create {
  allow small
    when payload.currency == "USD" and payload.amount <= 1_000 USD
    because "Payments up to 1,000 USD need nobody"

  allow large after approval by finance
    when payload.currency == "USD" and payload.amount <= 10_000 USD
    because "Payments over 1,000 USD need finance"

  deny other_currency
    when payload.currency != "USD"
    because "Only payments in USD are made by agents"
}
`,
  request: `{
  "action_key": "payment.create",
  "payload": { "amount": 120, "currency": "USD", "vendor": "Staples" }
}
`,
};

/** Reads the fragment of an address, without its `#`. Anything that is not such a fragment gives the example. */
export function textsIn(fragment: string): PlaygroundTexts {
  try {
    const { policy, request } = JSON.parse(decodeURIComponent(fragment)) as {
      readonly policy?: unknown;
      readonly request?: unknown;
    };
    if (typeof policy !== 'string') return example;
    return {
      policy,
      request: typeof request === 'string' ? request : `${JSON.stringify(request, null, 2)}\n`,
    };
  } catch {
    return example;
  }
}

/** The fragment for an address that opens the playground with these texts. */
export function fragmentOf(texts: PlaygroundTexts): string {
  return encodeURIComponent(JSON.stringify(texts));
}
