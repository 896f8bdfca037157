/** The composition root: configuration in, a running node out. The only place that wires the rooms together. */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { FastifyInstance } from 'fastify';
import { type Logger, pino } from 'pino';
import { conferenceOperations, createOperations, operationPort } from '../components/operation/index.ts';
import { domainCenter } from '../rest-bridge/domain-center/index.ts';
import { ClassResource } from '../rest-bridge/model/class-resource.ts';
import { createRestServer } from '../rest-bridge/server.ts';
import { webAppsOf } from '../rest-bridge/web-apps.ts';
import { callRecordingPort } from './call-recording.ts';
import { MemoryCallStore } from './callstore/memory-callstore.ts';
import { MemoryConferenceStore } from './callstore/memory-conference-store.ts';
import { openConferences } from './conferences.ts';
import type { Config } from './config/config.ts';
import { openData } from './data.ts';
import { callEvents } from './events/call-events.ts';
import { EventBus } from './events/event-bus.ts';
import { messageEvents } from './events/message-events.ts';
import { modelEvents } from './events/model-events.ts';
import { operationEvents } from './events/operation-events.ts';
import { ListenError } from './embedded/server.ts';
import { FirstAnswers } from './idempotency/first-answers.ts';
import { connectServers } from './links.ts';
import { giveBackAtRest } from './memory/index.ts';
import { Metrics } from './metrics/metrics.ts';
import { openRecording } from './recording/index.ts';
import { openScenarios, openScripting } from './scenarios.ts';
import { startServers } from './servers.ts';
import { Shutdown } from './shutdown.ts';
import { Nursery } from './processes/index.ts';
import { openSpeech } from './speech/index.ts';
import {
  callSpeechPort,
  listener,
  type LiveCalls,
  speechLayers,
  transcriptPort,
  transcriptQueue,
} from './speech-services.ts';
import { AuditLog } from './model/index.ts';
import { modelPort } from './model-port.ts';
import { databaseState, openStorage } from './storage/index.ts';
import { Admission } from './switch/admission.ts';
import { endCallsOf } from './switch/removed-domain.ts';
import { Switch } from './switch/switch.ts';

const PROJECT = fileURLToPath(new URL('..', import.meta.url));

/** A node that takes calls and requests. */
export interface Node {
  readonly httpAddress: string;
  readonly sipAddress: string;
  /** True when this start made the demo domain, or found it. */
  readonly demo: boolean;
  /** Ends calls, closes everything that is open. Idempotent. */
  stop(): Promise<void>;
  /** Settles when an embedded server ended by itself: the node cannot go on. */
  readonly failed: Promise<Error>;
}

/**
 * Starts a node.
 * @throws ListenError for a taken port; StorageLockedError and others of storage; SipLinkError, MediaLinkError
 */
export async function startNode(config: Config): Promise<Node> {
  const log = pino({ level: config.logLevel });
  const shutdown = new Shutdown((err, what) => log.error({ err }, `closing ${what} failed`));
  try {
    return await compose(config, log, shutdown);
  } catch (error) {
    await shutdown.run();
    throw error;
  }
}

async function compose(config: Config, log: Logger, shutdown: Shutdown): Promise<Node> {
  const failed = Promise.withResolvers<Error>();
  // The only process that this one starts itself, before there are calls that it would hold up.
  const nursery = new Nursery();
  nursery.open();
  shutdown.add('nursery', () => nursery.close());
  // Side by side, as each takes its time; a taken port is told before anything that is wrong with the database.
  const opening = openStorage({
    dataDir: config.dataDir,
    log,
    ...(config.databaseUrl === undefined ? {} : { databaseUrl: config.databaseUrl }),
  }).then((opened) => {
    shutdown.add('storage', () => opened.close());
    return opened;
  });
  const starting = startServers(config, shutdown, nursery, (error) => {
    if (!shutdown.begun) failed.resolve(error);
  });
  await Promise.allSettled([starting, opening]);
  const servers = await starting;
  const storage = await opening;
  const scripting = await openScripting(config, nursery, log, shutdown);
  const { directory, location, iam, model, avatars } = await openData(
    {
      config,
      storage,
      checkScript: scripting.compiler.check,
      confirmToken: (code, token) => scenarios.confirmToken(code, token),
    },
    shutdown,
  );

  const events = new EventBus({
    onListenerError: (err, { class: name, type }) => log.error({ err, class: name, type }, 'event not told'),
  });
  model.onChange(modelEvents(events, (id) => directory.domainById(id)?.name));
  const speech = await openSpeech(directory, nursery, log);
  const recording = await openRecording({
    storage,
    directory,
    events: callEvents(events),
    folder: join(config.dataDir, 'archive'),
    bucket: config.recordings,
    saved: (row) => {
      if (row.transcribe)
        transcriptions.request(row).catch((err: unknown) => log.error({ err }, 'transcription failed'));
    },
    log,
  });
  const transcriptions = transcriptQueue(speech, recording, callEvents(events), log);
  const liveCalls: LiveCalls = {
    find: (dialogid) => b2b.liveCall(dialogid),
    ofLeg: (callid) => b2b.callOfLeg(callid),
  };
  const scenarios = await openScenarios(
    {
      config,
      scripting,
      storage,
      directory,
      project: join(PROJECT, 'scenarios'),
      events,
      domain: directory.domains().find(({ isMaster }) => !isMaster)?.name ?? '',
      log,
      openCall: (domain) => b2b.createCall(domain),
      dialogs: { find: (domain, dialogid) => b2b.dialogs.find(domain, dialogid) },
      callRecording: callRecordingPort(recording.recorder, recording.layers, liveCalls.find),
      callSpeech: callSpeechPort(speechLayers(speech, events, liveCalls), liveCalls),
      transcripts: transcriptPort({ ...recording, service: speech, queue: transcriptions }),
      operations: operationPort(
        () => operations,
        () => onConferences,
      ),
      texts: { send: (domain, message) => b2b.texts.send(domain, message) },
      model: modelPort(model, (name) => directory.domain(name)?.id),
    },
    shutdown,
  );
  const { services, runner, runServices } = scenarios;
  const callstore = new MemoryCallStore(
    (domain, name) => (directory.sipUserByNumber(domain, name) ?? directory.sipUserByLogin(domain, name))?.login,
  );
  const admission = new Admission(config.callLimits, () => callstore.count);
  const metrics = new Metrics({ counts: () => counts() });
  const overload = (by: 'sip' | 'rest') => {
    const refusal = admission.refuse();
    if (refusal) metrics.callRefused(by);
    return refusal;
  };
  const conferenceStore = new MemoryConferenceStore(callstore);
  const conferences = openConferences({
    config,
    project: join(PROJECT, 'scenarios'),
    store: conferenceStore,
    events,
    observer: metrics.conferences,
    log,
    media: () => media,
    liveCall: (dialogid) => b2b.liveCall(dialogid),
    layers: recording.layers,
    conferences: recording.conferences,
  });
  const b2b = new Switch({
    directory,
    location,
    callstore,
    conferences,
    site: config.site,
    log,
    events: {
      emit: (domains, type, data, users) => {
        metrics.call(type);
        callEvents(events).emit(domains, type, data, users);
      },
    },
    overload: () => overload('sip'),
    watcher: recording.recorder,
    listenTo: listener(speech),
    onText: messageEvents(events),
    startScenario: (code, call) => runner.serve(code, call),
  });
  const { dialogs, conferences: control } = b2b;
  directory.collections.domains.onChange(async ({ before, after }) => {
    if (before === undefined || after?.name === before.name) return;
    await endCallsOf(before.name, { calls: callstore, dialogs, conferences: conferenceStore, control });
  });
  const operations = createOperations({
    program: (id) => services.program(id),
    openCall: (domain) => b2b.createCall(domain),
    runServices,
    calls: callstore,
    conferences: conferenceStore,
    dialogs: b2b.dialogs,
    directory,
    scenario: (code, domain) => runner.program(code, domain),
    unservedScript: (code, domain) => scenarios.scripts.unserved(code, domain),
    previewCall: (call) => b2b.previewCall(call),
    observer: metrics,
    overload: () => overload('rest'),
    inviteIdOf: (dialogid) => liveCalls.find(dialogid)?.inviteid,
    onFinished: operationEvents(events),
    log,
  });

  const onConferences = conferenceOperations({
    store: conferenceStore,
    control: b2b.conferences,
    dialogs: b2b.dialogs,
    overload: () => overload('rest'),
  });

  const { sip, media } = await connectServers(config, servers, b2b, log, shutdown);
  b2b.connect(sip, media);
  shutdown.add('recordings', () => recording.close());
  shutdown.add('transcriptions', () => transcriptions.close());
  await recording.recover((files) => media.endRecordings(files));
  await transcriptions.recover();
  shutdown.add('scenarios', () => runner.stop('the node stops'));
  shutdown.add('calls', () => b2b.shutDown());

  const counts = async () => ({
    dialogs: callstore.count,
    conferences: conferences.count,
    conference_members: conferences.members,
    endpoints: media.count,
    sip_servers: sip.usable,
    media_servers: media.usable,
    runs: runner.running + operations.running,
    recordings: recording.recorder.count + recording.layers.count + recording.conferences.count,
    speech_streams: speech.streams,
    transcriptions: transcriptions.count,
    registrations: location.count(),
    trunks: b2b.registeredTrunks,
    ...(await servers.stats()),
  });
  const database = databaseState(storage);
  const rest = await createRestServer({
    iam,
    accounts: iam.accounts,
    avatars,
    webApps: webAppsOf(directory),
    collections: {
      ...domainCenter(directory, iam, scenarios.scripts),
      '/domain/classes': new ClassResource(model, directory),
    },
    model,
    audit: new AuditLog(model),
    events,
    directory,
    recordings: recording,
    scenarioRecordings: scenarios.recordings,
    calls: callstore,
    operations,
    metrics,
    firstAnswers: new FirstAnswers(storage),
    conferences: onConferences,
    operationRecords: operations,
    runs: runner,
    scripts: scenarios.scripts,
    hooks: scenarios.starter,
    health: async () => {
      const [alive, state] = await Promise.all([counts(), database()]);
      return { ok: b2b.ready, counts: alive, database: state };
    },
    sessionRequests: config.sessionRequests,
    log,
  });
  giveBackAtRest(() => callstore.count > 0);
  shutdown.add('REST service', () => rest.close());
  return {
    httpAddress: await listen(rest, config.http),
    sipAddress: sip.addresses.join(', '),
    demo: directory.domain('demo.local') !== undefined,
    stop: () => shutdown.run(),
    failed: failed.promise,
  };
}

async function listen(rest: Pick<FastifyInstance, 'listen'>, { host, port }: Config['http']): Promise<string> {
  try {
    return await rest.listen({ host, port });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new ListenError(code, `${host}:${port}`, 'the REST service');
  }
}
