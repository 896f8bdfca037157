/** Puts the REST service together. */
import cookie from '@fastify/cookie';
import Fastify, { LogController } from 'fastify';
import { tracing } from '../runtime/tracing/index.ts';
import { logAccess } from './access-log.ts';
import { type App, BASE_PATH, MAX_PARAMETER } from './app.ts';
import { auditChanges } from './audit.ts';
import { authenticator } from './authentication.ts';
import { readBodies } from './bodies.ts';
import { childLists } from './collection/children.ts';
import { collectionRoutes } from './collection/routes.ts';
import { PromptResource } from './domain-center/prompt-resource.ts';
import { WebhookResource } from './domain-center/webhook-resource.ts';
import { ScriptResource } from './domain-center/script-resource.ts';
import type { RestDeps } from './deps.ts';
import { answerError, renderRefusal } from './error-answers.ts';
import { RestError } from './errors.ts';
import { eventStream } from './events/sse.ts';
import { Subscribers } from './events/subscribers.ts';
import { webSockets } from './events/websocket.ts';
import { isHeadFallback, rewriteFallback } from './http/fallback.ts';
import type { FramedSocket } from './http/framed-socket.ts';
import { createFrontedServer, refuseClient } from './http/front.ts';
import type { Refusal } from './http/refusal.ts';
import { SecureFront } from './http/secure-front.ts';
import { modelRoutes } from './model/routes.ts';
import { closeFurther } from './listen.ts';
import { readAllBodies } from './posted-bodies.ts';
import { unservedRequests } from './unserved-requests.ts';
import { consoleRoutes } from './console/routes.ts';
import { phoneRoutes } from './phone/routes.ts';
import { callRoutes } from './routes/calls.ts';
import { conferenceRoutes } from './routes/conferences.ts';
import { historyRoutes } from './routes/history.ts';
import { ladderRoutes } from './routes/ladder.ts';
import { homeRoutes } from './routes/home.ts';
import { hookRoutes } from './routes/hooks.ts';
import { clusterRoute } from './routes/cluster.ts';
import { drainRoutes } from './routes/drain.ts';
import { collectRoutes } from './openapi/collect.ts';
import { documentRoutes } from './openapi/routes.ts';
import { healthRoute } from './routes/health.ts';
import { metricsRoute } from './routes/metrics.ts';
import { promptRoutes } from './routes/prompts.ts';
import { recordingRoutes } from './routes/recordings.ts';
import { operationRecordRoutes } from './routes/operation-records.ts';
import { figureRoutes } from './routes/figures.ts';
import { agentRoutes } from './routes/agents.ts';
import { recordRoutes } from './routes/records.ts';
import { registrationRoutes } from './routes/registrations.ts';
import { scenarioRecordingRoutes } from './routes/scenario-recordings.ts';
import { voiceMessageRoutes } from './routes/voice-messages.ts';
import { scriptRoutes } from './routes/scripts.ts';
import { sessionRoutes } from './routes/sessions.ts';
import { userRoutes } from './routes/user.ts';
import { userPasswordRoute } from './routes/user-password.ts';
import { userSessionRoutes } from './routes/user-sessions.ts';
import { scenarioSchemaRoutes, workbenchRoutes } from './routes/workbench.ts';
import { webhookRoutes } from './routes/webhooks.ts';
import { SessionRate } from './session-rate.ts';
import { SipTunnels } from './sip-websocket.ts';
import { strictRoutes } from './strict-routes.ts';
import { traceRequests } from './trace-requests.ts';
import { schemaCompiler } from './validation.ts';

/** Bytes. */
const BODY_LIMIT = 1024 * 1024;

/**
 * The HTTP side of a node: sessions and calls under `/rest/v1`, and `/healthz`. It parses, authorises, maps to an
 * operation or a collection, and shapes the answer. {@link RestDeps} implements the effects.
 *
 * @returns the server, ready but not listening; `close()` answers what is running and then ends
 */
export async function createRestServer(deps: RestDeps): Promise<App> {
  const { log } = deps;
  let secure: SecureFront | undefined;
  const app: App = Fastify({
    loggerInstance: log,
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: deps.bodyLimit ?? BODY_LIMIT,
    trustProxy: deps.trustProxy ? [...deps.trustProxy] : false,
    // Node closes idle connections; the hook below answers later requests on the others.
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    routerOptions: { maxParamLength: MAX_PARAMETER },
    rewriteUrl: rewriteFallback,
    frameworkErrors: answerError,
    clientErrorHandler: refuseClient,
    serverFactory: (handler) => {
      const options = {
        renderRefusal,
        onRefused: (refusal: Refusal, socket: FramedSocket) =>
          log.info({ ip: socket.remoteAddress, reason: refusal.message, kind: refusal.kind }, 'request refused'),
        ...(deps.headTimeoutMs !== undefined && { headTimeoutMs: deps.headTimeoutMs }),
        ...(deps.bodyLimits !== undefined && { bodyLimits: deps.bodyLimits }),
      };
      const plain = createFrontedServer(handler, options);
      if (deps.certificate !== undefined) secure = new SecureFront(plain, handler, deps.certificate, options);
      return plain;
    },
  }).withTypeProvider();

  app.setValidatorCompiler(schemaCompiler());
  // Schemas document answers; they do not filter them.
  app.setSerializerCompiler(() => (value) => JSON.stringify(value));
  app.setErrorHandler(answerError);
  app.setNotFoundHandler(() => {
    throw new RestError('ENDPOINT_NOT_FOUND');
  });
  readBodies(app);
  await app.register(cookie);
  app.decorateRequest('session', null);
  refuseWhenClosing(app);
  answerHeadFallback(app);
  logAccess(app, log);
  const traces = tracing();
  if (traces !== undefined) traceRequests(app, traces);

  const subscribers =
    deps.serves === 'health'
      ? undefined
      : new Subscribers(deps.sharedEvents ?? deps.events, deps.iam, deps.metrics, deps.sharedEvents);
  const sip = deps.sipWebSockets === undefined ? undefined : new SipTunnels(deps.sipWebSockets, log);
  webSockets(app, { iam: deps.iam, subscribers, sip });
  healthRoute(app, deps);
  metricsRoute(app, deps);
  if (subscribers !== undefined) await serveAll(app, deps, subscribers);
  app.addHook('preClose', async () => closeFurther(app));
  app.addHook('onClose', () => secure?.close());
  app.decorate('secureFront', secure);
  await app.ready();
  return app;
}

/** The pages for browsers, and everything under `/rest/v1`. */
async function serveAll(app: App, deps: RestDeps, subscribers: Subscribers): Promise<void> {
  homeRoutes(app, consoleRoutes(app, deps.directory));
  phoneRoutes(app, deps.directory);
  await app.register(
    async (api: App) => {
      const unserved = unservedRequests(api);
      const rate = new SessionRate(deps.sessionRequests ?? 0, {
        ...(deps.requestsElsewhere && { elsewhere: deps.requestsElsewhere }),
      });
      api.addHook('onRequest', authenticator(deps.iam, rate, unserved));
      // Its requests, too, are answered by the hook.
      api.setNotFoundHandler((request) => {
        throw unserved(request);
      });
      strictRoutes(api);
      const routes = collectRoutes(api);
      const addChildLists = childLists(api);
      readAllBodies(api);
      auditChanges(api, deps);
      sessionRoutes(api, deps);
      userSessionRoutes(api, deps);
      userPasswordRoute(api, deps);
      await userRoutes(api, deps);
      callRoutes(api, deps);
      historyRoutes(api, deps);
      ladderRoutes(api, deps);
      conferenceRoutes(api, deps);
      agentRoutes(api, deps);
      operationRecordRoutes(api, deps);
      recordRoutes(api, deps);
      figureRoutes(api, deps);
      recordingRoutes(api, deps);
      scenarioRecordingRoutes(api, deps);
      voiceMessageRoutes(api, deps);
      registrationRoutes(api, deps);
      drainRoutes(api, deps);
      clusterRoute(api, deps);
      eventStream(api, deps.iam, subscribers);
      for (const [path, resource] of Object.entries(deps.collections)) collectionRoutes(api, path, resource);
      hookRoutes(api, deps);
      versionRoutes(api, deps);
      deliveryRoutes(api, deps);
      await soundRoutes(api, deps);
      await modelRoutes(api, deps);
      documentRoutes(api, deps, routes);
      addChildLists();
    },
    { prefix: BASE_PATH },
  );
}

function versionRoutes(api: App, { scripts, workbench, collections }: RestDeps): void {
  if (scripts === undefined) return;
  if (workbench !== undefined) scenarioSchemaRoutes(api, workbench);
  for (const kind of ['ivrscript', 'svcscript'] as const) {
    const path = `/domain/${kind}s`;
    const resource = collections[path];
    if (!(resource instanceof ScriptResource)) continue;
    scriptRoutes(api, path, { kind, scripts, resource });
    if (workbench !== undefined) workbenchRoutes(api, path, { kind, workbench, resource });
  }
}

function deliveryRoutes(api: App, { webhooks, collections }: RestDeps): void {
  const path = '/domain/webhooks';
  const resource = collections[path];
  if (webhooks !== undefined && resource instanceof WebhookResource) webhookRoutes(api, path, { resource, webhooks });
}

async function soundRoutes(api: App, { prompts, collections }: RestDeps): Promise<void> {
  const path = '/domain/prompts';
  const resource = collections[path];
  if (prompts !== undefined && resource instanceof PromptResource) await promptRoutes(api, path, { resource, prompts });
}

/** While the server closes: 503/1503 to requests that arrive, and every answer ends its connection. */
function refuseWhenClosing(app: App): void {
  let closing = false;
  app.addHook('preClose', async () => {
    closing = true;
  });
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('cache-control', 'no-store').header('x-content-type-options', 'nosniff');
    done(closing ? new RestError('UNAVAILABLE', { reason: 'the node is shutting down' }) : undefined);
  });
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (closing) reply.header('connection', 'close');
    done();
  });
}

/** `POST <path>!head` runs as GET; its answer keeps the headers and loses the body. */
function answerHeadFallback(app: App): void {
  app.addHook('onSend', (request, reply, payload, done) => {
    if (!isHeadFallback(request.raw)) {
      done(null, payload);
      return;
    }
    reply.removeHeader('content-length');
    done(null, '');
  });
}
