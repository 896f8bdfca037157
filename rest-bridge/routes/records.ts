/** Routes of the records of scenario runs. */
import { type Static, Type } from 'typebox';
import type { DomainName } from '../../runtime/domain-name/index.ts';
import { RUN_FIELDS, type RunRecord, runOf, runRecord } from '../../runtime/history/index.ts';
import { fieldTypes, localPages } from '../../runtime/model/index.ts';
import type { RunView } from '../../runtime/runs/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, Count, ListQuery, type ResourceType, wantsCount, wishOf } from '../collection/list.ts';
import type { DebuggedRun, RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { listQuery } from '../model/query.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';
import { MadeTest } from './workbench.ts';

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

const nullable = (type: 'string' | 'integer', description: string) =>
  Type.Union([type === 'string' ? Type.String() : Type.Integer(), Type.Null()], { description });

/** A run in a list: without its steps. */
const Listed = Type.Object({
  id: Type.String(),
  domain: Type.String(),
  ts: Type.Integer({ description: 'Beginning, milliseconds since the epoch' }),
  start: Type.Integer({ description: 'The same' }),
  scenario: Type.String(),
  version: Type.String({ description: 'Number of its version' }),
  hash: nullable('string', 'Hash of the text of that version'),
  file: Type.String(),
  callid: Type.String({ description: 'Call-ID of its own party' }),
  from: nullable('string', 'The caller'),
  to: nullable('string', 'The dialled number'),
  status: Type.Enum(['running', 'completed', 'ended', 'failed', 'stopped']),
  error_code: nullable('string', 'Of a failed run'),
  milliseconds: nullable('integer', 'Its duration'),
  steps: nullable('integer', 'Number of blocks'),
  args: Record,
  variables: Record,
  outcome: Record,
});

export const RUN: ResourceType = { fields: Object.keys(Listed.properties), aliases: {}, types: fieldTypes(Listed) };

const { export: _export, ...LISTS } = ListQuery.properties;
const RunsQuery = Type.Object({
  ...LISTS,
  interval: Type.Optional(
    Type.String({
      description:
        'JSON ["from", "to"] of the beginnings of ended runs; default: the last 24 hours, and runs in progress',
    }),
  ),
});

const DAY_MS = 86_400_000;
const LIMIT = 1000;
/** All times that a run may have. */
const EVER = [0, Date.UTC(2999, 0, 1)];
/** The latest runs first. */
const ORDER = '[{"ts":"desc"}]';

/** Records of the scenario runs of the session's domain: traces and results. */
export function recordRoutes(
  app: App,
  deps: Pick<RestDeps, 'directory' | 'runHistory' | 'runs' | 'pages' | 'workbench'>,
): void {
  const { directory, runHistory, runs, workbench } = deps;
  const { pages = { runs: localPages(RUN, (domain: DomainName) => liveRuns(runs.inProgress(domain), domain)) } } = deps;

  app.get(
    '/api/runs',
    {
      schema: {
        querystring: RunsQuery,
        response: answers({ 200: Type.Union([Type.Array(Type.Partial(Listed)), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => {
      const { domain } = sessionOf(request);
      const id = directory.domain(domain)?.id;
      const { interval, mask: _mask, flat: _flat, ...query } = request.query;
      const { offset = 0, limit = LIMIT, order = ORDER } = query;
      const now = Date.now();
      const wanted = {
        interval: [now - DAY_MS, now + DAY_MS],
        ...listQuery({ ...query, order, ...(interval === undefined ? {} : { interval }) }, ''),
        mask: RUN_FIELDS.join(),
        offset: 0,
        limit: wantsCount(query) ? 0 : offset + limit,
      };
      // First: a run that ends meanwhile is among the ended ones, too, and none is missing. Other nodes write theirs at that.
      const first = interval === undefined ? offset + limit : 0;
      const wish = { ...wishOf({ ...query, order }), offset: 0, limit: first };
      if (wantsCount(query)) {
        const going = await pages.runs.count(domain, wish);
        const { count } = (await endedOf(id, wanted)) as Static<typeof Count>;
        return { count: (interval === undefined ? going : 0) + count };
      }
      const live = await pages.runs.page(domain, wish);
      const ended = (await endedOf(id, wanted)) as readonly RunRecord[];
      const over = new Set(ended.map((run) => run.id));
      const going = (live as readonly RunRecord[]).filter((run) => !over.has(run.id));
      const all = [...going, ...ended.map((run) => listed(run, domain))];
      return answerList(RUN, all, { ...request.query, offset, limit, order }, withoutNulls);
    },
  );

  app.get(
    `/api/runs/${ID}`,
    { schema: { params: IdPath, response: answers({ 200: Record, 404: ErrorAnswer }) } },
    async (request) => {
      const run = await runOfDomain(sessionOf(request).domain, request.params.id);
      if (run === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Run' });
      return run;
    },
  );

  app.get(
    `/api/runs/${ID}/test`,
    { schema: { params: IdPath, response: answers({ 200: MadeTest, 404: ErrorAnswer, 422: ErrorAnswer }) } },
    async (request) => {
      const { domain } = sessionOf(request);
      const run = await runOfDomain(domain, request.params.id);
      if (run === undefined || workbench === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Run' });
      const made = await workbench.asTest(run, (other) => runOfDomain(domain, other));
      if ('refused' in made) throw new RestError('CANNOT_APPLY', { field: 'id', reason: made.refused });
      return made;
    },
  );

  const runOfDomain = async (domain: DomainName, id: string): Promise<RunView | undefined> => {
    const run = runs.read(id) ?? (await past(domain, id)) ?? (await runs.readElsewhere?.(id, domain));
    return run?.domain === domain ? run : undefined;
  };

  /** Ended runs, or their number. @param id of the domain */
  const endedOf = async (id: string | undefined, wanted: object): Promise<unknown> => {
    if (id !== undefined) return await (await runHistory.collection(id)).list(wanted);
    return 'limit' in wanted && wanted.limit === 0 ? { count: 0 } : [];
  };

  const past = async (domain: DomainName, run: string): Promise<RunView | undefined> => {
    const id = directory.domain(domain)?.id;
    const filter = ['==', ['property', 'id'], run];
    const found = id && (await (await runHistory.collection(id)).list({ filter, interval: EVER, limit: 1 }));
    const record = Array.isArray(found) ? (found[0] as RunRecord | undefined) : undefined;
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what was kept of a run
    return record && ({ ...runOf(record), domain } as RunView);
  };

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

/** Runs in progress as lists have them. */
export function liveRuns(runs: readonly RunView[], domain: DomainName): readonly RunRecord[] {
  return runs.filter((run) => !run.outcome).map((run) => listed(withoutSteps(run), domain));
}

/** A run as lists filter and order it. */
function listed(record: RunRecord, domain: DomainName): RunRecord {
  return { ...record, status: record['status'] ?? 'running', domain, start: record.ts };
}

function withoutSteps(run: RunView): RunRecord {
  const {
    trace: _trace,
    children: _children,
    ...rest
  } = runRecord(run) as RunRecord & { trace?: unknown; children?: unknown };
  return rest;
}

function withoutNulls(item: object): object {
  return Object.fromEntries(Object.entries(item).filter(([, value]) => value !== null));
}
