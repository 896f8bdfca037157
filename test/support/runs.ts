import type { RunView } from '../../runtime/runs/index.ts';
import type { RestClient } from '../phones/rest-client.ts';

const RUNS = '/rest/v1/api/runs';

/** The latest runs of a scenario with their steps, the latest first. @param count of them */
export async function runsOf(rest: RestClient, scenario: string, count = 1): Promise<readonly RunView[]> {
  const filter = encodeURIComponent(JSON.stringify({ scenario }));
  const listed = (await rest.get(`${RUNS}?filter=${filter}&limit=${count}&mask=id`)).json<readonly { id: string }[]>();
  return await Promise.all(listed.map(async ({ id }) => (await rest.get(`${RUNS}/${id}`)).json<RunView>()));
}
