/** The person's own ended calls. */
import type { PageProps } from '../../pages.ts';
import { OWN_CALLS } from '../../stores/call-scope.ts';
import { words } from '../../words/mine.ts';
import { HistoryOf } from '../history/history-page.tsx';

export default function MyHistoryPage(props: PageProps) {
  return <HistoryOf {...props} title={words('myHistory')} scope={OWN_CALLS} />;
}
