/** Routes of the generic operations of a collection. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { WriteOptions } from '../../runtime/domain/index.ts';
import type { Session } from '../../runtime/iam/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { badParameter, RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from '../routes/schemas.ts';
import { entityTag, preconditionOf, tagged } from './entity-tag.ts';
import { answerList, answerPage, answerRead, Count, ListQuery, ReadQuery, selectionOf, wantsCount } from './list.ts';
import type { Fields, Resource } from './resource.ts';

/** Any JSON object: the collection reports mistakes in it. */
const Body = Type.Object({}, { additionalProperties: true });

/** One resource, or the answer of a list with `export`. */
const OneOrMore = Type.Union([Body, Type.Array(Body, { maxItems: 10_000 })]);

const WithId = Type.Object({ id: Type.String() }, { additionalProperties: true });

const WriteQuery = Type.Object({
  dry_run: Type.Optional(Type.Boolean({ description: 'Checks and answers as the request would, and writes nothing' })),
});

/**
 * The generic operations of one collection (specification, "Generic REST operations"): POST, GET, PATCH, DELETE and
 * LOOKUP. PUT is not offered to domain-center collections.
 *
 * @param path below the base, e.g. `/domain/sipusers`
 */
export function collectionRoutes(app: App, path: string, resource: Resource): void {
  const one = `${path}/${ID}`;
  const Entity = Type.Partial(resource.schema);
  const notFound = () => new RestError('ENTITY_NOT_FOUND', { entity: resource.entity });
  /** @param options a dry run keeps no secret, and shows none */
  const answerOf = (entity: object, fields: Fields, isNew: boolean, options: WriteOptions): object => ({
    ...shown(resource, entity),
    ...(options.dryRun !== true && resource.secretsOf?.(entity, fields, isNew)),
  });
  /** Tags an answer. The tag is that of later reads, which have no secrets. */
  const tag = (reply: FastifyReply, entity: object): void => {
    reply.header('etag', entityTag(stable(resource, shown(resource, entity))));
  };
  const Written = Type.Partial(Type.Object({ ...resource.schema.properties, ...resource.secretFields }));
  const changed = answers({ 200: Written, 400: ErrorAnswer, 403: ErrorAnswer, 404: ErrorAnswer, 409: ErrorAnswer });

  const created = answers({ ...changed, 200: Type.Union([Written, Type.Array(Written)]) });
  const isTransactional = resource.updateAll !== undefined;
  const querystring = isTransactional ? WriteQuery : Type.Object({});

  const makes = resource.madeByUpload !== true;
  if (makes)
    app.post(path, { schema: { querystring, body: OneOrMore, response: created } }, async (request, reply) => {
      const { body } = request;
      const options = optionsOf(request);
      if (!Array.isArray(body)) {
        const fields = fieldsOf(request);
        const entity = await resource.create(sessionOf(request), fields, options);
        tag(reply, entity);
        return answerOf(entity, fields, true, options);
      }
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says that it is a list of objects
      const all = await resource.createAll(sessionOf(request), body as readonly Fields[], options);
      return all.map((entity) => answerOf(entity, {}, true, options));
    });

  if (isTransactional) {
    const body = Type.Array(WithId, { minItems: 1, maxItems: 1000 });
    const response = answers({ ...changed, 200: Type.Array(Written) });
    app.patch(path, { schema: { querystring, body, response } }, async (request) => {
      const options = optionsOf(request);
      const all = (await resource.updateAll?.(sessionOf(request), request.body, options)) ?? [];
      return all.map((entity, index) => answerOf(entity, request.body[index] ?? {}, false, options));
    });
  }

  app.get(
    path,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Entity), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => {
      const { export: forImport, ...query } = request.query;
      if (!forImport) return await listOf(resource, sessionOf(request), query);
      // Composites whole: a flat form could not be posted back.
      const { flat: _flat, ...whole } = query;
      return await listOf(resource, sessionOf(request), whole, (entity) => resource.importable(entity));
    },
  );

  app.get(
    one,
    { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Entity, 404: ErrorAnswer }) } },
    async (request, reply) => {
      const entity = await resource.read(sessionOf(request), request.params.id);
      if (entity === undefined) throw notFound();
      const { mask, flat } = request.query;
      // The tag is that of the whole entity.
      if (!mask && !flat) {
        const isUnchanged = tagged(request, reply, stable(resource, shown(resource, entity)));
        // Live fields may have changed all the same.
        if (isUnchanged && hasLive(resource)) reply.code(200);
        else if (isUnchanged) return reply.send();
      }
      return answerRead(resource.type, entity, request.query);
    },
  );

  app.patch(one, { schema: { params: IdPath, querystring, body: Body, response: changed } }, async (request, reply) => {
    const { id } = request.params;
    const [session, fields, options] = [sessionOf(request), fieldsOf(request), optionsOf(request)];
    const entity = await resource.update(session, id, fields, preconditionOf(request), options);
    tag(reply, entity);
    return answerOf(entity, fields, false, options);
  });

  app.delete(
    one,
    { schema: { params: IdPath, response: answers({ 204: NoContent, 404: ErrorAnswer, 409: ErrorAnswer }) } },
    async (request, reply) => {
      await resource.remove(sessionOf(request), request.params.id, preconditionOf(request));
      return reply.code(204).send();
    },
  );

  app.post(
    `${path}!lookup`,
    {
      schema: {
        body: Body,
        response: answers({ 200: Type.Array(Type.String()), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const ids = await resource.lookup(sessionOf(request), fieldsOf(request));
      if (ids.length === 0) throw notFound();
      return [...ids];
    },
  );
}

/** @param form converts each entity before mask and flat */
async function listOf(
  resource: Resource,
  session: Session,
  query: Static<typeof ListQuery>,
  form: (entity: object) => object = (entity) => entity,
): Promise<object> {
  const { type, store } = resource;
  if (store === undefined) return answerList(type, await resource.list(session), query, form);
  const selection = selectionOf(type, query);
  if (wantsCount(query)) return { count: await store.count(session, selection) };
  return answerPage(type, (await store.select(session, selection)).map(form), query);
}

function shown({ type }: Resource, entity: object): object {
  return answerRead(type, entity, {});
}

function optionsOf({ query }: FastifyRequest): WriteOptions {
  return { dryRun: (query as Static<typeof WriteQuery>).dry_run === true };
}

function hasLive({ live = [] }: Resource): boolean {
  return live.length > 0;
}

/** What the entity tag covers. */
function stable(resource: Resource, answer: object): object {
  if (!hasLive(resource)) return answer;
  return Object.fromEntries(Object.entries(answer).filter(([name]) => resource.live?.includes(name) !== true));
}

/** @throws {RestError} 400/1400 without a body */
function fieldsOf({ body }: FastifyRequest): Fields {
  if (typeof body !== 'object' || body === null) throw badParameter('body', 'is missing');
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says that it is an object
  return body as Fields;
}
