// The page of alerts: the alerts themselves, their rules, and the webhooks that are told. The address says
// which tab is shown.

import { useGrant } from '../../api/session.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { Tabs } from '../../parts/layout/tabs.tsx';
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

export default function Alerts() {
  const mayView = {
    'alerts.view': useGrant('alerts.view') !== 'no',
    'webhooks.view': useGrant('webhooks.view') !== 'no',
  };
  const names = (Object.keys(tabs) as TabName[]).filter((name) => mayView[tabs[name].access]);
  return (
    <PageFrame title="Alerts" lead="Active and past alerts, the rules for them, and who is notified.">
      <Tabs label="Parts of the alerts" tabs={names.map((name) => [name, tabs[name].title] as const)}>
        {(name) => {
          const { Content } = tabs[name as TabName];
          return <Content />;
        }}
      </Tabs>
    </PageFrame>
  );
}
