/** OpenAPI paths of the classes of a domain. */
import { Type } from 'typebox';
import { builtIn, type Model, type PropertyDefinition, type ResolvedClass } from '../../runtime/model/index.ts';
import { Count, ReadQuery } from '../collection/list.ts';
import { CSV } from '../model/csv.ts';
import { ModelGetQuery, WriteQuery } from '../model/query.ts';
import { answers, ErrorAnswer, NoContent } from '../routes/schemas.ts';
import type { DocumentedRoute } from './collect.ts';

/**
 * @param domain id of the domain
 * @param mayRead true for readable collections; others are left out, with the names of their fields
 */
export function modelRoutesOf(
  model: Model,
  domain: string,
  mayRead: (path: string) => boolean,
): readonly DocumentedRoute[] {
  return model
    .classes(domain)
    .list()
    .filter(({ storage_mode: mode, classname }) => mode !== 'abstract' && mayRead(`/model/${classname}`))
    .flatMap(({ classname }) => classRoutes(model.collection(domain, classname).definition));
}

const Ids = Type.Array(Type.String());
const ATTACHMENT = Type.Object({
  name: Type.String(),
  size: Type.Integer(),
  mtime: Type.String(),
  hasha: Type.String(),
  link: Type.String(),
  filename: Type.String(),
});

/** An entry of a list with `aggr`, `groupby`, `flat` or `export`. */
const Row = Type.Object({}, { additionalProperties: true });

const DownloadQuery = Type.Object({ attachment: ModelGetQuery.properties.attachment });

const TYPES = {
  string: Type.String(),
  boolean: Type.Boolean(),
  integer: Type.Integer({ format: 'int32' }),
  long: Type.Integer({ format: 'int64' }),
  float: Type.Number(),
  increment: Type.Integer({ format: 'int64', readOnly: true }),
  any: Type.Unknown(),
  attachment: ATTACHMENT,
} as const;

/** Missing values are null. */
function typeOf({ data_type: type, items, multi, required }: PropertyDefinition) {
  const one = type === 'enum' ? Type.Enum([...items]) : TYPES[type];
  const whole = multi ? Type.Array(one) : one;
  return required || type === 'increment' || (type === 'any' && !multi) ? whole : Type.Union([whole, Type.Null()]);
}

function classRoutes(definition: ResolvedClass): DocumentedRoute[] {
  const { classname, name, description, storage_mode: mode, allProperties } = definition;
  const base = `/model/${classname.split('/').map(encodeURIComponent).join('/')}`;
  const dated = mode === 'history' || mode === 'transactionlog';
  const one = dated ? `${base}/{date}/{id}` : `${base}/{id}`;
  const fields = Object.fromEntries(allProperties.map((property) => [property.name, typeOf(property)]));
  const required = allProperties.filter((each) => each.required).map((each) => each.name);
  const Entity = Type.Object({ id: Type.String(), ...Type.Partial(Type.Object(fields)).properties });
  // A mask can leave out any field, also the id.
  const Shown = Type.Partial(Entity);
  const listed = Type.Union([Type.Array(Shown), Count, Type.Array(Row)]);
  const Written = { ...Type.Partial(Type.Object({ id: Type.String(), ...fields })), required };
  const about = [name, description].filter(Boolean).join(': ');
  const route = (path: string, method: string, schema: object, custom?: string): DocumentedRoute => ({
    path: custom === undefined ? path : `${path}!${custom.toLowerCase()}`,
    method,
    custom,
    schema: { ...(about !== '' && { description: about }), ...schema },
    isPublic: false,
  });
  const found = answers({ 200: Shown, 404: ErrorAnswer });
  const written = answers({ 200: Entity, 400: ErrorAnswer, 404: ErrorAnswer, 409: ErrorAnswer, 422: ErrorAnswer });
  const listQuery = dated ? { ...ModelGetQuery, required: ['interval'] } : ModelGetQuery;
  const command = Type.Object({ cmd: Type.String() }, { additionalProperties: true });
  const read = [
    route(base, 'GET', {
      querystring: listQuery,
      produces: [CSV],
      response: answers({ 200: listed, 400: ErrorAnswer }),
    }),
    route(
      base,
      'POST',
      { body: Type.Object({}, { additionalProperties: true }), response: answers({ 200: Ids, 404: ErrorAnswer }) },
      'LOOKUP',
    ),
    route(one, 'GET', { querystring: ReadQuery, response: found }),
  ];
  if (builtIn(definition) !== undefined) return read;
  const routes = [
    ...read,
    route(base, 'POST', {
      body: { anyOf: [Written, { type: 'array', items: Written }] },
      response: { ...written, 200: Type.Union([Entity, Type.Array(Entity)]) },
    }),
    route(base, 'POST', { response: answers({ 204: NoContent }) }, 'CLEAR'),
    route(base, 'POST', { body: command, response: answers({ 200: Type.Unknown(), 422: ErrorAnswer }) }, 'SETUP'),
  ];
  if (mode === 'transactionlog') return routes;
  const attached = allProperties.filter(({ data_type: type }) => type === 'attachment');
  return [
    ...routes,
    route(one, 'PUT', { body: Written, response: written }),
    route(one, 'PATCH', { querystring: WriteQuery, body: Type.Partial(Type.Object(fields)), response: written }),
    route(one, 'DELETE', { response: answers({ 204: NoContent, 404: ErrorAnswer }) }),
    ...attached.flatMap((property) => attachmentRoutes(`${one}/${encodeURIComponent(property.name)}`, property, route)),
  ];
}

type MakeRoute = (path: string, method: string, schema: object, custom?: string) => DocumentedRoute;

/** One file at the path of its property, or a directory of them. */
function attachmentRoutes(path: string, { multi }: PropertyDefinition, route: MakeRoute): DocumentedRoute[] {
  const consumes = ['application/octet-stream', 'multipart/form-data'];
  const errors = { 400: ErrorAnswer, 404: ErrorAnswer, 409: ErrorAnswer, 413: ErrorAnswer, 422: ErrorAnswer };
  const file = (at: string): DocumentedRoute[] => [
    route(at, 'GET', { querystring: DownloadQuery, produces: ['*/*'], response: answers({ 404: ErrorAnswer }) }),
    route(at, 'PUT', { consumes, response: answers({ 200: ATTACHMENT, ...errors }) }),
    route(at, 'DELETE', { response: answers({ 204: NoContent, 404: ErrorAnswer }) }),
    route(at, 'POST', { response: answers({ 200: ATTACHMENT, 404: ErrorAnswer }) }, 'METADATA'),
  ];
  if (!multi)
    return [...file(path), route(path, 'POST', { consumes, response: answers({ 200: ATTACHMENT, ...errors }) })];
  const listed = answers({ 200: Type.Array(ATTACHMENT), 404: ErrorAnswer });
  const added = answers({ 200: Type.Union([ATTACHMENT, Type.Array(ATTACHMENT)]), ...errors });
  return [
    route(path, 'GET', { response: listed }),
    route(path, 'POST', { consumes, response: added }),
    route(path, 'POST', { response: listed }, 'METADATA'),
    ...file(`${path}/{name}`),
  ];
}
