import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { OperationDefinition, OperationRequest } from '../components/operation/index.ts';
import { withSelectors } from '../components/operation/index.ts';
import type { Value } from '../runtime/interpreter/values.ts';
import type { App } from './app.ts';
import { sessionOf } from './authentication.ts';
import type { RestDeps } from './deps.ts';
import { idempotencyKey, onlyOnce } from './idempotency.ts';
import { ID } from './route-names.ts';
import { answers, ErrorAnswer, IdPath } from './routes/schemas.ts';

/** Where call operations are: all dialogs of the domain, and those of the caller's own accounts. */
export const CALL_PATHS = [
  { base: '/uc/calls', path: 'domain' },
  { base: '/user/sip/calls', path: 'own' },
] as const;

/** Query parameters of every operation. */
export const OperationQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Check everything, do nothing, and answer which dialogs and legs would be touched.' }),
  ),
});

/** The answer to `dry_run=true`. */
export const DryRun = Type.Object({
  dry_run: Type.Literal(true),
  operation: Type.String(),
  dialogs: Type.Array(
    Type.Object({
      dialogid: Type.String(),
      legs: Type.Array(
        Type.Object({ callid: Type.String(), side: Type.Enum(['a', 'b']), uris: Type.Array(Type.String()) }),
      ),
    }),
  ),
});

type OperationDeps = Pick<RestDeps, 'operations' | 'firstAnswers'>;
type Path = (typeof CALL_PATHS)[number]['path'];

/**
 * Routes of every registered call operation, on the paths that it is for: as its own method on a dialog, or on the
 * collection with a selector in the body, and as POST or DELETE where it is what they mean.
 */
export function operationRoutes(app: App, deps: OperationDeps): void {
  for (const { base, path } of CALL_PATHS) {
    for (const definition of deps.operations.definitions.values()) {
      if (definition.paths.includes(path)) routesOf(app, deps, definition, base, path);
    }
  }
}

async function serve(
  { operations, firstAnswers }: OperationDeps,
  { name, startsCall }: OperationDefinition,
  path: Path,
  request: FastifyRequest,
  reply: FastifyReply,
  dialogid?: string,
): Promise<FastifyReply> {
  const { domain, userId } = sessionOf(request);
  const asked: OperationRequest = {
    scope: { domain, ...(path === 'own' && { ownUserId: userId }) },
    parameters: request.body ?? undefined,
    ...(dialogid !== undefined && { dialogid }),
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it
  const { dry_run: dry } = request.query as { dry_run?: boolean };
  if (dry === true) {
    return reply.send({ dry_run: true, operation: name, dialogs: await operations.preview(name, asked) });
  }
  const perform = async () => {
    const { id, response } = await operations.start(name, asked);
    return { body: await response, ...(id !== undefined && { operationId: id }) };
  };
  const key = startsCall ? idempotencyKey(request) : undefined;
  const { operationId, body }: { body: Value; operationId?: string } =
    key === undefined
      ? await perform()
      : await onlyOnce(firstAnswers, reply, { userId, key, request: JSON.stringify([name, asked]) }, perform);
  if (operationId !== undefined) reply.header('operation-id', operationId);
  return reply.send(body);
}

function routesOf(app: App, deps: OperationDeps, definition: OperationDefinition, base: string, path: Path): void {
  const { name, target, parameters, verb, summary } = definition;
  const answer = (request: FastifyRequest, reply: FastifyReply, dialogid?: string) =>
    serve(deps, definition, path, request, reply, dialogid);
  const schema = {
    summary,
    querystring: OperationQuery,
    response: answers({ 200: Type.Union([definition.response, DryRun]), 400: ErrorAnswer, 404: ErrorAnswer }),
  };

  const anywhere = { schema: { ...schema, body: target === 'none' ? parameters : withSelectors(parameters) } };
  const onCollection = (request: FastifyRequest, reply: FastifyReply) => answer(request, reply);
  app.post(`${base}!${name}`, anywhere, onCollection);
  if (verb === 'POST') app.post(base, anywhere, onCollection);
  if (verb === 'DELETE') app.delete(base, anywhere, onCollection);

  if (target !== 'one' && target !== 'all') return;
  const there = { schema: { ...schema, params: IdPath, ...bodyOf(parameters) } };
  if (verb === 'DELETE')
    app.delete(`${base}/${ID}`, there, async (request, reply) => answer(request, reply, request.params.id));
  else app.post(`${base}/${ID}!${name}`, there, async (request, reply) => answer(request, reply, request.params.id));
}

/** An operation whose parameters can all be left out needs no body. */
function bodyOf(parameters: TSchema): { body?: TSchema } {
  const { required = [] } = parameters as { required?: readonly string[] };
  return required.length === 0 ? {} : { body: parameters };
}
