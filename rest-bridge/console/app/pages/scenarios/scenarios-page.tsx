/** The scenarios of the domain and of files, and one of them. */
import type { PageProps } from '../../pages.ts';
import { Lazy } from '../../shell/lazy.tsx';
import type { ScenarioPageProps } from './scenario-page.tsx';
import { ScenarioList } from './scenario-list.tsx';

const load = () => import('./scenario-page.tsx');

export default function ScenariosPage({ rest, query }: PageProps) {
  const [kind, id] = rest;
  if ((kind === 'ivr' || kind === 'svc') && id !== undefined)
    return <Lazy<ScenarioPageProps> key={`${kind}/${id}`} load={load} props={{ kind, id, query }} />;
  return <ScenarioList query={query} />;
}
