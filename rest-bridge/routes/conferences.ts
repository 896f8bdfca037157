/** Routes of active conferences. */
import { Type } from 'typebox';
import { CONFERENCE_FIELDS, PARTICIPANT_FIELDS } from '../../runtime/callstore/index.ts';
import { fieldTypes, localPages } from '../../runtime/model/index.ts';
import { conferenceOf, ConferenceRecord, ParticipantRecord, participantsOf } from '../../runtime/operations/index.ts';
import type { App } from '../app.ts';
import {
  answerList,
  answerPages,
  answerRead,
  Count,
  ListQuery,
  ReadQuery,
  type ResourceType,
} from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { OPERATION_PATHS, operationRoutes, PARTICIPANT_ID, ParticipantPath, scopeOf } from '../operations.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const { site, startts, uris, ...names } = ConferenceRecord.properties;
const confuri = Type.String({ description: 'The same as uri; on single reads' });
/** Which of the fields are answered depends on mask and flat. */
const Conference = Type.Partial(Type.Object({ ...names, confuri, site, startts, uris }));
const Participant = Type.Partial(ParticipantRecord);

export const CONFERENCE: ResourceType = {
  fields: CONFERENCE_FIELDS,
  aliases: { confuri: 'uri' },
  types: fieldTypes(Conference),
};
const PARTICIPANT: ResourceType = {
  fields: PARTICIPANT_FIELDS,
  // The specification lists the others.
  masked: ['moderator', 'talking'],
  aliases: {},
  types: fieldTypes(Participant),
};

type Deps = Pick<RestDeps, 'conferences' | 'pages' | 'rooms' | 'operations' | 'firstAnswers'>;
type ConferencePath = (typeof OPERATION_PATHS.conferences)[number];

/** Active conferences (specification, "Conferences (own)"; decisions, "Conferences"). */
export function conferenceRoutes(app: App, deps: Deps): void {
  for (const path of OPERATION_PATHS.conferences) {
    roomRoutes(app, deps, path);
    participantRoutes(app, deps, path);
  }
  operationRoutes(app, deps, 'conferences');
}

function roomRoutes(app: App, deps: Deps, { base, path }: ConferencePath): void {
  const { pages = { conferences: localPages(CONFERENCE, (scope) => deps.conferences.list(scope)) } } = deps;
  app.get(
    base,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Conference), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => await answerPages(CONFERENCE, pages.conferences, scopeOf(request, path), request.query),
  );

  app.get(
    `${base}/${ID}`,
    { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Conference, 404: ErrorAnswer }) } },
    async (request) => {
      const conference = await conferenceOf(deps, scopeOf(request, path), request.params.id);
      return withConfuri(answerRead(CONFERENCE, conference, request.query));
    },
  );
}

function participantRoutes(app: App, deps: Deps, { base, path }: ConferencePath): void {
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
      const participants = await participantsOf(deps, scopeOf(request, path), request.params.id);
      return answerList(PARTICIPANT, participants, request.query);
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
      const participants = await participantsOf(deps, scopeOf(request, path), id);
      const participant = participants.find((each) => each.participantid === participantid);
      if (!participant) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Call/Participant' });
      return answerRead(PARTICIPANT, participant, request.query);
    },
  );
}

/** A single read shows the URI under both of its names. */
function withConfuri(shown: object): object {
  return 'uri' in shown ? { ...shown, confuri: shown.uri } : shown;
}
