// The clip of the README: an agent asks, the request waits on the phone of an approver, the approver approves, and the
// agent goes on. Both sides are real: a client of a demo's service, and the dashboard in a browser of a phone's size. Each
// step is a frame of an animated PNG.

import { writeFileSync } from 'node:fs';
import type { Browser, Locator, Page } from 'playwright-core';
import type { Decision } from '../../../integrations/typescript/client.ts';
import { connect } from '../../../integrations/typescript/client.ts';
import { openSession } from '../../../src/packaging/demo/accounts.ts';
import type { Demo } from '../../../src/packaging/demo/demo.ts';
import { animatedPng, type Frame } from './apng.ts';
import { signInAs } from './browser.ts';

const phone = { width: 390, height: 620 } as const;
const agentWidth = 430;
const size = { width: agentWidth + phone.width, height: phone.height } as const;
const agentPane = { x: 0, y: 0, width: agentWidth, height: size.height } as const;
const phonePane = { x: agentWidth, y: 0, ...phone } as const;

const action = 'payment.create';
const payment = {
  amount: 640,
  currency: 'USD',
  vendor: 'Oakfield Catering',
  description: 'lunch for the workshop',
} as const;

/** What the agent runs, as the clip shows it. */
const program = `<b>const</b> payment = {
  amount: <i>640</i>,
  currency: <u>'USD'</u>,
  vendor: <u>'Oakfield Catering'</u>,
  description: <u>'lunch for the workshop'</u>,
};
<b>const</b> decision = <b>await</b> writ.authorize(
  <u>'payment.create'</u>, payment);
<b>if</b> (decision.kind === <u>'allowed'</u>)
  <b>await</b> pay(payment);`;

const scene = `<!doctype html><style>
  body { margin: 0; width: ${size.width}px; height: ${size.height}px; display: flex; background: #16171d; }
  main { box-sizing: border-box; width: ${agentWidth}px; padding: 18px 20px; color: #e9eaee; overflow: hidden; }
  h1 { margin: 0 0 10px; font: 600 13px system-ui, sans-serif; color: #a3aab8; }
  pre { margin: 0 0 22px; font: 12.5px/1.65 "DejaVu Sans Mono", monospace; white-space: pre-wrap; }
  b { color: #a5a3ff; font-weight: 400; } i { color: #ffc46b; font-style: normal; } u { color: #6ee7a8; text-decoration: none; }
  .said { color: #a3aab8; } .waiting { color: #ffc46b; } .allowed, .done { color: #6ee7a8; }
  aside { position: relative; width: ${phone.width}px; height: ${phone.height}px; background: #f6f7f9; overflow: hidden; }
  img { display: block; width: 100%; }
  .tap { position: absolute; width: 36px; height: 36px; margin: -18px 0 0 -18px; border-radius: 50%;
    background: rgb(79 70 229 / 35%); border: 2px solid #4f46e5; box-sizing: border-box; }
</style><main><h1>agent.ts</h1><pre>${program}</pre><h1>Terminal</h1><pre id="said"></pre></main>
<aside><img alt=""></aside>`;

type Tone = 'said' | 'waiting' | 'allowed' | 'done';

/** Puts the two sides beside each other, and takes their frames. */
class Stage {
  readonly frames: Frame[] = [];
  readonly #scene: Page;
  readonly #phone: Page;

  constructor(stage: Page, shown: Page) {
    this.#scene = stage;
    this.#phone = shown;
  }

  async say(text: string, tone: Tone = 'said'): Promise<void> {
    const line = { text: `${text}\n`, tone };
    await this.#scene.evaluate(({ text: said, tone: look }) => {
      const span = Object.assign(document.createElement('span'), { textContent: said, className: look });
      document.querySelector('#said')?.append(span);
    }, line);
  }

  /** Shows what the phone shows now; with `tapped`, a finger is on that element. */
  async look(tapped?: Locator): Promise<void> {
    await this.#phone.waitForTimeout(300);
    const box = tapped === undefined ? null : await tapped.boundingBox();
    const picture = (await this.#phone.screenshot()).toString('base64');
    const place = box === null ? null : { x: box.x + box.width / 2, y: box.y + box.height / 2 };
    await this.#scene.evaluate(
      async ({ picture: source, place: at }) => {
        const image = document.querySelector('img');
        if (image === null) return;
        image.src = `data:image/png;base64,${source}`;
        await image.decode();
        document.querySelector('.tap')?.remove();
        if (at === null) return;
        const finger = Object.assign(document.createElement('div'), { className: 'tap' });
        Object.assign(finger.style, { left: `${at.x}px`, top: `${at.y}px` });
        document.querySelector('aside')?.append(finger);
      },
      { picture, place },
    );
  }

  /** Touches an element where it is; a click of the element itself would scroll the page. */
  async tap(element: Locator): Promise<void> {
    await this.look(element);
    await this.take('phone', 700);
    const { x, y, width, height } = (await element.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
    await this.#phone.touchscreen.tap(x + width / 2, y + height / 2);
  }

  /** Adds a frame of one side, or of both. */
  async take(pane: 'agent' | 'phone' | 'both', shownMs: number): Promise<void> {
    const isWhole = pane === 'both' || this.frames.length === 0;
    const clip = isWhole ? { x: 0, y: 0, ...size } : pane === 'agent' ? agentPane : phonePane;
    const png = await this.#scene.screenshot({ clip });
    this.frames.push({ png, left: clip.x, top: clip.y, shownMs });
  }
}

/** Plays the scene on the demo's service, and writes it as an animated PNG. */
export async function takeClip(browser: Browser, demo: Demo, path: string): Promise<void> {
  const { url } = demo.server;
  const look = { colorScheme: 'light', reducedMotion: 'reduce', locale: 'en-GB' } as const;
  const context = await browser.newContext({ ...look, baseURL: url, viewport: phone, hasTouch: true });
  await signInAs(context, demo.server, demo.account);
  const shown = await context.newPage();
  const stagePage = await browser.newPage({ ...look, viewport: size });
  await stagePage.setContent(scene);
  const stage = new Stage(stagePage, shown);
  await play(stage, { shown, key: await newAgent(demo), url });
  writeFileSync(path, animatedPng(stage.frames));
  await stagePage.close();
  await context.close();
}

async function newAgent({ server, account }: Demo): Promise<string> {
  const admin = await openSession(server.url, account);
  const draft = { name: 'office-buyer', control_owner: 'security@demo.example', risk_tier: 'low' };
  const { api_key: key } = await admin.done('/v1/agents', { ...draft, tags: ['payments'] });
  return key;
}

interface Players {
  readonly shown: Page;
  readonly key: string;
  readonly url: string;
}

async function play(stage: Stage, { shown, key, url }: Players): Promise<void> {
  const writ = connect({ url, key });
  await shown.goto('/approvals');
  await shown.locator('a[data-row]').first().waitFor();
  await stage.say('$ node agent.ts');
  await stage.look();
  await stage.take('both', 1_800);

  const call = { idempotencyKey: 'clip' };
  const asked = await writ.authorize(action, payment, { ...call, wait: 0 });
  if (asked.kind !== 'waiting') throw new Error(`the demo answers ${asked.kind}`);
  await stage.say(asked.message, 'waiting');
  await stage.take('agent', 3_200);
  const decided = writ.authorize(action, payment, { ...call, wait: 60_000 });

  await shown.goto(`/approvals/${asked.requestId}`);
  const approve = shown.getByRole('button', { name: 'Approve…' });
  await approve.waitFor();
  await stage.look();
  await stage.take('phone', 3_500);
  await stage.tap(approve);
  const why = shown.getByLabel('Why you approve');
  for (const text of ['', 'Booked', 'Booked for', 'Booked for Friday']) {
    await why.fill(text);
    await stage.look();
    await stage.take('phone', text === '' ? 900 : 350);
  }
  const send = shown.getByRole('button', { name: 'Approve for finance' });
  await stage.tap(send);
  await shown.getByText(/^Decided/).waitFor();
  await stage.look();
  await stage.say(words(await decided), 'allowed');
  await stage.take('both', 3_000);
  await stage.say('Paid 640.00 USD to Oakfield Catering', 'done');
  await stage.take('agent', 4_000);
}

function words(decision: Decision): string {
  if (decision.kind !== 'allowed') throw new Error(`the demo answers ${decision.kind}`);
  return `Allowed: request ${decision.requestId}`;
}
