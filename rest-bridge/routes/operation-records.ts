/** Routes of the records of operations. */
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { RECORD_FIELDS } from '../../runtime/operations/index.ts';
import type { DialogScope } from '../../runtime/callstore/index.ts';
import { fieldTypes } from '../../runtime/model/index.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const Milestone = Type.Object({
  milestone: Type.String({ description: '`initiated`, `provisional` or `final`, after the party: `F`, `T`, `back`' }),
  ts: Type.Integer({ description: 'Milliseconds since the epoch' }),
  callid: Type.Optional(Type.String()),
  dialogid: Type.Optional(Type.String()),
  last_response: Type.Optional(Type.String({ description: 'Status line' })),
});

/** The record of an operation. The answered fields depend on its state, mask and flat. */
const Record = Type.Partial(
  Type.Object({
    id: Type.String({ description: 'As the header Operation-Id' }),
    domain: Type.String(),
    userid: Type.String({ description: 'Who asked for it; absent when a scenario did' }),
    operation: Type.String(),
    response_mode: Type.Integer(),
    startts: Type.Integer({ description: 'Milliseconds since the epoch' }),
    endts: Type.Integer({ description: 'Absent while it runs' }),
    milestones: Type.Array(Milestone),
    response: Type.Unknown({ description: 'What the caller was answered; absent before' }),
    responsets: Type.Integer(),
    outcome: Type.Enum(['completed', 'ended', 'failed', 'stopped'], {
      description: 'How its scenario ended; absent while it runs',
    }),
    error: Type.Object({ code: Type.String(), message: Type.String(), block: Type.String() }),
    result: Type.String({ description: 'How the operation ended: `ok`, `rejected`, ...; absent while it runs' }),
    fields: Type.Object(
      {},
      { additionalProperties: true, description: "The answer of the operation's last response mode" },
    ),
  }),
);

const RECORD: ResourceType = { fields: RECORD_FIELDS, aliases: {}, types: fieldTypes(Record) };

/** The two paths: all operations of the domain, and those requested by the caller. */
const PATHS = [
  { base: '/uc/operations', own: false },
  { base: '/user/sip/operations', own: true },
] as const;

/** Records of the operations of the session's domain: milestones and results (decisions, "operation record"). */
export function operationRecordRoutes(app: App, { operationRecords }: Pick<RestDeps, 'operationRecords'>): void {
  for (const { base, own } of PATHS) {
    const scopeOf = (request: FastifyRequest): DialogScope => {
      const { domain, userId } = sessionOf(request);
      return { domain, ...(own && { ownUserId: userId }) };
    };
    app.get(
      base,
      {
        schema: {
          querystring: ListQuery,
          response: answers({ 200: Type.Union([Type.Array(Record), Count]), 400: ErrorAnswer }),
        },
      },
      async (request) => answerList(RECORD, await operationRecords.list(scopeOf(request)), request.query),
    );
    app.get(
      `${base}/${ID}`,
      { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Record, 404: ErrorAnswer }) } },
      async (request) => {
        const record = await operationRecords.read(scopeOf(request), request.params.id);
        if (!record) throw new RestError('ENTITY_NOT_FOUND', { entity: 'Operation' });
        return answerRead(RECORD, record, request.query);
      },
    );
  }
}
