/** The scenario side of a node: libraries, the sandbox, what runs may use, and what starts them beside calls. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { GuardedHttpClient } from '../components/http/client.ts';
import { components } from '../components/index.ts';
import type { Config } from './config/config.ts';
import type { CallPort } from './runs/call-port.ts';
import { systemClock } from './runs/clock.ts';
import { FolderWatch } from './runs/folder-watch.ts';
import { openScenarioLibrary, type ScenarioLibrary } from './runs/library.ts';
import type { CallRecordingPort } from './runs/ports/call-recording.ts';
import type { CallSpeechPort } from './runs/ports/call-speech.ts';
import type { DialogPort } from './runs/ports/dialogs.ts';
import type { EventPort } from './runs/ports/events.ts';
import { MemoryHuntHistory } from './runs/ports/hunt-history.ts';
import type { OperationPort } from './runs/ports/operations.ts';
import type { RunServices } from './runs/ports/services.ts';
import type { ModelPort } from './runs/ports/model.ts';
import { RunBook } from './runs/run/run-book.ts';
import { MemoryParkingLot } from './runs/ports/parking.ts';
import { MemoryQueues } from './runs/ports/queueing.ts';
import type { TextPort } from './runs/ports/texting.ts';
import type { TranscriptPort } from './runs/ports/transcripts.ts';
import { ScenarioRunner } from './runs/runner.ts';
import { ScenarioStarter } from './runs/starting/starter.ts';
import { RecordingFolder } from './media/recordings.ts';
import type { Nursery } from './processes/index.ts';
import { openSandbox, type Sandbox } from './sandbox/index.ts';
import { promptsOf, ScriptCompiler } from './script-store/compile.ts';
import { tokenConfirmer } from './script-store/confirm-token.ts';
import { NodePolicy } from './scenario-policy.ts';
import { ScriptStore } from './script-store/script-store.ts';
import type { Shutdown } from './shutdown.ts';
import type { LiveDirectory } from './domain/index.ts';
import type { ConfirmToken } from './iam/index.ts';
import type { Storage } from './storage/index.ts';

export interface ScenarioServices {
  readonly policy: NodePolicy;
  /** The platform's own scenarios are hidden: no number and no name leads to them. */
  readonly services: ScenarioLibrary;
  readonly runner: ScenarioRunner;
  readonly starter: ScenarioStarter;
  /** Files and scripts, as calls and requests reach them. */
  readonly scripts: ScriptStore;
  readonly confirmToken: ConfirmToken;
  /** What scenarios recorded. */
  readonly recordings: RecordingFolder;
  /** What runs may use beside the call. Hidden scenarios find other hidden ones by id. */
  readonly runServices: RunServices;
}

/** What scripts are checked with and run in. */
export interface Scripting {
  readonly sandbox: Sandbox;
  readonly compiler: ScriptCompiler;
}

export interface ScenarioNeeds {
  readonly config: Config;
  readonly scripting: Scripting;
  readonly storage: Storage;
  readonly directory: LiveDirectory;
  /** Folder of the project's own scenarios. */
  readonly project: string;
  readonly events: EventPort;
  /** Domain of scenarios that a schedule or an event starts, where they name none. */
  readonly domain: string;
  readonly log: Logger;
  readonly dialogs: DialogPort;
  readonly callRecording: CallRecordingPort;
  readonly callSpeech: CallSpeechPort;
  readonly transcripts: TranscriptPort;
  readonly operations: OperationPort;
  readonly texts: TextPort;
  readonly model: ModelPort;
  openCall(domain: string): CallPort;
}

/** @throws SandboxError when no script process comes up */
export async function openScripting(
  config: Config,
  nursery: Nursery,
  log: Logger,
  shutdown: Shutdown,
): Promise<Scripting> {
  const { debugPort: debuggerPort } = config;
  const sandbox = await openSandbox({
    nursery,
    giveWay: config.scriptProcessors === 'spare-one',
    onDiagnostic: (message, details) => log.warn(details, message),
    ...(debuggerPort === undefined ? {} : { debuggerPort }),
  });
  shutdown.add('script processes', () => sandbox.close());
  const promptsFolder = promptsOf(config.scenarioDir);
  return {
    sandbox,
    compiler: new ScriptCompiler({ components, compile: sandbox.compile.bind(sandbox), promptsFolder }),
  };
}

export async function openScenarios(needs: ScenarioNeeds, shutdown: Shutdown): Promise<ScenarioServices> {
  const { config, scripting, storage, directory, project, events, domain, log } = needs;
  const { sandbox, compiler } = scripting;
  const shared = { components, log, compile: sandbox.compile.bind(sandbox) };
  const services = await openScenarioLibrary({ ...shared, folders: [join(project, 'service')] });
  // Where authors put their first scenario; a folder that the operator names is there.
  if (config.scenarioDir === join(config.dataDir, 'scenarios')) await mkdir(config.scenarioDir, { recursive: true });
  const library = await openScenarioLibrary({
    ...shared,
    folders: [config.scenarioDir, join(project, 'examples')],
    versionsFolder: join(config.dataDir, 'scenario-versions'),
  });
  const policy = await NodePolicy.open({
    directory,
    secretsFile: config.secretsFile,
    debugPort: config.debugPort,
    log,
  });
  const recordings = new RecordingFolder(join(config.dataDir, 'recordings'));
  const offered: RunServices = {
    policy,
    serve: (code, call, start) => runner.take(code, call, start),
    openCall: (name) => needs.openCall(name),
    events,
    sandbox,
    http: new GuardedHttpClient({ hosts: config.scenarioHosts, networks: config.scenarioNetworks }),
    recordings,
    huntHistory: new MemoryHuntHistory(),
    dialogs: needs.dialogs,
    callRecording: needs.callRecording,
    callSpeech: needs.callSpeech,
    transcripts: needs.transcripts,
    parking: new MemoryParkingLot(),
    queues: new MemoryQueues(),
    operations: needs.operations,
    texts: needs.texts,
    model: needs.model,
    runs: new RunBook(),
  };
  const scripts = await ScriptStore.open({ storage, directory, files: library, fileDomain: domain, compiler });
  const runner = new ScenarioRunner(scripts, log, offered);
  const starter = new ScenarioStarter({ library: scripts, runner, events, domain, clock: systemClock, log });
  scripts.onChange(() => starter.refresh());
  const watched = new FolderWatch(config.scenarioDir, () => library.scan(), log);
  shutdown.add('watch of the scenario folder', () => watched.close());
  shutdown.add('scenario starts', () => starter.close());
  const confirmToken = tokenConfirmer(starter, directory, log);
  const runServices = { ...offered, scenarios: (id: string) => services.program(id) };
  return { policy, services, runner, starter, scripts, confirmToken, recordings, runServices };
}
