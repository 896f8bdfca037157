import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Static, Type } from 'typebox';
import { type DialogSelector, SELECTOR_KEYS } from '../../runtime/callstore/callstore.ts';
import { DIALOG_FIELDS } from '../../runtime/callstore/dialog-view.ts';
import type { App } from '../app.ts';
import { sessionOf } from '../authentication.ts';
import { fieldTypes } from '../collection/field-types.ts';
import { answerList, answerRead, Count, ListQuery, ReadQuery, type ResourceType } from '../collection/list.ts';
import { type CallScope, DIALOG_OPERATIONS, type OperationAnswer, type RestDeps } from '../deps.ts';
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

const DIALOG: ResourceType = {
  fields: DIALOG_FIELDS,
  aliases: { esgdlgid: 'esgdlg' },
  types: fieldTypes(Dialog),
};

/** The two paths of call control: all dialogs of the domain, and those of the caller's own accounts. */
const PATHS = [
  { base: '/uc/calls', own: false },
  { base: '/user/sip/calls', own: true },
] as const;

type CallDeps = Pick<RestDeps, 'calls' | 'operations'>;

/** Active calls (specification, "Call control"). */
export function callRoutes(app: App, deps: CallDeps): void {
  for (const { base, own } of PATHS) {
    const scopeOf = (request: FastifyRequest): CallScope => {
      const { domain, userId, login } = sessionOf(request);
      return { domain, userId, login, requestId: request.id, ...(own && { ownUserId: userId }) };
    };
    readRoutes(app, deps, base, scopeOf);
    startRoutes(app, deps, base, scopeOf);
    dialogRoutes(app, deps, base, scopeOf);
  }
}

type ScopeOf = (request: FastifyRequest) => CallScope;

function readRoutes(app: App, { calls, operations }: CallDeps, base: string, scopeOf: ScopeOf): void {
  /** Those of the ids that the scope may see; all when it may see the whole domain. */
  const visible = async (scope: CallScope): Promise<ReadonlySet<string> | undefined> =>
    scope.ownUserId === undefined ? undefined : new Set(await operations.lookup({ userid: scope.ownUserId }, scope));

  app.get(
    base,
    {
      schema: {
        querystring: ListQuery,
        response: answers({ 200: Type.Union([Type.Array(Dialog), Count]), 400: ErrorAnswer }),
      },
    },
    async (request) => {
      const scope = scopeOf(request);
      const mine = await visible(scope);
      const all = await calls.list(scope.domain);
      return answerList(DIALOG, mine ? all.filter(({ dialogid }) => mine.has(dialogid)) : all, request.query);
    },
  );

  app.get(
    `${base}/${ID}`,
    { schema: { params: IdPath, querystring: ReadQuery, response: answers({ 200: Dialog, 404: ErrorAnswer }) } },
    async (request) => {
      const scope = scopeOf(request);
      const { id } = request.params;
      const mine = await visible(scope);
      const dialog = mine?.has(id) === false ? undefined : await calls.read(scope.domain, id);
      if (!dialog) throw new RestError('DIALOG_NOT_FOUND');
      return answerRead(DIALOG, dialog, request.query);
    },
  );

  app.post(
    `${base}!lookup`,
    {
      schema: {
        body: Lookup,
        response: answers({ 200: Type.Array(Type.String()), 400: ErrorAnswer, 404: ErrorAnswer }),
      },
    },
    async (request) => {
      const ids = await operations.lookup(selectorOf(request.body), scopeOf(request));
      if (ids.length === 0) throw new RestError('DIALOG_NOT_FOUND');
      return [...ids];
    },
  );
}

function startRoutes(app: App, { operations }: CallDeps, base: string, scopeOf: ScopeOf): void {
  const invite = { schema: { body: operations.schemas.invite } };
  const startCall = async (request: FastifyRequest, reply: FastifyReply) =>
    send(reply, await operations.invite(request.body, scopeOf(request)));
  app.post(base, invite, startCall);
  app.post(`${base}!invite`, invite, startCall);
}

/** Operations on one dialog: named by its id in the path, or by a selector in the body. */
function dialogRoutes(app: App, { operations }: CallDeps, base: string, scopeOf: ScopeOf): void {
  for (const name of DIALOG_OPERATIONS) {
    const schema = { schema: { params: IdPath, body: operations.schemas[name] } };
    app.post(`${base}/${ID}!${name}`, schema, async (request, reply) => {
      const target = { dialogid: request.params.id };
      return send(reply, await operations.onDialog(name, target, request.body, scopeOf(request)));
    });
    const anywhere = { schema: { body: Type.Intersect([Lookup, operations.schemas[name]]) } };
    app.post(`${base}!${name}`, anywhere, async (request: FastifyRequest, reply: FastifyReply) => {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the schema says that it is an object
      const body = request.body as Record<string, unknown>;
      return send(reply, await operations.onDialog(name, body, body, scopeOf(request)));
    });
  }

  app.delete(
    `${base}/${ID}`,
    { schema: { params: IdPath, response: answers({ 200: DialogId, 404: ErrorAnswer }) } },
    async (request, reply) => {
      const target = { dialogid: request.params.id };
      return send(reply, await operations.onDialog('delete', target, undefined, scopeOf(request)));
    },
  );
}

function send(reply: FastifyReply, { status, body, operationId }: OperationAnswer): FastifyReply {
  if (operationId !== undefined) reply.header('operation-id', operationId);
  return reply.code(status).send(body);
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
