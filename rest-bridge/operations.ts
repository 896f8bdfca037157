import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import type { OperationDefinition, OperationRequest } from '../runtime/operations/index.ts';
import { withSelectors } from '../runtime/operations/index.ts';
import type { Value } from '../runtime/language/values.ts';
import type { App } from './app.ts';
import { sessionOf } from './authentication.ts';
import type { RestDeps } from './deps.ts';
import { idempotencyKey, onlyOnce } from './idempotency.ts';
import { ID } from './route-names.ts';
import { OPTIONAL_BODY } from './validation.ts';
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

/** What names dialogs in place of an id in the path. */
const SELECTORS = withSelectors(Type.Object({})).properties;

/** Query parameters where a selector names the dialog. */
const SelectingQuery = Type.Object({ ...OperationQuery.properties, ...SELECTORS });

const OPERATION_ID = 'operation-id';

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
  calls: Type.Optional(
    Type.Array(
      Type.Object({
        party: Type.String({ description: '`X`, who is called first, or `Y`, whom X then calls' }),
        number: Type.String({ description: 'What is dialled' }),
        route: Type.Enum(['sipuser', 'provider', 'scenario', 'conference', 'pickup', 'none'], {
          description: 'What the number means; `none`: nobody',
        }),
        domain: Type.String({ description: 'Whose account, trunk, scenario or room it is' }),
        target: Type.Optional(Type.String({ description: 'Login, code, room number, or the number picked up' })),
        featurecode: Type.Optional(Type.String({ description: 'Prefix of the featurecode that takes part' })),
        phones: Type.Integer({ description: 'How many phones or gateways would be called' }),
        contacts: Type.Optional(
          Type.Array(Type.String(), { description: "Their URIs; on own calls only those of the user's own phones" }),
        ),
        reason: Type.Optional(Type.String({ description: 'Why nobody would be called' })),
      }),
      { description: 'For an operation that starts a call: who would be called' },
    ),
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

/** What a request asks for, from its path, its query and its body: selectors may stand in the query as well. */
function askedBy(
  request: FastifyRequest,
  path: Path,
  selects: boolean,
  dialogid: string | undefined,
): OperationRequest {
  const { domain, userId } = sessionOf(request);
  const body = request.body ?? undefined;
  const selectors = selects && dialogid === undefined ? selectorsOf(request) : [];
  return {
    scope: { domain, ...(path === 'own' && { ownUserId: userId }) },
    parameters:
      selectors.length > 0 ? { ...Object.fromEntries(selectors), ...(typeof body === 'object' && body) } : body,
    ...(dialogid !== undefined && { dialogid }),
  };
}

function selectorsOf(request: FastifyRequest): [string, unknown][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it
  const query = Object.entries(request.query as Readonly<Record<string, unknown>>);
  return query.filter(([name]) => Object.hasOwn(SELECTORS, name));
}

async function serve(
  { operations, firstAnswers }: OperationDeps,
  { name, startsCall, target }: OperationDefinition,
  path: Path,
  request: FastifyRequest,
  reply: FastifyReply,
  dialogid?: string,
): Promise<FastifyReply> {
  const asked = askedBy(request, path, target !== 'none', dialogid);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it
  const { dry_run: dry } = request.query as { dry_run?: boolean };
  if (dry === true) {
    return reply.send({ dry_run: true, operation: name, ...(await operations.preview(name, asked)) });
  }
  const { userId } = sessionOf(request);
  const perform = async () => {
    const { id, response } = await operations.start(name, { ...asked, userId });
    // Also for an operation that turns out to be impossible when it has begun.
    if (id !== undefined) reply.header(OPERATION_ID, id);
    return { body: await response, ...(id !== undefined && { operationId: id }) };
  };
  const key = startsCall ? idempotencyKey(request) : undefined;
  const { operationId, body }: { body: Value; operationId?: string } =
    key === undefined
      ? await perform()
      : await onlyOnce(firstAnswers, reply, { userId, key, request: canonical([name, asked]) }, perform);
  if (operationId !== undefined) reply.header(OPERATION_ID, operationId);
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

  const selecting = { querystring: SelectingQuery, body: bodyOf(withSelectors(parameters)) };
  const anywhere = { schema: { ...schema, ...(target === 'none' ? { body: bodyOf(parameters) } : selecting) } };
  const onCollection = (request: FastifyRequest, reply: FastifyReply) => answer(request, reply);
  app.post(`${base}!${name}`, anywhere, onCollection);
  if (verb === 'POST') app.post(base, anywhere, onCollection);
  if (verb === 'DELETE') app.delete(base, anywhere, onCollection);

  if (target !== 'one' && target !== 'all') return;
  const there = { schema: { ...schema, params: IdPath, body: bodyOf(parameters) } };
  if (verb === 'DELETE')
    app.delete(`${base}/${ID}`, there, async (request, reply) => answer(request, reply, request.params.id));
  else app.post(`${base}/${ID}!${name}`, there, async (request, reply) => answer(request, reply, request.params.id));
}

/** An operation whose parameters can all be left out needs no body. */
function bodyOf(parameters: TSchema): TSchema {
  const { required = [] } = parameters as { required?: readonly string[] };
  return required.length === 0 ? { ...parameters, [OPTIONAL_BODY]: true } : parameters;
}

/** JSON in which the order of keys does not matter. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
