// The page of alerts: the alerts themselves, their rules, and the webhooks that are told. The address says
// which tab is shown.

import { useGrant } from '../../api/session.tsx';
import { usePlace } from '../../navigation/navigation.ts';
import { PageFrame } from '../../parts/layout/page.tsx';
import '../../parts/layout/tabs.css';
import { AlertRules } from './alert-rules.tsx';
import './alerts.css';
import { AlertLog } from './alert-log.tsx';
import { Webhooks } from './webhooks.tsx';

const tabs = {
  alerts: { title: 'Alerts', access: 'alerts.view', Content: AlertLog },
  rules: { title: 'Rules', access: 'alerts.view', Content: AlertRules },
  webhooks: { title: 'Webhooks and chat', access: 'webhooks.view', Content: Webhooks },
} as const;

type TabName = keyof typeof tabs;
const names = Object.keys(tabs) as TabName[];

export default function Alerts() {
  const { query } = usePlace();
  const shown = names.find((name) => name === query.get('tab')) ?? 'alerts';
  const { Content, access } = tabs[shown];
  const maySee = useGrant(access) !== 'no';
  return (
    <PageFrame title="Alerts" lead="What is out of the ordinary, and who is told of it.">
      <nav class="tabs" aria-label="Sections">
        {names.map((name) => (
          <Tab key={name} name={name} isHere={name === shown} />
        ))}
      </nav>
      {maySee ? <Content /> : <p>Your roles do not include this.</p>}
    </PageFrame>
  );
}

function Tab({ name, isHere }: { readonly name: TabName; readonly isHere: boolean }) {
  const { title, access } = tabs[name];
  if (useGrant(access) === 'no') return null;
  return (
    <a href={`/alerts?tab=${name}`} aria-current={isHere ? 'page' : undefined}>
      {title}
    </a>
  );
}
