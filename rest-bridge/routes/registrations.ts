/** Routes of the registered contacts. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import type { Registration } from '../../runtime/domain/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { scopeOf } from '../domain-scope.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath, NoContent } from './schemas.ts';

const Contact = Type.Object({
  id: Type.String({ description: 'The same for all renewals of the contact' }),
  domain: Type.String(),
  sipuser_id: Type.Optional(Type.String({ description: 'The account' })),
  provider_id: Type.Optional(
    Type.String({ description: 'Instead of sipuser_id: the provider whose gateway registered' }),
  ),
  login: Type.String({ description: 'Of the sipuser; the code of the provider' }),
  phonenumber: Type.String(),
  contact: Type.String({ description: 'The URI as registered' }),
  transport: Type.Enum(['udp', 'tcp', 'tls', 'ws', 'wss']),
  address: Type.String({ description: 'Where the REGISTER came from, and requests go' }),
  port: Type.Integer(),
  user_agent: Type.String({ description: 'As the device names itself; empty when it does not' }),
  since: Type.Integer({ description: 'First REGISTER of the contact, milliseconds since the epoch' }),
  renewed: Type.Integer({ description: 'Last REGISTER, milliseconds since the epoch' }),
  expires: Type.Integer({ description: 'Milliseconds since the epoch' }),
});

/** The answered fields depend on the mask. */
const Shown = Type.Partial(Contact);

const CONTACT: ResourceType = { fields: Object.keys(Contact.properties), aliases: {}, types: fieldTypes(Contact) };

/** The contacts that are registered at this node, of the domains that the session administers. */
export function registrationRoutes(
  app: App,
  { registrations, directory }: Pick<RestDeps, 'registrations' | 'directory'>,
): void {
  const visible = (request: FastifyRequest): readonly Registration[] => {
    const scope = scopeOf(directory, sessionOf(request)).visible;
    const domains = directory.domains().filter(({ id }) => scope.has(id));
    return registrations.list(new Set(domains.map(({ name }) => name)));
  };
  /** @throws {RestError} 404/1404, also for those of foreign domains */
  const one = (request: FastifyRequest, id: string): Registration => {
    const found = visible(request).find((registration) => registration.id === id);
    if (found === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Registration' });
    return found;
  };

  app.get(
    '/domain/registrations',
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Shown), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => answerList(CONTACT, visible(request).map(view), request.query),
  );

  app.get(
    `/domain/registrations/${ID}`,
    { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Shown, 404: ErrorAnswer }) } },
    async (request) => answerRead(CONTACT, view(one(request, request.params.id)), request.query),
  );

  app.delete(
    `/domain/registrations/${ID}`,
    {
      schema: {
        summary: 'Ends a registration; the phone may register again',
        params: IdPath,
        response: answers({ 204: NoContent, 404: ErrorAnswer }),
      },
    },
    async (request, reply) => {
      await registrations.remove(one(request, request.params.id));
      return reply.code(204).send();
    },
  );
}

function view({ id, domain, account, phonenumber, binding }: Registration): Static<typeof Contact> {
  return {
    id,
    domain,
    ...(account.kind === 'sipuser' ? { sipuser_id: account.id } : { provider_id: account.id }),
    login: account.login,
    phonenumber,
    contact: binding.contact,
    transport: binding.source.protocol,
    address: binding.source.address,
    port: binding.source.port,
    user_agent: binding.userAgent ?? '',
    since: binding.since,
    renewed: binding.saved,
    expires: binding.expires,
  };
}
