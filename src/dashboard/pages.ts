// THE PAGES: where each is, what it is called, who finds it in the menu, and what loads it. The first that matches is
// shown. A page loads when it is asked for; the default export of its file is the component.

import type { Page } from './shell/page.ts';

export const pages: readonly Page[] = [
  { pattern: '/', title: 'Start', access: 'signed-in', load: () => import('./pages/welcome/home.tsx') },
  {
    pattern: '/overview',
    title: 'Overview',
    access: 'overview.view',
    menu: { icon: 'chart', group: 'work' },
    load: () => import('./pages/overview/overview.tsx'),
  },
  {
    pattern: '/requests',
    title: 'Requests',
    access: 'requests.view',
    menu: { icon: 'list', group: 'work' },
    load: () => import('./pages/requests/requests.tsx'),
  },
  {
    pattern: '/requests/:id',
    title: 'Request',
    access: 'requests.view',
    load: () => import('./pages/requests/request.tsx'),
  },
  {
    pattern: '/approvals',
    title: 'Approvals',
    access: 'requests.approve',
    menu: { icon: 'inbox', group: 'work' },
    load: () => import('./pages/approvals/approvals.tsx'),
  },
  {
    pattern: '/approvals/:id',
    title: 'Approval',
    access: 'requests.view',
    load: () => import('./pages/approvals/approval.tsx'),
  },
  {
    pattern: '/agents',
    title: 'Agents',
    access: 'agents.view',
    menu: { icon: 'agent', group: 'work' },
    load: () => import('./pages/agents/agents.tsx'),
  },
  {
    pattern: '/agents/new',
    title: 'Register Agent',
    access: 'agents.register',
    load: () => import('./pages/agents/register.tsx'),
  },
  {
    pattern: '/agents/:id',
    title: 'Agent',
    access: 'agents.view',
    load: () => import('./pages/agents/agent.tsx'),
  },
  {
    pattern: '/policies',
    title: 'Policies',
    access: 'policies.view',
    menu: { icon: 'policy', group: 'work' },
    load: () => import('./pages/policies/policies.tsx'),
  },
  {
    pattern: '/policies/file',
    title: 'Policy file',
    access: 'policies.view',
    load: () => import('./pages/policies/file.tsx'),
  },
  {
    pattern: '/compare',
    title: 'Compare',
    access: 'policies.try',
    load: () => import('./pages/compare/compare.tsx'),
  },
  {
    pattern: '/playground',
    title: 'Playground',
    access: 'policies.try',
    menu: { icon: 'try', group: 'work' },
    load: () => import('./pages/playground/playground.tsx'),
  },
  {
    pattern: '/alerts',
    title: 'Alerts',
    access: 'alerts.view',
    menu: { icon: 'alert', group: 'work' },
    load: () => import('./pages/alerts/alerts.tsx'),
  },
  {
    pattern: '/access',
    title: 'People & access',
    access: 'people.view',
    menu: { icon: 'people', group: 'set-up' },
    load: () => import('./pages/access/access.tsx'),
  },
  {
    pattern: '/audit',
    title: 'Audit',
    access: 'audit.view',
    menu: { icon: 'audit', group: 'set-up' },
    load: () => import('./pages/audit/audit.tsx'),
  },
  {
    pattern: '/account',
    title: 'Your account',
    access: 'signed-in',
    load: () => import('./pages/account/account.tsx'),
  },
  {
    pattern: '/welcome',
    title: 'Welcome',
    access: 'signed-in',
    load: () => import('./pages/welcome/welcome.tsx'),
  },
  {
    pattern: '/setup',
    title: 'Set up Writ',
    access: 'public',
    load: () => import('./pages/welcome/setup.tsx'),
  },
  {
    pattern: '/invitation',
    title: 'Your invitation',
    access: 'public',
    load: () => import('./pages/access/invitation.tsx'),
  },
  {
    pattern: '/reset',
    title: 'Set a new password',
    access: 'public',
    load: () => import('./pages/access/reset.tsx'),
  },
  {
    pattern: '/apply',
    title: 'Apply for access',
    access: 'public',
    load: () => import('./pages/access/apply.tsx'),
  },
];
