import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type DialogSelector, SELECTOR_KEYS } from '../../runtime/callstore/callstore.ts';
import { DIALOG_FIELDS } from '../../runtime/callstore/dialog-view.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import type { RestDeps } from '../deps.ts';
import { badParameter, RestError } from '../errors.ts';
import { ID } from '../route-names.ts';
import { answers, ErrorAnswer, IdPath } from './schemas.ts';

const Leg = Type.Object({
  callid: Type.String(),
  expirets: Type.Union([Type.Integer(), Type.Literal('undefined')]),
  localuri: Type.String(),
  remoteuri: Type.String(),
  side: Type.Enum(['a', 'b']),
});

/** An active call. Which of the fields are answered depends on mask and flat. */
const Dialog = Type.Partial(
  Type.Object({
    acallid: Type.String(),
    callids: Type.Array(Type.String()),
    dialogid: Type.String(),
    esgdlg: Type.String(),
    esgcallid: Type.String(),
    inviteid: Type.String(),
    status: Type.Enum(['forking', 'dialog']),
    legs: Type.Array(Leg),
    localuri: Type.String(),
    remoteuri: Type.String(),
    site: Type.String(),
    startts: Type.Integer({ description: 'Milliseconds since the epoch' }),
    uris: Type.Array(Type.String()),
    opts: Type.Object({ 'referred-by': Type.Optional(Type.String()), replaces: Type.Optional(Type.String()) }),
  }),
);

const selectorText = Type.Optional(Type.String({ minLength: 1 }));
const Lookup = Type.Object({
  dialogid: selectorText,
  inviteid: selectorText,
  callid: selectorText,
  uri: selectorText,
  from: selectorText,
  mode: Type.Optional(Type.Enum(['number', 'sipuser'])),
  sipuserid: selectorText,
  sipuserlogin: selectorText,
  sipuserphonenumber: selectorText,
  userid: selectorText,
});

const DialogId = Type.Object({ dialogid: Type.String() });

const DIALOG: ResourceType = { fields: DIALOG_FIELDS, aliases: { esgdlgid: 'esgdlg' } };

const BASE = '/uc/calls';
const ENTITY = `${BASE}/${ID}`;

/** Active calls of the session's domain (specification, "Call control"). */
export function callRoutes(app: App, { calls, operations }: Pick<RestDeps, 'calls' | 'operations'>): void {
  app.get(
    BASE,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Dialog), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => answerList(DIALOG, await calls.list(sessionOf(request).domain), request.query),
  );

  app.get(
    ENTITY,
    { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Dialog, 404: ErrorAnswer }) } },
    async (request) => {
      const dialog = await calls.read(sessionOf(request).domain, request.params.id);
      if (!dialog) throw new RestError('DIALOG_NOT_FOUND');
      return answerRead(DIALOG, dialog, request.query);
    },
  );

  const invite = { schema: { body: operations.schemas.invite } };
  const startCall = async (request: FastifyRequest, reply: FastifyReply) => {
    const { domain, userId, login } = sessionOf(request);
    const context = { domain, userId, login, requestId: request.id };
    const answer = await operations.invite(request.body, context);
    if (answer.operationId !== undefined) reply.header('operation-id', answer.operationId);
    return reply.code(answer.status).send(answer.body);
  };
  app.post(BASE, invite, startCall);
  app.post(`${BASE}!invite`, invite, startCall);

  app.post(
    `${BASE}!lookup`,
    {
      schema: {
        body: Lookup,
        response: answers({ 200: Type.Array(Type.String()), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const ids = await calls.lookup(sessionOf(request).domain, selectorOf(request.body));
      if (ids.length === 0) throw new RestError('DIALOG_NOT_FOUND');
      return [...ids];
    },
  );

  app.delete(
    ENTITY,
    { schema: { params: IdPath, response: answers({ 200: DialogId, 404: ErrorAnswer }) } },
    async (request) => {
      const { id } = request.params;
      if (!(await operations.terminate(sessionOf(request).domain, id))) throw new RestError('DIALOG_NOT_FOUND');
      return { dialogid: id };
    },
  );
}

/** @throws {RestError} 400/1400 when the body names no dialog */
function selectorOf(body: Static<typeof Lookup>): DialogSelector {
  const key = SELECTOR_KEYS.find((name) => body[name] !== undefined);
  const value = key && body[key];
  if (key === undefined || value === undefined) {
    throw badParameter('dialogid', `is missing; name the dialog by one of ${SELECTOR_KEYS.join(', ')}`);
  }
  return { [key]: value, ...(key === 'from' && body.mode !== undefined && { mode: body.mode }) };
}
