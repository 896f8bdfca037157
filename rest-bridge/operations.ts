/** REST routes of the operations on calls and conferences. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type TSchema, Type } from 'typebox';
import {
  type CallMethod,
  type ConferenceRoute,
  NAMING,
  type OperationDefinition,
  type OperationRequest,
  settingsOf,
} from '../runtime/operations/index.ts';
import type { Value } from '../runtime/language/index.ts';
import type { App } from './app.ts';
import { sessionOf } from './authentication.ts';
import type { RestDeps } from './deps.ts';
import type { DialogScope } from '../runtime/callstore/index.ts';
import { RestError } from './errors.ts';
import { idempotencyKey, onlyOnce } from './idempotency.ts';
import { ID } from './route-names.ts';
import { OPTIONAL_BODY } from './validation.ts';
import { answers, ErrorAnswer, IdPath } from './routes/schemas.ts';

/** Paths of operations: on all dialogs and conferences of the domain, and on those of the caller's own accounts. */
export const OPERATION_PATHS = {
  calls: [
    { base: '/uc/calls', path: 'domain' },
    { base: '/user/sip/calls', path: 'own' },
  ],
  conferences: [
    { base: '/uc/conferences', path: 'domain' },
    { base: '/uc/conferences_by_participation', path: 'own' },
  ],
} as const;
type Collection = keyof typeof OPERATION_PATHS;
type Path = (typeof OPERATION_PATHS)[Collection][number]['path'];

/** A participant of a conference in a path. */
export const PARTICIPANT_ID = ':participantid(^[^!]+)';
export const ParticipantPath = Type.Object({
  id: Type.String({ minLength: 1 }),
  participantid: Type.String({ minLength: 1 }),
});

/** Query parameters of every operation. */
export const OperationQuery = Type.Object({
  dry_run: Type.Optional(
    Type.Boolean({ description: 'Check everything, do nothing, and answer which dialogs and legs would be touched.' }),
  ),
});

/** Selectors, which name dialogs without an id in the path. */
const SELECTORS = NAMING.dialog;

/** Query parameters of operations without a dialog in the path. */
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
/** The target in the path of a request. */
type Named = Pick<OperationRequest, 'dialogid' | 'confid' | 'participantid'>;

/** Makes the routes of all operations on calls or conferences from their definitions. */
export function operationRoutes(app: App, deps: OperationDeps, on: Collection): void {
  for (const { base, path } of OPERATION_PATHS[on]) {
    for (const definition of deps.operations.definitions.values()) {
      const { http } = definition;
      if (http?.on !== on) continue;
      if (http.on === 'conferences') conferenceRoute(app, deps, { definition, http, base, path });
      else if (http.paths.includes(path)) callMethod(app, deps, { definition, http, base, path });
    }
  }
}

/** The dialogs and conferences that a request on this path may see. */
export function scopeOf(request: FastifyRequest, path: Path): DialogScope {
  const { domain, userId } = sessionOf(request);
  return { domain, ...(path === 'own' && { ownUserId: userId }) };
}

/** Reads the operation's target and parameters from path, query and body. The query may contain selectors, too. */
function askedBy(request: FastifyRequest, { definition, http, path }: Served, named: Named): OperationRequest {
  const body = request.body ?? undefined;
  const whole = http.on === 'conferences' ? http.body : undefined;
  const selects = http.on === 'calls' && definition.target !== 'none' && named.dialogid === undefined;
  const selectors = selects ? selectorsOf(request) : [];
  return {
    scope: scopeOf(request, path),
    parameters:
      whole !== undefined
        ? { [whole]: body }
        : selectors.length > 0
          ? { ...Object.fromEntries(selectors), ...(typeof body === 'object' && body) }
          : body,
    ...named,
  };
}

function selectorsOf(request: FastifyRequest): [string, unknown][] {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it
  const query = Object.entries(request.query as Readonly<Record<string, unknown>>);
  return query.filter(([name]) => Object.hasOwn(SELECTORS, name));
}

/** An operation on one of its paths. */
interface Served<Http extends CallMethod | ConferenceRoute = CallMethod | ConferenceRoute> {
  readonly definition: OperationDefinition;
  readonly http: Http;
  readonly base: string;
  readonly path: Path;
}

async function serve(
  { operations, firstAnswers }: OperationDeps,
  served: Served,
  request: FastifyRequest,
  reply: FastifyReply,
  named: Named = {},
): Promise<FastifyReply> {
  const { name, startsCall } = served.definition;
  const asked = askedBy(request, served, named);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema has read it
  const { dry_run: dry } = request.query as { dry_run?: boolean };
  if (dry === true) {
    return reply.send({ dry_run: true, operation: name, ...(await operations.preview(name, asked)) });
  }
  const { userId } = sessionOf(request);
  const perform = async () => {
    const { id, response } = await operations.start(name, { ...asked, userId });
    // Set before the answer, so that an operation that fails after its start has it too.
    if (id !== undefined) reply.header(OPERATION_ID, id);
    return { body: shaped(served.http, await response), ...(id !== undefined && { operationId: id }) };
  };
  const key = startsCall ? idempotencyKey(request) : undefined;
  const { operationId, body }: { body: Value; operationId?: string } =
    key === undefined
      ? await perform()
      : await onlyOnce(firstAnswers, reply, { userId, key, request: canonical([name, asked]) }, perform);
  if (operationId !== undefined) reply.header(OPERATION_ID, operationId);
  return reply.send(body);
}

/** The form of the answer in HTTP. @throws RestError for an empty list that means a missing entity */
function shaped(http: CallMethod | ConferenceRoute, answer: Value): Value {
  if (http.on === 'calls') return answer;
  const { missing: entity, answer: field } = http;
  if (entity !== undefined && Array.isArray(answer) && answer.length === 0)
    throw new RestError('ENTITY_NOT_FOUND', { entity });
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the definition says that it has the field
  return field === undefined ? answer : ((answer as Readonly<Record<string, Value>>)[field] ?? null);
}

/**
 * Routes of an operation on calls: its own method on a dialog, and on the collection with a selector; also POST or DELETE,
 * if the operation has this verb.
 */
function callMethod(app: App, deps: OperationDeps, served: Served<CallMethod>): void {
  const { definition, base } = served;
  const { name, target, parameters, summary } = definition;
  const { verb } = served.http;
  const schema = {
    summary,
    querystring: OperationQuery,
    response: answers({ 200: Type.Union([definition.response, DryRun]), 400: ErrorAnswer, 404: ErrorAnswer }),
  };

  const selecting = { querystring: SelectingQuery, body: bodyOf(settingsOf(definition)) };
  const anywhere = { schema: { ...schema, ...(target === 'none' ? { body: bodyOf(parameters) } : selecting) } };
  const onCollection = (request: FastifyRequest, reply: FastifyReply) => serve(deps, served, request, reply);
  app.post(`${base}!${name}`, anywhere, onCollection);
  if (verb === 'POST') app.post(base, anywhere, onCollection);
  if (verb === 'DELETE') app.delete(base, anywhere, onCollection);

  if (target !== 'dialog' && target !== 'dialogs') return;
  app.route({
    method: verb === 'DELETE' ? 'DELETE' : 'POST',
    url: verb === 'DELETE' ? `${base}/${ID}` : `${base}/${ID}!${name}`,
    schema: { ...schema, params: IdPath, body: bodyOf(parameters) },
    handler: (request, reply) => serve(deps, served, request, reply, { dialogid: request.params.id }),
  });
}

/** The route of an operation on conferences, with its HTTP method and path. */
function conferenceRoute(app: App, deps: OperationDeps, served: Served<ConferenceRoute>): void {
  const { definition, http, base } = served;
  const { target, parameters } = definition;
  const answer = fieldOf(definition.response, http.answer);
  const hasBody = Object.keys(parameters.properties).length > 0;
  const isNamed = target !== 'none';
  app.route({
    method: http.method,
    url: base + http.path.replace('{confid}', ID).replace('{participantid}', PARTICIPANT_ID),
    schema: {
      ...(isNamed && { params: target === 'participant' ? ParticipantPath : IdPath }),
      ...(http.dryRun === true && { querystring: OperationQuery }),
      ...(hasBody && { body: fieldOf(parameters, http.body) }),
      response: answers({
        200: http.dryRun === true ? Type.Union([answer, DryRun]) : answer,
        ...(hasBody && { 400: ErrorAnswer }),
        404: ErrorAnswer,
        ...(hasBody && isNamed && { 422: ErrorAnswer }),
      }),
    },
    handler: (request, reply) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- as the schema above
      const { id, participantid } = request.params as { readonly id?: string; readonly participantid?: string };
      const named = { ...(id !== undefined && { confid: id }), ...(participantid !== undefined && { participantid }) };
      return serve(deps, served, request, reply, named);
    },
  });
}

/** The schema of one field; without a field, the whole schema. */
function fieldOf(schema: TSchema, field: string | undefined): TSchema {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the definition names a field that it has
  const { properties } = schema as { readonly properties?: Readonly<Record<string, TSchema>> };
  return field === undefined ? schema : (properties?.[field] ?? schema);
}

/** An operation without required parameters needs no body. */
function bodyOf(parameters: TSchema): TSchema {
  const { required = [] } = parameters as { required?: readonly string[] };
  return required.length === 0 ? { ...parameters, [OPTIONAL_BODY]: true } : parameters;
}

/** JSON with sorted keys, so that equal requests have equal texts. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, part: unknown) =>
    typeof part === 'object' && part !== null && !Array.isArray(part)
      ? Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : part,
  );
}
