/** The scenario side of a node: libraries, the sandbox, services for runs, and starts without calls. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { NO_DOMAIN } from '../domain-name/index.ts';
import { type GuardedHttpClient, SmtpMailer } from '../../components/index.ts';
import { components } from '../component-registry/index.ts';
import type { Cluster } from '../cluster/index.ts';
import type { Config } from '../config/index.ts';
import {
  beginChecks,
  type FileChecks,
  figuresOf,
  FolderWatch,
  MemoryHuntHistory,
  MemoryParkingLot,
  openScenarioLibrary,
  RunBook,
  type RunServices,
  type ScenarioLibrary,
  lostNews,
  lostRun,
  type RunView,
  ScenarioRunner,
  ScenarioStarter,
  type StarterOptions,
  systemClock,
} from '../runs/index.ts';
import { RecordingFolder } from '../media/index.ts';
import type { Sandbox } from '../sandbox/index.ts';
import {
  FileNumbers,
  promptsOf,
  rememberCompiled,
  ScriptCompiler,
  ScriptStore,
  tokenConfirmer,
} from '../script-store/index.ts';
import { openQueues } from './queues.ts';
import { NodePolicy } from './adapters/policy.ts';
import { type Opened, opening, type Shutdown } from './shutdown.ts';
import { callRecordingPort } from './adapters/call-recording.ts';
import { modelPort } from './adapters/model.ts';
import { voicemailPort } from './adapters/voicemail.ts';
import { callSpeechPort, type LiveCalls, speechLayers, transcriptPort } from './adapters/speech.ts';
import { operationPort } from '../operations/index.ts';
import { type EventBus, runFollowers } from '../events/index.ts';
import type { RunHistory, ScenarioFigures } from '../history/index.ts';
import type { Metrics } from '../metrics/index.ts';
import type { Model } from '../model/index.ts';
import type { Duties } from './duties.ts';
import type { LateParts } from './late.ts';
import type { NodeSounds } from './prompts.ts';
import { PREPARED_SCRIPTS, SCENARIOS } from './project.ts';
import type { Recordings } from './recordings.ts';
import type { LiveDirectory } from '../domain/index.ts';
import type { ConfirmToken } from '../iam/index.ts';
import type { Storage } from '../storage/index.ts';
import type { VoiceMessages } from '../voicemail/index.ts';

export interface Scenarios {
  /** The platform's own scenarios, which have no number and no public name. */
  readonly services: ScenarioLibrary;
  readonly runner: ScenarioRunner;
  readonly starter: ScenarioStarter;
  /** Files and scripts, for calls and requests. */
  readonly scripts: ScriptStore;
  readonly confirmToken: ConfirmToken;
  /** Recordings made by scenarios. */
  readonly recordings: RecordingFolder;
  /** Services for runs, beside the call. Hidden scenarios find other hidden ones by id. */
  readonly runServices: RunServices;
}

/** The sandbox that checks and runs scripts. */
export interface Scripting {
  readonly sandbox: Sandbox;
  readonly compile: Sandbox['compile'];
  readonly compiler: ScriptCompiler;
  /** The platform's own scenarios, which are being read. */
  readonly services: Promise<ScenarioLibrary>;
  /** Checks of the scenarios in files of authors, and of the examples. */
  readonly checks: FileChecks;
}

export interface ScenarioNeeds {
  readonly config: Config;
  readonly scripting: Scripting;
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  readonly model: Model;
  readonly events: EventBus;
  readonly metrics: Metrics;
  readonly recordings: Recordings;
  readonly http: GuardedHttpClient;
  readonly sounds: NodeSounds;
  readonly voicemail: VoiceMessages;
  readonly late: LateParts;
  /** Keeps ended runs. */
  readonly runHistory: Pick<RunHistory, 'over'>;
  /** Adds their figures up. */
  readonly scenarioFigures: Pick<ScenarioFigures, 'add'>;
  /** The refusal of starts that would begin calls now, if any. */
  readonly refusal: NonNullable<StarterOptions['refusal']>;
  readonly isFull: NonNullable<StarterOptions['isFull']>;
  readonly duties: Duties;
  /** Undefined on a single node. */
  readonly cluster: Cluster | undefined;
  readonly log: Logger;
}

/** Begins to check scenarios, which takes no database. */
export async function openScripting(config: Config, sandbox: Sandbox, log: Logger): Promise<Scripting> {
  const promptsFolder = promptsOf(config.scenarioDir);
  const file = join(config.dataDir, 'compiled-scripts.jsonl');
  const compile = rememberCompiled({
    file,
    prepared: PREPARED_SCRIPTS,
    compile: sandbox.compile.bind(sandbox),
    log,
  });
  const services = openScenarioLibrary({ components, log, compile, folders: [join(SCENARIOS, 'service')] });
  // Reported by `openScenarios`.
  services.catch(() => undefined);
  const compiler = new ScriptCompiler({ components, compile, promptsFolder });
  const checks = await beginChecks({ folders: foldersOf(config), components, compile });
  return { sandbox, compile, compiler, services, checks };
}

/** Folders of scenario files, the first one for authors. */
function foldersOf({ scenarioDir }: Config): readonly string[] {
  return [scenarioDir, join(SCENARIOS, 'examples')];
}

export function openScenarios(needs: ScenarioNeeds): Promise<Opened<Scenarios>> {
  const { config, scripting, storage, directory, events, metrics, log, late } = needs;
  return opening(log, async (shutdown) => {
    const { compile, compiler } = scripting;
    // The default folder for authors' first scenarios; a folder named by the operator must exist.
    if (config.scenarioDir === join(config.dataDir, 'scenarios')) await mkdir(config.scenarioDir, { recursive: true });
    const library = await openScenarioLibrary({
      components,
      log,
      compile,
      folders: foldersOf(config),
      checks: scripting.checks,
      versionsFolder: join(config.dataDir, 'scenario-versions'),
      numbers: await FileNumbers.open(storage),
    });
    const services = await scripting.services;
    const offered = await offeredToRuns(needs, shutdown);
    const domain = directory.domains().find(({ isMaster }) => !isMaster)?.name ?? NO_DOMAIN;
    const scripts = await ScriptStore.open({ storage, directory, files: library, fileDomain: domain, compiler });
    const over = (view: RunView): void => {
      for (const figures of figuresOf(view)) {
        metrics.calls.runEnded(figures);
        needs.scenarioFigures.add(figures);
      }
      needs.runHistory.over(view);
    };
    const { scenarios: starts } = needs.duties;
    const keeper = needs.cluster?.waitingRuns(storage, () => !starts || needs.refusal() !== undefined);
    const followers = runFollowers(events);
    const runner = new ScenarioRunner(scripts, log, { ...offered, keeper, followers }, (_run, _outcome, view) =>
      over(view),
    );
    keeper?.start(runner, (kept, reason) => {
      const view = lostRun(kept, reason);
      over(view);
      lostNews(view, followers);
    });
    const elsewhere = needs.cluster?.runStarts();
    const starter = new ScenarioStarter({
      library: scripts,
      runner,
      events,
      domain,
      domainOf: (name) => directory.domain(name)?.name,
      clock: systemClock,
      starts,
      refusal: needs.refusal,
      claim: needs.cluster?.startClaims(storage),
      elsewhere,
      isFull: needs.isFull,
      log,
    });
    elsewhere?.serve(starter);
    scripts.onChange(() => starter.refresh());
    // A scenario file may name a domain before it is created.
    directory.collections.domains.onChange(() => starter.refresh());
    const watched = new FolderWatch(config.scenarioDir, () => library.scan(), log);
    shutdown.add('watch of the scenario folder', () => watched.close());
    shutdown.add('scenario starts', () => starter.close());
    const scenarios: Scenarios = {
      services,
      runner,
      starter,
      scripts,
      confirmToken: tokenConfirmer(starter, directory, log),
      recordings: offered.recordings,
      runServices: { ...offered, scenarios: (id: string) => services.program(id) },
    };
    late.runner.bind(runner);
    late.confirmToken.bind(scenarios.confirmToken);
    return scenarios;
  });
}

/** Services of the node for runs. */
async function offeredToRuns(
  needs: ScenarioNeeds,
  shutdown: Pick<Shutdown, 'add'>,
): Promise<RunServices & Pick<Scenarios, 'recordings'>> {
  const { config, scripting, storage, directory, model, events, recordings, http, sounds, late, cluster, log } = needs;
  const { recording, speech, transcriptions } = recordings;
  const liveCalls: LiveCalls = {
    find: (dialogid) => late.switch.part.liveCall(dialogid),
    ofLeg: (callid) => late.switch.part.callOfLeg(callid),
  };
  const runs = new RunBook();
  cluster?.shareRuns(runs);
  const parked = new MemoryParkingLot();
  const huntHistory = new MemoryHuntHistory();
  cluster?.shareHunts(huntHistory);
  return {
    policy: await NodePolicy.open({ directory, secretsFile: config.secretsFile, debugPort: config.debugPort, log }),
    serve: (code, call, start) => late.runner.part.take(code, call, start),
    openCall: (name, forCaller) => late.switch.part.createCall(name, forCaller),
    events: cluster?.runEvents(events) ?? events,
    sandbox: scripting.sandbox,
    http,
    mail: new SmtpMailer(config.mail),
    prompts: sounds.port,
    voicemail: voicemailPort(needs.voicemail, directory, sounds.prompts),
    recordings: new RecordingFolder(join(config.dataDir, 'recordings')),
    huntHistory,
    dialogs: { find: (name, dialogid) => late.switch.part.dialogs.find(name, dialogid) },
    callRecording: callRecordingPort(recording.recorder, recording.layers, liveCalls.find),
    callSpeech: callSpeechPort(speechLayers(speech, events, liveCalls), liveCalls),
    transcripts: transcriptPort({ ...recording, service: speech, queue: transcriptions }),
    parking: cluster?.parking(parked) ?? parked,
    ...(await openQueues({ storage, directory, late, cluster, shutdown })),
    operations: operationPort(() => late.operations.part),
    texts: { send: (name, message) => late.switch.part.texts.send(name, message) },
    model: modelPort(model, (name) => directory.domain(name)?.id),
    runs,
  };
}
