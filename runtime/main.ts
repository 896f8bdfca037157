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
import { type Config, isLoopback } from './config/config.ts';
import { openDirectory, openLocation } from './domain/index.ts';
import { callEvents } from './events/call-events.ts';
import { EventBus } from './events/event-bus.ts';
import { modelEvents } from './events/model-events.ts';
import { ListenError } from './embedded/server.ts';
import { createDemoData, createIam, isEmpty, StoredAvatars } from './iam/index.ts';
import { FirstAnswers } from './idempotency/first-answers.ts';
import { limitsProblem } from './interpreter/limits.ts';
import { MediaServers } from './media/servers.ts';
import { Metrics } from './metrics/metrics.ts';
import { openRecording } from './recording/index.ts';
import { openScenarios, openScripting } from './scenarios.ts';
import { PROFILE, startServers } from './servers.ts';
import { Shutdown } from './shutdown.ts';
import { openSpeech } from './speech/index.ts';
import {
  callSpeechPort,
  listener,
  type LiveCalls,
  speechLayers,
  transcriptPort,
  transcriptQueue,
} from './speech-services.ts';
import { openModel } from './model/index.ts';
import { modelPort } from './model-port.ts';
import { SipLinks } from './signalling/links.ts';
import { RingingJournal } from './signalling/ringing-journal.ts';
import { FolderFiles, openFiles } from './storage/files/index.ts';
import { openStorage } from './storage/index.ts';
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
  // Side by side, as each takes its time; a taken port is told before anything that is wrong with the database.
  const opening = openStorage({
    dataDir: config.dataDir,
    log,
    ...(config.databaseUrl === undefined ? {} : { databaseUrl: config.databaseUrl }),
  }).then((opened) => {
    shutdown.add('storage', () => opened.close());
    return opened;
  });
  const starting = startServers(config, shutdown, (error) => {
    if (!shutdown.begun) failed.resolve(error);
  });
  await Promise.allSettled([starting, opening]);
  const servers = await starting;
  const storage = await opening;
  if (isLoopback(config.http.host) && isLoopback(config.sip.host) && (await isEmpty(storage))) {
    await createDemoData(storage);
  }
  const scripting = await openScripting(config, shutdown);
  const directory = await openDirectory(storage, {
    checkScript: scripting.compiler.check,
    checkLimits: limitsProblem,
  });
  const location = await openLocation(storage, directory);
  shutdown.add('registrations', () => location.close());
  const iam = await createIam(storage, directory, {
    allowList: config.loginAllowList,
    confirmToken: (code, token) => scenarios.confirmToken(code, token),
  });
  shutdown.add('sessions', () => iam.close());

  const model = await openModel(storage, {
    files: openFiles(join(config.dataDir, 'files'), config.files),
    maxFileBytes: config.maxFileBytes,
  });
  shutdown.add('data model', () => model.close());

  const events = new EventBus({
    onListenerError: (err, { class: name, type }) => log.error({ err, class: name, type }, 'event not told'),
  });
  model.onChange(modelEvents(events, (id) => directory.domainById(id)?.name));
  const speech = await openSpeech(directory, log);
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
  const conferenceStore = new MemoryConferenceStore(callstore);
  const conferences = openConferences({
    config,
    project: join(PROJECT, 'scenarios'),
    store: conferenceStore,
    events,
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
      emit: (domains, type, data) => {
        metrics.call(type);
        callEvents(events).emit(domains, type, data);
      },
    },
    overload: () => {
      const overload = admission.refuse();
      if (overload) metrics.refused('sip');
      return overload;
    },
    watcher: recording.recorder,
    listenTo: listener(speech),
    startScenario: (code, call) => runner.serve(code, call),
  });
  const { dialogs, conferences: control } = b2b;
  directory.collections.domains.onChange(async ({ before, after }) => {
    if (before === undefined || after?.name === before.name) return;
    await endCallsOf(before.name, { calls: callstore, dialogs, conferences: conferenceStore, control });
  });
  const restOverload = () => {
    const overload = admission.refuse();
    if (overload) metrics.refused('rest');
    return overload;
  };
  const operations = createOperations({
    program: (id) => services.program(id),
    openCall: (domain) => b2b.createCall(domain),
    runServices,
    calls: callstore,
    conferences: conferenceStore,
    dialogs: b2b.dialogs,
    directory,
    scenario: (code, domain) => runner.program(code, domain),
    observer: metrics,
    overload: restOverload,
    log,
  });

  const journal = RingingJournal.open(join(config.dataDir, 'ringing.jsonl'));
  shutdown.add('journal of ringing phones', () => journal.close());
  const onConferences = conferenceOperations({
    store: conferenceStore,
    control: b2b.conferences,
    dialogs: b2b.dialogs,
    overload: restOverload,
  });

  const sip = await SipLinks.connect(servers.sip.addresses, b2b, log, {
    timeoutMs: servers.sip.patienceMs,
    sessionExpires: config.sessionExpires,
    journal,
  });
  shutdown.add('SIP connections', () => sip.close());
  const media = await MediaServers.connect(
    sip.all,
    servers.media.addresses.map(({ host, port, secret }) => ({
      host,
      port,
      password: secret,
      profile: PROFILE,
      listenAddress: isLoopback(host) ? '127.0.0.1' : config.sip.host,
      silenceLimitMs: config.rtpTimeout * 1000,
    })),
    { patienceMs: servers.media.patienceMs, log },
  );
  shutdown.add('media connections', () => media.close());
  b2b.connect(sip, media);
  shutdown.add('recordings', () => recording.close());
  shutdown.add('transcriptions', () => transcriptions.close());
  await recording.recover();
  await transcriptions.recover();
  shutdown.add('scenarios', () => runner.stop('the node stops'));
  shutdown.add('calls', () => b2b.shutDown());

  const counts = async () => ({
    dialogs: callstore.count,
    conferences: conferences.count,
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
  const rest = await createRestServer({
    iam,
    accounts: iam.accounts,
    avatars: new StoredAvatars(iam.accounts, new FolderFiles(join(config.dataDir, 'avatars'))),
    webApps: webAppsOf(directory),
    collections: {
      ...domainCenter(directory, iam.collections, scenarios.scripts),
      '/domain/classes': new ClassResource(model, directory),
    },
    model,
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
    health: async () => ({ ok: b2b.ready, counts: await counts() }),
    log,
  });
  shutdown.add('REST service', () => rest.close());
  return {
    httpAddress: await listen(rest, config.http),
    sipAddress: servers.sipAddress,
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
