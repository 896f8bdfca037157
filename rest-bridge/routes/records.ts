import { Type } from 'typebox';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const Record = Type.Object({}, { additionalProperties: true });

/** What operations and scenario runs of the session's domain did: milestones, traces, results. */
export function recordRoutes(app: App, { operationRecords, runs }: Pick<RestDeps, 'operationRecords' | 'runs'>): void {
  const one = { schema: { params: IdPath, response: answers({ 200: Record, 404: ErrorAnswer }) } };

  app.get(`/uc/operations/${ID}`, one, async (request) => {
    const record = operationRecords.read(sessionOf(request).domain, request.params.id);
    if (!record) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Operation' });
    return record;
  });

  app.get('/api/runs', { schema: { response: answers({ 200: Type.Array(Record) }) } }, async (request) => {
    const { domain } = sessionOf(request);
    return runs.runs().filter((run) => isOf(run, domain));
  });

  app.get(`/api/runs/${ID}`, one, async (request) => {
    const run = runs.read(request.params.id);
    if (!run || !isOf(run, sessionOf(request).domain)) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Run' });
    return run;
  });
}

function isOf({ domain }: { readonly domain: string }, mine: string): boolean {
  return domain.toLowerCase() === mine.toLowerCase();
}
