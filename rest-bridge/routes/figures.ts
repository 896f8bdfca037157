/** Figures of the scenarios of the session's domain. */
import { Type } from 'typebox';
import { type FiguresView, HOUR_MS } from '../../runtime/history/index.ts';
import { parseInterval } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { listQuery } from '../model/query.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const Query = Type.Object({
  interval: Type.Optional(
    Type.String({ description: 'JSON ["from", "to"] of the hours in which runs ended; default: the last 24 hours' }),
  ),
});

const milliseconds = (description: string) => Type.Integer({ description: `${description}, in milliseconds` });
const counts = (description: string) => Type.Record(Type.String(), Type.Integer(), { description });

const Figures = Type.Object({
  scenario: Type.String(),
  from: Type.Integer({ description: 'Beginning of the first hour, milliseconds since the epoch' }),
  to: Type.Integer({ description: 'End of the last hour' }),
  runs: Type.Integer({ description: 'Ended runs, also those as a part of other runs' }),
  statuses: counts('Runs by their end: completed, ended, failed, stopped'),
  versions: counts('Runs by the number of their version'),
  total_ms: milliseconds('Duration of all runs'),
  longest_ms: milliseconds('Duration of the longest run'),
  failures: counts('Failed runs by error code'),
  blocks: Type.Array(
    Type.Object({
      block: Type.String(),
      count: Type.Integer({ description: 'How often runs went through it' }),
      total_ms: milliseconds('Time in it'),
      longest_ms: milliseconds('Longest time in it'),
    }),
    { description: 'Longest total time first; of a module, its functions' },
  ),
  cpu_ms: Type.Number({ description: 'Processor time of scripts, in milliseconds' }),
  memory_bytes: Type.Integer({ description: 'Greatest memory of a script' }),
});

const DAY_MS = 24 * HOUR_MS;

const NONE: FiguresView = {
  runs: 0,
  statuses: {},
  versions: {},
  total_ms: 0,
  longest_ms: 0,
  failures: {},
  blocks: [],
  cpu_ms: 0,
  memory_bytes: 0,
};

export function figureRoutes(app: App, deps: Pick<RestDeps, 'directory' | 'scenarioFigures' | 'scripts'>): void {
  const { directory, scenarioFigures, scripts } = deps;

  app.get(
    `/api/scenarios/${ID}/figures`,
    {
      schema: {
        params: IdPath,
        querystring: Query,
        response: answers({ 200: Figures, 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id: scenario } = request.params;
      const { domain } = sessionOf(request);
      const period = hoursOf(request.query.interval);
      const id = directory.domain(domain)?.id;
      const figures = id === undefined ? undefined : await scenarioFigures?.read(id, scenario, period);
      if (figures === undefined && (await scripts?.program(scenario, domain)) === undefined)
        throw new RestError('ENTITY_NOT_FOUND', { entity: 'Scenario' });
      const { blocks, ...counted } = figures ?? NONE;
      return { scenario, ...period, ...counted, blocks: [...blocks] };
    },
  );
}

/** The period in whole hours. @throws BadParameterError */
function hoursOf(interval: string | undefined): { readonly from: number; readonly to: number } {
  const now = Date.now();
  const { from, to } =
    interval === undefined ? { from: now - DAY_MS, to: now } : parseInterval(listQuery({ interval }, '').interval);
  return { from: Math.floor(from / HOUR_MS) * HOUR_MS, to: Math.ceil(to / HOUR_MS) * HOUR_MS };
}
