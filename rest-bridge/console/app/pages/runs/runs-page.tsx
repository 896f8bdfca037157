/** Runs of scenarios, and one of them. */
import type { PageProps } from '../../pages.ts';
import { Lazy } from '../../shell/lazy.tsx';
import { RunList } from './run-list.tsx';
import type { RunPageProps } from './run-page.tsx';

const load = () => import('./run-page.tsx');

export default function RunsPage({ rest: [id, child], query }: PageProps) {
  if (id === undefined) return <RunList query={query} />;
  const props = { id, query, ...(child !== undefined && { child }) };
  return <Lazy<RunPageProps> key={`${id}/${child ?? ''}`} load={load} props={props} />;
}
