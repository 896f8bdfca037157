import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  AddParticipantParameters,
  type ConferenceChange,
  ConferenceLookup,
  TopologyCommands,
} from '../../runtime/operations/index.ts';
import type { DialogScope } from '../../runtime/callstore/callstore.ts';
import { CONFERENCE_FIELDS, PARTICIPANT_FIELDS, PARTICIPANT_STATES } from '../../runtime/callstore/conference-view.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { fieldTypes } from '../../runtime/model/filter/index.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { idempotencyKey, onlyOnce } from '../idempotency.ts';
import { DryRun, OperationQuery } from '../operations.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

/** An active conference. Which of the fields are answered depends on mask and flat. */
const Conference = Type.Partial(
  Type.Object({
    confid: Type.String(),
    confroomnum: Type.String({ description: 'Decimal digits: dialled after the featurecode' }),
    confnumber: Type.String({ description: 'Hexadecimal' }),
    uri: Type.String(),
    confuri: Type.String({ description: 'The same as uri; on single reads' }),
    site: Type.String(),
    startts: Type.Integer({ description: 'Milliseconds since the epoch' }),
    uris: Type.Array(Type.String(), { description: 'URIs of every participant' }),
  }),
);

const Participant = Type.Partial(
  Type.Object({
    participantid: Type.String(),
    state: Type.Enum(PARTICIPANT_STATES),
    callid: Type.String(),
    luri: Type.String(),
    ltag: Type.String(),
    ruri: Type.String(),
    rtag: Type.String(),
  }),
);

const Topology = Type.Array(Type.Object({ from: Type.String(), to: Type.String(), enabled: Type.Boolean() }));
const ConfId = Type.Object({ confid: Type.String() });
const ParticipantRef = Type.Object({ confid: Type.String(), participantid: Type.String() });

const CONFERENCE: ResourceType = {
  fields: CONFERENCE_FIELDS,
  aliases: { confuri: 'uri' },
  types: fieldTypes(Conference),
};
const PARTICIPANT: ResourceType = { fields: PARTICIPANT_FIELDS, aliases: {}, types: fieldTypes(Participant) };

/** The two paths: all conferences of the domain, and those in which an account of the caller takes part. */
const PATHS = [
  { base: '/uc/conferences', own: false },
  { base: '/uc/conferences_by_participation', own: true },
] as const;

const PARTICIPANT_ID = ':participantid(^[^!]+)';
const ParticipantPath = Type.Object({
  id: Type.String({ minLength: 1 }),
  participantid: Type.String({ minLength: 1 }),
});

type ScopeOf = (request: FastifyRequest) => DialogScope;
type Deps = Pick<RestDeps, 'conferences' | 'firstAnswers'>;

/** Active conferences (specification, "Conferences (own)"; decisions, "Conferences"). */
export function conferenceRoutes(app: App, deps: Deps): void {
  for (const { base, own } of PATHS) {
    const scopeOf: ScopeOf = (request) => {
      const { domain, userId } = sessionOf(request);
      return { domain, ...(own && { ownUserId: userId }) };
    };
    roomRoutes(app, deps, base, scopeOf);
    participantRoutes(app, deps, base, scopeOf);
    topologyRoutes(app, deps, base, scopeOf);
  }
}

function roomRoutes(app: App, { conferences }: Deps, base: string, scopeOf: ScopeOf): void {
  app.get(
    base,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Conference), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => answerList(CONFERENCE, await conferences.list(scopeOf(request)), request.query),
  );

  app.post(
    `${base}!lookup`,
    {
      schema: {
        body: ConferenceLookup,
        response: answers({ 200: Type.Array(Type.String()), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const ids = await conferences.lookup(scopeOf(request), request.body);
      if (ids.length === 0) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Conference' });
      return [...ids];
    },
  );

  const one = { params: IdPath };
  app.get(
    `${base}/${ID}`,
    { schema: { ...one, querystring: ReadQuery, response: answers({ 200: Conference, 404: ErrorAnswer }) } },
    async (request) => {
      const { id } = request.params;
      const conference = await conferences.read(scopeOf(request), id);
      return withConfuri(answerRead(CONFERENCE, conference, request.query));
    },
  );

  app.delete(
    `${base}/${ID}`,
    {
      schema: {
        ...one,
        querystring: OperationQuery,
        response: answers({ 200: Type.Union([ConfId, DryRun]), 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id: confid } = request.params;
      if (request.query.dry_run === true) {
        return preview(conferences, scopeOf(request), { operation: 'terminate_conference', confid });
      }
      return conferences.terminate(scopeOf(request), confid);
    },
  );
}

function participantRoutes(app: App, { conferences, firstAnswers }: Deps, base: string, scopeOf: ScopeOf): void {
  const collection = `${base}/${ID}/participants`;
  app.get(
    collection,
    {
      schema: {
        params: IdPath,
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Participant), Count]), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const participants = await conferences.participants(scopeOf(request), request.params.id);
      return answerList(PARTICIPANT, participants, request.query);
    },
  );

  app.post(
    collection,
    {
      schema: {
        params: IdPath,
        querystring: OperationQuery,
        body: AddParticipantParameters,
        response: answers({
          200: Type.Union([ParticipantRef, DryRun]),
          400: ErrorAnswer,
          404: ErrorAnswer,
          422: ErrorAnswer,
        }),
      },
    },
    async (request, reply) => {
      const scope = scopeOf(request);
      const { id } = request.params;
      if (request.query.dry_run === true) {
        return preview(conferences, scope, { operation: 'add_participant', confid: id, given: request.body });
      }
      const perform = async () => ({ ...(await conferences.addParticipant(scope, id, request.body)) });
      const key = idempotencyKey(request);
      if (key === undefined) return perform();
      const asked = JSON.stringify(['add participant', scope, id, request.body]);
      return onlyOnce(firstAnswers, reply, { userId: sessionOf(request).userId, key, request: asked }, perform);
    },
  );

  app.get(
    `${collection}/${PARTICIPANT_ID}`,
    {
      schema: {
        params: ParticipantPath,
        querystring: ReadQuery,
        response: answers({ 200: Participant, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id, participantid } = request.params;
      const participant = await conferences.participant(scopeOf(request), id, participantid);
      return answerRead(PARTICIPANT, participant, request.query);
    },
  );

  app.delete(
    `${collection}/${PARTICIPANT_ID}`,
    {
      schema: {
        params: ParticipantPath,
        querystring: OperationQuery,
        response: answers({ 200: Type.Union([ParticipantRef, DryRun]), 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const { id, participantid } = request.params;
      if (request.query.dry_run === true) {
        return preview(conferences, scopeOf(request), { operation: 'remove_participant', confid: id, participantid });
      }
      return conferences.removeParticipant(scopeOf(request), id, participantid);
    },
  );
}

function topologyRoutes(app: App, { conferences }: Deps, base: string, scopeOf: ScopeOf): void {
  const path = `${base}/${ID}/topology`;
  app.get(
    path,
    { schema: { params: IdPath, response: answers({ 200: Topology, 404: ErrorAnswer }) } },
    async (request) => [...(await conferences.topology(scopeOf(request), request.params.id))],
  );
  app.post(
    path,
    {
      schema: {
        params: IdPath,
        body: TopologyCommands,
        response: answers({ 200: Topology, 400: ErrorAnswer, 404: ErrorAnswer, 422: ErrorAnswer }),
      },
    },
    async (request) => [...(await conferences.changeTopology(scopeOf(request), request.params.id, request.body))],
  );
}

/** A single read shows the URI under both of its names. */
function withConfuri(shown: object): object {
  return 'uri' in shown ? { ...shown, confuri: shown.uri } : shown;
}

async function preview(conferences: Deps['conferences'], scope: DialogScope, change: ConferenceChange) {
  const touches = await conferences.preview(scope, change);
  const dialogs = touches.map(({ dialogid, legs }) => ({
    dialogid,
    legs: legs.map(({ callid, side, uris }) => ({ callid, side, uris: [...uris] })),
  }));
  return { dry_run: true as const, operation: change.operation, dialogs };
}
