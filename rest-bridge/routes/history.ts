/** Routes of the history of calls. */
import type { FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { CALL_RESULTS } from '../../runtime/callstore/index.ts';
import type { ListQuery as ModelListQuery, ModelCollection } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { Count, ReadQuery } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { CSV, csvList } from '../model/csv.ts';
import { listQuery, ModelGetQuery } from '../model/query.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const nullable = (description: string) => Type.Union([Type.String(), Type.Null()], { description });
const time = (description: string) => nullable(`${description}; ISO 8601, UTC`);
const number = (description: string) => Type.Union([Type.Integer(), Type.Null()], { description });

const figure = (description: string) => Type.Union([Type.Number(), Type.Null()], { description });

const Media = Type.Object(
  {
    codec: nullable('Negotiated codec'),
    packets_in: Type.Integer({ description: 'RTP packets received from the phone' }),
    packets_out: Type.Integer({ description: 'RTP packets sent to it' }),
    lost_in: Type.Integer({ description: 'Missing packets of the phone' }),
    lost_out: figure('Lost packets that the phone reported by RTCP; null without a report'),
    jitter_ms_in: Type.Number({
      description: 'Standard deviation of the time between two packets of the phone, at its greatest',
    }),
    jitter_ms_out: figure('Jitter that the phone reported by RTCP; null without a report'),
    mos_in: figure('Mean opinion score of the sound of the phone, 1 to 4.5; null when it sent nothing'),
  },
  { description: 'Figures of the media server' },
);

const Leg = Type.Object({
  side: Type.Enum(['a', 'b'], { description: 'a: the caller; b: a called contact, also one that did not answer' }),
  callid: Type.String(),
  kind: Type.Enum(['sipuser', 'provider', 'ivr', 'conference', 'unknown']),
  number: Type.String(),
  name: nullable('As shown'),
  domain: Type.String(),
  login: nullable('Of an account of this domain'),
  trunk: nullable('Code of the provider, of this domain'),
  gateway: nullable('Name of its gateway that was called, of a provider with several'),
  started: time('When it was called'),
  ringing: time('First ring'),
  answered: time('Answer'),
  ended: time('End'),
  sip_status: number('Final answer of the contact, or to the caller; null without one'),
  reason: nullable('Reason phrase of that answer, or why there is none'),
  media: Type.Union([Media, Type.Null()]),
});

const CallRecord = Type.Object({
  id: Type.String({ description: '`inviteid` of the events of the call' }),
  ts: Type.Integer({ description: 'Beginning of the call, milliseconds since the epoch' }),
  dialogid: Type.String(),
  direction: Type.Enum(['internal', 'inbound', 'outbound', 'transit'], {
    description: 'From outside the domain, to outside, or through it',
  }),
  caller_number: nullable('As shown to the called party'),
  caller_name: nullable('As shown to the called party'),
  caller_domain: nullable('Domain'),
  caller_login: nullable('Of an account of this domain'),
  caller_user_id: nullable('Its user'),
  called_number: nullable('Of the party that answered; else of the only one that was called; else as dialled'),
  called_name: nullable('Its name'),
  called_domain: nullable('Its domain'),
  called_login: nullable('Of an account of this domain'),
  called_user_id: nullable('Its user'),
  dialled: Type.String(),
  trunk: nullable('Code of the provider'),
  trunk_id: nullable('Id of the provider'),
  gateway: nullable('Gateway that took the call, or the last that was tried: host:port; of a provider with several'),
  verstat: nullable(
    'Of a caller of a provider whose calls are verified: TN-Validation-Passed, TN-Validation-Failed, No-TN-Validation',
  ),
  attestation: nullable('A, B or C: what the signer of a call that passed knows of the caller'),
  started: time('Beginning'),
  ringing: time('First ring'),
  answered: time('Answer'),
  ended: time('End'),
  ringing_ms: number('From the first ring to the answer or the end'),
  talking_ms: number('From the answer to the end'),
  result: Type.Enum([...CALL_RESULTS]),
  sip_status: number('Final SIP status for the caller'),
  reason: nullable('Why it ended'),
  ended_by: nullable('caller, called, external (an operation, or the node), transfer, failure, lost (the node died)'),
  confid: nullable('Conference'),
  room: nullable('Number of its room'),
  recordings: Type.Array(Type.String(), { description: 'Ids of /domain/recordings' }),
  runs: Type.Array(Type.Object({ id: Type.String(), scenario: Type.String() }), {
    description: 'Runs of scenarios that were a party',
  }),
  operation: nullable('Id of the operation that made or changed the call'),
  replaced: Type.Array(Type.String(), { description: 'Ids of the calls that went on as this one' }),
  replaced_by: Type.Array(Type.String(), { description: 'Ids of the calls as which this one went on' }),
  referred_by: nullable('Who transferred the call: Referred-By'),
  labels: Type.Array(Type.String()),
  users: Type.Array(Type.String(), { description: 'Ids of the users of this domain whose accounts took part' }),
  legs: Type.Array(Leg),
});

/** The answered fields depend on the mask. */
const Shown = Type.Partial(CallRecord);

/** An entry of a list with `aggr` or `flat`. */
const Row = Type.Object({}, { additionalProperties: true });

const { attachment: _file, snapshot: _page, export: _export, interval: _interval, ...LISTS } = ModelGetQuery.properties;

const HistoryQuery = Type.Object({
  ...LISTS,
  interval: Type.Optional(
    Type.String({
      description: 'JSON ["from", "to"] of the beginnings of calls, half-open; default: the last 24 hours',
    }),
  ),
});

const DAY_MS = 86_400_000;
/** Entities of a list without a limit, as in other collections. */
const LIMIT = 1000;
/** All times that a record may have. */
const EVER = [0, Date.UTC(2999, 0, 1)];

/** The two paths: all calls of the domain, and those in which an account of the user took part. */
const PATHS = [
  { base: '/uc/history', own: false },
  { base: '/user/sip/history', own: true },
] as const;

type Records = Pick<ModelCollection, 'definition' | 'list' | 'listJson'>;

/** Past calls of the session's domain. */
export function historyRoutes(app: App, { history, directory }: Pick<RestDeps, 'history' | 'directory'>): void {
  for (const { base, own } of PATHS) {
    const records = async (request: FastifyRequest): Promise<Records | undefined> => {
      const domain = directory.domain(sessionOf(request).domain)?.id;
      return domain === undefined ? undefined : await history.collection(domain);
    };
    const within = (request: FastifyRequest): Pick<ModelListQuery, 'within'> =>
      own ? { within: { users: [sessionOf(request).userId] } } : {};

    app.get(
      base,
      {
        schema: {
          querystring: HistoryQuery,
          produces: [CSV],
          response: answers({ 200: Type.Union([Type.Array(Shown), Count, Type.Array(Row)]), 400: ErrorAnswer }),
        },
      },
      async (request, reply) => {
        const found = await records(request);
        if (found === undefined) return [];
        const query = { ...defaults(request.query), ...within(request) };
        if (request.query.format === 'csv') return await csvList(reply, found, query);
        reply.type('application/json; charset=utf-8');
        return await found.listJson(query);
      },
    );

    app.get(
      `${base}/${ID}`,
      { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Shown, 404: ErrorAnswer }) } },
      async (request) => {
        const found = await records(request);
        const filter = ['==', ['property', 'id'], request.params.id];
        const query = { ...request.query, filter, interval: EVER, limit: 1, ...within(request) };
        const list = await found?.list(query);
        const one = Array.isArray(list) ? (list[0] as object | undefined) : undefined;
        if (one === undefined) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Call' });
        return one;
      },
    );
  }
}

/** The latest calls first, of the last day, where the query does not say otherwise. */
function defaults(query: Static<typeof HistoryQuery>): ModelListQuery {
  const given = listQuery(query, '');
  const now = Date.now();
  const isGrouped = given.aggr !== undefined || given.groupby !== undefined;
  return {
    ...(!isGrouped && { order: [{ ts: 'desc' }] }),
    interval: [now - DAY_MS, now + DAY_MS],
    limit: LIMIT,
    ...given,
  };
}
