// Icons by their meaning in the dashboard. Icons only decorate: the same meaning is always there as text.

import {
  ArrowLeft,
  ArrowUp,
  Bell,
  Bot,
  ChartNoAxesColumn,
  Check,
  ChevronDown,
  ChevronRight,
  CircleAlert,
  CircleCheck,
  CircleQuestionMark,
  CircleX,
  Clock,
  Copy,
  Download,
  ExternalLink,
  Eye,
  FingerprintPattern,
  FlaskConical,
  Inbox,
  KeyRound,
  List,
  Lock,
  LockOpen,
  LogOut,
  Menu,
  Monitor,
  Moon,
  OctagonX,
  Plus,
  RefreshCw,
  ScrollText,
  Search,
  ShieldCheck,
  Sun,
  TriangleAlert,
  UserCheck,
  Users,
  Waypoints,
  X,
} from 'lucide';
import { h } from 'preact';

const icons = {
  agent: Bot,
  alert: Bell,
  allow: CircleCheck,
  audit: ShieldCheck,
  back: ArrowLeft,
  chart: ChartNoAxesColumn,
  check: Check,
  clock: Clock,
  close: X,
  copy: Copy,
  dark: Moon,
  deny: CircleX,
  down: ChevronDown,
  download: Download,
  escalate: CircleAlert,
  inbox: Inbox,
  key: KeyRound,
  light: Sun,
  list: List,
  locked: Lock,
  review: Eye,
  menu: Menu,
  open: ExternalLink,
  passkey: FingerprintPattern,
  people: Users,
  person: UserCheck,
  plus: Plus,
  point: Waypoints,
  policy: ScrollText,
  reauth: UserCheck,
  refresh: RefreshCw,
  right: ChevronRight,
  search: Search,
  signOut: LogOut,
  stop: OctagonX,
  system: Monitor,
  try: FlaskConical,
  unknown: CircleQuestionMark,
  unlocked: LockOpen,
  up: ArrowUp,
  warning: TriangleAlert,
} as const;

export type IconName = keyof typeof icons;

export function Icon({ name, size = 16 }: { readonly name: IconName; readonly size?: number }) {
  return (
    <svg
      class="icon"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      stroke-width="2"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      {icons[name].map(([tag, attributes], index) => h(tag, { key: index, ...attributes }))}
    </svg>
  );
}
