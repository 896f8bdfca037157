/** The person's own live calls. */
import type { PageProps } from '../../pages.ts';
import { OWN_CALLS } from '../../stores/call-scope.ts';
import { ownCalls } from '../../stores/calls.ts';
import { words } from '../../words/mine.ts';
import { CallDetail } from '../calls/call-detail.tsx';
import { CallsList } from '../calls/calls-page.tsx';

export default function MyCallsPage({ rest: [id], query }: PageProps) {
  if (id !== undefined) return <CallDetail key={id} id={id} scope={OWN_CALLS} />;
  return <CallsList title={words('myCalls')} calls={ownCalls} scope={OWN_CALLS} query={query} />;
}
