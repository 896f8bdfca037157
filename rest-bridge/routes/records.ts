/** Routes of the records of scenario runs. */
import { type Static, Type } from 'typebox';
import type { DomainName } from '../../runtime/domain-name/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import type { DebuggedRun, RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

/** A scenario whose next run should wait for a debugger; `from`: only a call from this number. */
const Debug = Type.Object({
  scenario: Type.String({ minLength: 1, maxLength: 64 }),
  from: Type.Optional(Type.String({ maxLength: 64 })),
});

/** `until`: milliseconds since the epoch. */
const Debugged = Type.Object({ scenario: Type.String(), from: Type.String(), until: Type.Integer() });
const Armed = Type.Object({ ...Debugged.properties, port: Type.Integer() });

const WHY_NOT = {
  not_allowed: 'this node lets no debugger in',
  no_script: 'it has no script that a debugger could stop in: read its trace, at /api/runs',
};

const Record = Type.Object({}, { additionalProperties: true });

/** Records of the scenario runs of the session's domain: traces and results. */
export function recordRoutes(app: App, { runs }: Pick<RestDeps, 'runs'>): void {
  const one = { schema: { params: IdPath, response: answers({ 200: Record, 404: ErrorAnswer }) } };

  app.get('/api/runs', { schema: { response: answers({ 200: Type.Array(Record) }) } }, async (request) => {
    const { domain } = sessionOf(request);
    return runs.runs().filter((run) => isOf(run, domain));
  });

  app.get(`/api/runs/${ID}`, one, async (request) => {
    const run = runs.read(request.params.id);
    if (!run || !isOf(run, sessionOf(request).domain)) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Run' });
    return run;
  });

  app.get('/api/debug', { schema: { response: answers({ 200: Type.Array(Debugged) }) } }, async (request) =>
    (await runs.debugged(sessionOf(request).domain)).map(debuggedOf),
  );

  app.post('/api/debug', { schema: { body: Debug, response: answers({ 200: Armed }) } }, async (request) => {
    const { scenario, from } = request.body;
    const armed = await runs.debug(scenario, sessionOf(request).domain, from ?? '');
    if (armed === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Scenario' });
    if (typeof armed !== 'string') return { ...debuggedOf(armed), port: armed.port };
    throw new RestError('CANNOT_APPLY', { field: 'scenario', reason: WHY_NOT[armed] });
  });

  app.delete(
    `/api/debug/${ID}`,
    { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer }) } },
    async (request, reply) => {
      const { id } = request.params;
      if (!runs.undebug(id, sessionOf(request).domain))
        throw new RestError('ENTITY_NOT_FOUND', { entity: 'Debugged run' });
      return reply.code(204).send();
    },
  );
}

function debuggedOf({ scenario, callerNumber, until }: DebuggedRun): Static<typeof Debugged> {
  return { scenario, from: callerNumber, until };
}

function isOf({ domain }: { readonly domain: DomainName }, mine: DomainName): boolean {
  return domain === mine;
}
