import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { Sandbox } from '../../sandbox/index.ts';
import { type BusEvent, busy, type Clock, type ComponentRegistry, type EventPort, MemoryHuntHistory, MemoryParkingLot, MemoryQueues, OPEN_POLICY, type OwnCall, type Queues, type Run, RunBook, type RunServices, type ScenarioPolicy, type Secrets, SILENT, startRun } from '../../runs/index.ts';
import { checkFile, isBlockScenario, isMistake, isModuleScenario, type ModuleCheckOptions, nameOfSecret, type Problem, type Program, runsScripts, ScenarioError, type Value } from '../../language/index.ts';
import { compiling } from './compiling.ts';
import { SimulatedHttp, SimulatedOperations } from './simulated-answers.ts';
import { SIMULATED_DOMAIN } from './call-script.ts';
import { SimulatedCall } from './simulated-call.ts';
import { SimulatedModel } from './simulated-model.ts';
import { SimulatedSpeech } from './simulated-speech.ts';
import { SimulatedRecordings } from './simulated-recordings.ts';
import { SimulatedRecording } from './simulated-recording.ts';
import { SimulatedDialogs } from './simulated-dialogs.ts';
import { SimulatedTexts } from './simulated-texts.ts';
import { Phones } from './phones.ts';

export interface SimulatedServicesOptions {
  readonly clock: Clock;
  /** Answers by `METHOD URL`: see `SimulatedHttp`. */
  readonly http?: Readonly<Record<string, Value>>;
  /** Answers by the name of the operation: see `SimulatedOperations`. */
  readonly operations?: Readonly<Record<string, Value>>;
  /** The data model; left out: an empty one. */
  readonly model?: SimulatedModel;
  readonly recordings?: SimulatedRecordings;
  /** Lines of callers; left out: nobody else waits. */
  readonly queues?: Queues;
  /** Folder in which other scenarios are looked for by their id. */
  readonly folder?: string;
  readonly components?: ComponentRegistry;
  /** Where scripts run, for the first scenario. */
  readonly sandbox?: Sandbox;
  /** Opens the sandbox when another scenario, started by the first one, needs it. */
  readonly openSandbox?: () => Promise<Sandbox>;
  /** Makes further calls; left out: to phones that answer. */
  readonly openCall?: () => OwnCall;
  /** Ends a call of the simulation from outside, if there is one of this id. */
  readonly endCall?: (dialogid: string) => void;
  /** Told of runs that got the call as if it had been dialled. */
  readonly onServed?: (run: Run) => void;
  /** What phones do with a text, by number; left out: they take it. */
  readonly phones?: Phones;
  /** Scripts wait for a debugger. */
  readonly debug?: boolean;
  /** Called with what is done to the world outside. */
  readonly note?: (what: string) => void;
}

/** The node's services for a simulation: nothing leaves the process, everything begins empty. */
export function simulatedServices(options: SimulatedServicesOptions): RunServices {
  const { clock, http = {}, operations = {}, folder, components, note = () => undefined } = options;
  const { endCall = () => undefined } = options;
  let { sandbox } = options;
  const find = async (where: string, registry: ComponentRegistry, id: string): Promise<Program | undefined> => {
    const program = await findScenario(where, { components: registry, ...compiling(options.openSandbox) }, id);
    if (program && runsScripts(program)) sandbox ??= await options.openSandbox?.();
    return program;
  };
  const recordings = options.recordings ?? new SimulatedRecordings();
  const speech = new SimulatedSpeech(note, recordings.words.bind(recordings));
  const services: RunServices = {
    ...(folder === undefined || components === undefined
      ? {}
      : { scenarios: (id: string) => busy(clock, find(folder, components, id)) }),
    // The other scenario has the call to itself, and what it starts is its own.
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
    operations: new SimulatedOperations(operations, clock, note, endCall),
    model: options.model ?? new SimulatedModel(),
    recordings,
    huntHistory: new MemoryHuntHistory(),
    dialogs: new SimulatedDialogs(note, endCall),
    callRecording: new SimulatedRecording(note),
    callSpeech: speech,
    transcripts: speech,
    texts: new SimulatedTexts(clock, options.phones ?? new Phones(), note),
    parking: new MemoryParkingLot(),
    queues: options.queues ?? new MemoryQueues(),
    policy: simulatedPolicy(options),
  };
  // Read when a script starts, which may be after another scenario had the sandbox opened.
  return Object.defineProperty(services, 'sandbox', { enumerable: true, get: () => sandbox });
}

function simulatedPolicy({ debug = false }: SimulatedServicesOptions): ScenarioPolicy {
  return { ...OPEN_POLICY, debugs: () => debug, secrets: (_domain, program) => secretsByName(program.secrets ?? []) };
}

/** @throws ScenarioError code `no_such_scenario`: it has mistakes */
async function findScenario(
  folder: string,
  options: Omit<ModuleCheckOptions, 'file'>,
  id: string,
): Promise<Program | undefined> {
  let broken: Problem | undefined;
  for (const name of (await readdir(folder))
    .filter((each) => isBlockScenario(each) || isModuleScenario(each))
    .toSorted()) {
    const file = path.join(folder, name);
    const { program, draft, problems } = await checkFile({ ...options, file });
    if (program?.id === id) return program;
    if ((draft?.id ?? name.replace(/\.\w+$/, '')) === id) broken ??= problems.find(isMistake);
  }
  if (broken === undefined) return undefined;
  const { file, line, column, message } = broken;
  throw new ScenarioError(
    'no_such_scenario',
    `the scenario "${id}" has mistakes: ${path.basename(file)}:${line}:${column}: ${message}`,
  );
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

/** Secrets of a simulation: each is its own name, and nothing is put in its place. */
function secretsByName(names: readonly string[]): Secrets {
  return {
    placeholders: Object.fromEntries(names.map((name) => [name, nameOfSecret(name)])),
    reveal: (text) => text,
  };
}
