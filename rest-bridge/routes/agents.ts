/** Routes of queues and their agents. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { DomainName } from '../../runtime/domain-name/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { AgentView } from '../../runtime/runs/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const Names = (description: string) =>
  Type.Array(Type.String({ pattern: '^[A-Za-z0-9_.-]{1,64}$' }), { maxItems: 100, description });

const Settings = {
  state: Type.Enum(['ready', 'away'], { description: 'Whether the agent takes callers' }),
  queues: Names('Queues that the agent serves, beside those that name it'),
  skills: Names('What the agent can do'),
};

const Agent = Type.Object({
  id: Type.String({ description: 'The phone number' }),
  ...Settings,
  status: Type.Enum(['ready', 'away', 'ringing', 'talking', 'wrap_up', 'busy'], {
    description: '`busy`: in a call that no queue gave it',
  }),
  since: Type.Integer({ description: 'Last change, milliseconds since the epoch' }),
  queue: Type.String({ description: 'The queue of its present caller; empty: none' }),
});

const Queue = Type.Object({
  id: Type.String({ description: 'Its name' }),
  length: Type.Integer({ description: 'Callers who wait' }),
  since: Type.Integer({ description: 'Arrival of the caller who has waited longest, milliseconds since the epoch' }),
  serving_ms: Type.Integer({ description: 'Mean time for a caller, wrap-up included; 0: unknown' }),
});

const Change = Type.Partial(Type.Object(Settings), { additionalProperties: false });
const New = Type.Object(
  {
    state: Type.Optional(Settings.state),
    queues: Type.Optional(Settings.queues),
    skills: Type.Optional(Settings.skills),
  },
  { additionalProperties: false },
);
const NumberPath = Type.Object({ id: Type.String({ minLength: 1, maxLength: 64 }) });

const typeOf = (schema: typeof Agent | typeof Queue): ResourceType => ({
  fields: Object.keys(schema.properties),
  aliases: {},
  types: fieldTypes(schema),
});
const AGENTS = typeOf(Agent);
const QUEUES = typeOf(Queue);

/** The queues of the session's domain with callers, and its agents. */
export function agentRoutes(
  app: App,
  { agents, queues, directory }: Pick<RestDeps, 'agents' | 'queues' | 'directory'>,
): void {
  /** @throws RestError 404/1404: the domain was removed */
  const domainOf = (request: FastifyRequest): DomainName => {
    const domain = directory.domain(sessionOf(request).domain);
    if (domain === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Domain' });
    return domain.name;
  };
  /** @throws RestError 404/1404 */
  const one = async (request: FastifyRequest, id: string): Promise<AgentView> => {
    const agent = await agents.get(domainOf(request), id);
    if (agent === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Agent' });
    return agent;
  };
  const shown = answers({ 200: Agent, 400: ErrorAnswer, 404: ErrorAnswer });

  app.get(
    '/uc/queues',
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Type.Partial(Queue)), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => {
      const domain = domainOf(request);
      const rows = (await queues.list(domain)).map(({ name, length, since, serving }) => ({
        id: name,
        length,
        since,
        serving_ms: Math.round(serving ?? 0),
      }));
      return answerList(QUEUES, rows, request.query);
    },
  );

  app.get(
    '/uc/agents',
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Type.Partial(Agent)), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => answerList(AGENTS, (await agents.list(domainOf(request))).map(view), request.query),
  );

  app.get(
    `/uc/agents/${ID}`,
    {
      schema: {
        params: IdPath,
        querystring: ReadQuery,
        response: answers({ 200: Type.Partial(Agent), 404: ErrorAnswer }),
      },
    },
    async (request) => answerRead(AGENTS, view(await one(request, request.params.id)), request.query),
  );

  app.put(
    `/uc/agents/${ID}`,
    {
      schema: {
        summary: 'Makes a number an agent, or replaces its settings',
        params: NumberPath,
        body: New,
        response: shown,
      },
    },
    async (request) => {
      const { state = 'ready', queues: served = [], skills = [] } = request.body;
      const agent = await agents.set(domainOf(request), request.params.id, { state, queues: served, skills });
      await agents.kept();
      return view(agent);
    },
  );

  app.patch(
    `/uc/agents/${ID}`,
    {
      schema: {
        summary: 'Makes an agent ready or away, or changes what it serves',
        params: IdPath,
        body: Change,
        response: shown,
      },
    },
    async (request) => {
      await one(request, request.params.id);
      const agent = await agents.set(domainOf(request), request.params.id, request.body);
      await agents.kept();
      return view(agent);
    },
  );

  app.delete(
    `/uc/agents/${ID}`,
    {
      schema: {
        summary: 'Forgets the settings of an agent; its call goes on',
        params: IdPath,
        response: answers({ 204: NoContent, 404: ErrorAnswer }),
      },
    },
    async (request, reply) => {
      if (!(await agents.remove(domainOf(request), request.params.id)))
        throw new RestError('ENTITY_NOT_FOUND', { entity: 'Agent' });
      await agents.kept();
      return reply.code(204).send();
    },
  );
}

function view({ number, state, queues, skills, status, since, queue }: AgentView): Static<typeof Agent> {
  return { id: number, state, queues: [...queues], skills: [...skills], status, since, queue };
}
