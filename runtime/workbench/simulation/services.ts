/** The node's services for a simulation. */
import type { Sandbox } from '../../sandbox/index.ts';
import {
  AgentDesk,
  type BusEvent,
  busy,
  type Clock,
  type ComponentRegistry,
  type EventPort,
  MemoryHuntHistory,
  MemoryParkingLot,
  MemoryQueues,
  MemoryVoicemail,
  OPEN_POLICY,
  type OwnCall,
  type Queues,
  type Run,
  RunBook,
  type RunServices,
  type ScenarioPolicy,
  type Secrets,
  SILENT,
  startRun,
  type VoicemailPort,
} from '../../runs/index.ts';
import { nameOfSecret, type Program, runsScripts, type Value } from '../../language/index.ts';
import { compiling } from './compiling.ts';
import { findScenario } from './find-scenario.ts';
import { SimulatedHttp, SimulatedOperations } from './simulated-answers.ts';
import { SIMULATED_DOMAIN } from './call-script.ts';
import { SimulatedCall } from './simulated-call.ts';
import { SimulatedMail } from './simulated-mail.ts';
import { SimulatedModel } from './simulated-model.ts';
import { SimulatedSpeech } from './simulated-speech.ts';
import { SimulatedRecordings } from './simulated-recordings.ts';
import { SimulatedPrompts } from './simulated-prompts.ts';
import { SimulatedRecording } from './simulated-recording.ts';
import { SimulatedDialogs } from './simulated-dialogs.ts';
import { SimulatedTexts } from './simulated-texts.ts';
import { Phones } from './phones.ts';

/** The other scenario with an id; undefined for an unknown one. */
export type FindScenario = (id: string) => Promise<Program | undefined>;

export interface SimulatedServicesOptions {
  readonly clock: Clock;
  /** Answers by `METHOD URL`: see `SimulatedHttp`. */
  readonly http?: Readonly<Record<string, Value>>;
  /** Answers by the name of the operation: see `SimulatedOperations`. */
  readonly operations?: Readonly<Record<string, Value>>;
  /** The data model; default: an empty one. */
  readonly model?: SimulatedModel;
  readonly recordings?: SimulatedRecordings;
  /** Mailboxes; default: empty. */
  readonly voicemail?: VoicemailPort;
  /** Agents of queues; default: none. */
  readonly agents?: AgentDesk;
  /** Queues of callers; default: empty. */
  readonly queues?: Queues;
  /** Folder of other scenarios, found by their id. */
  readonly folder?: string;
  /** Finds them elsewhere. */
  readonly scenarios?: FindScenario;
  readonly components?: ComponentRegistry;
  /** The sandbox of the first scenario. */
  readonly sandbox?: Sandbox;
  /** Opens the sandbox for another scenario, started by the first one. */
  readonly openSandbox?: () => Promise<Sandbox>;
  /** Makes further calls; default: to phones that answer. */
  readonly openCall?: () => OwnCall;
  /** Ends the simulation's call with this id from outside, if it exists. */
  readonly endCall?: (dialogid: string) => void;
  /** Called with runs that got the call by `serve`. */
  readonly onServed?: (run: Run) => void;
  /** Phones' answers to texts, by number; default: they accept them. */
  readonly phones?: Phones;
  /** Scripts wait for a debugger. */
  readonly debug?: boolean;
  /** Called with outside requests. */
  readonly note?: (what: string) => void;
}

/** Services without effect outside the process; all stores are empty at the start. */
export function simulatedServices(options: SimulatedServicesOptions): RunServices {
  const { clock, http = {}, operations = {}, folder, components, note = () => undefined } = options;
  const { endCall = () => undefined } = options;
  let { sandbox } = options;
  const inFolder = (where: string, registry: ComponentRegistry): FindScenario => {
    const checking = { components: registry, ...compiling(options.openSandbox) };
    return (id) => findScenario(where, checking, id);
  };
  const finder =
    options.scenarios ?? (folder === undefined || components === undefined ? undefined : inFolder(folder, components));
  const find = async (among: FindScenario, id: string): Promise<Program | undefined> => {
    const program = await among(id);
    if (program && runsScripts(program)) sandbox ??= await options.openSandbox?.();
    return program;
  };
  const recordings = options.recordings ?? new SimulatedRecordings();
  const speech = new SimulatedSpeech(note, recordings.words.bind(recordings));
  const services: RunServices = {
    ...(finder === undefined ? {} : { scenarios: (id: string) => busy(clock, find(finder, id)) }),
    // The other scenario owns the call, and the scenarios started by it.
    serve: async (code, call, start) => {
      const program = await services.scenarios?.(code, SIMULATED_DOMAIN);
      const run = program && startRun(program, { ...start, call, log: SILENT, clock, services });
      if (run) options.onServed?.(run);
      return run;
    },
    openCall: options.openCall ?? (() => new SimulatedCall(clock, { direction: 'outgoing' })),
    runs: new RunBook(),
    events: new SimulatedEvents(clock, note),
    http: new SimulatedHttp(http, clock, note),
    mail: new SimulatedMail(note),
    operations: new SimulatedOperations(operations, clock, note, endCall),
    model: options.model ?? new SimulatedModel(),
    recordings,
    voicemail: options.voicemail ?? new MemoryVoicemail(() => clock.now()),
    prompts: new SimulatedPrompts(),
    huntHistory: new MemoryHuntHistory(),
    dialogs: new SimulatedDialogs(note, endCall),
    callRecording: new SimulatedRecording(note),
    callSpeech: speech,
    transcripts: speech,
    texts: new SimulatedTexts(clock, options.phones ?? new Phones(), note),
    parking: new MemoryParkingLot(),
    queues: options.queues ?? new MemoryQueues(),
    agents: options.agents ?? new AgentDesk({ clock }),
    policy: simulatedPolicy(options),
  };
  // Read at the start of a script: another scenario may have opened the sandbox meanwhile.
  return Object.defineProperty(services, 'sandbox', { enumerable: true, get: () => sandbox });
}

function simulatedPolicy({ debug = false }: SimulatedServicesOptions): ScenarioPolicy {
  return { ...OPEN_POLICY, debugs: () => debug, secrets: (_domain, program) => secretsByName(program.secrets ?? []) };
}

class SimulatedEvents implements EventPort {
  readonly #clock: Clock;
  readonly #note: (what: string) => void;
  readonly #listeners = new Set<(event: BusEvent) => void>();
  #seq = 0;

  constructor(clock: Clock, note: (what: string) => void) {
    this.#clock = clock;
    this.#note = note;
  }

  publish(event: Pick<BusEvent, 'domain' | 'class' | 'type' | 'data'>): BusEvent {
    this.#seq += 1;
    const published = { ...event, seq: this.#seq, ts: this.#clock.now() };
    this.#note(`publish ${event.type}`);
    for (const listener of this.#listeners) listener(published);
    return published;
  }

  subscribe(filter: Pick<BusEvent, 'domain' | 'class' | 'type'>, listener: (event: BusEvent) => void): () => void {
    const matching = (event: BusEvent): void => {
      if (event.class === filter.class && event.type === filter.type) listener(event);
    };
    this.#listeners.add(matching);
    return () => this.#listeners.delete(matching);
  }
}

/** Secrets of a simulation: the value of each is its name, and placeholders are not replaced. */
function secretsByName(names: readonly string[]): Secrets {
  return {
    placeholders: Object.fromEntries(names.map((name) => [name, nameOfSecret(name)])),
    reveal: (text) => text,
  };
}
